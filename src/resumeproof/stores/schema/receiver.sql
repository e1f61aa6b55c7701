-- What an agent's receiver knows of one scenario. One row an invocation, and nothing else is
-- written for it: a proof pays for each of these rows thousands of times, and for each line here
-- whenever a life opens it.
--
-- An effect is an invocation that was applied; an absorbed one was a repeat of the effect whose
-- sequence it bears. `ordinal` counts the effects that one life asked for, from 1.

CREATE TABLE invocations (
    sequence INTEGER PRIMARY KEY,
    life INTEGER NOT NULL CHECK (life >= 1),
    ordinal INTEGER NOT NULL CHECK (ordinal >= 1),
    kind TEXT NOT NULL,
    payload BLOB NOT NULL,
    key TEXT,
    at REAL NOT NULL,
    absorbed_by INTEGER REFERENCES invocations (sequence)
) STRICT;

CREATE TRIGGER invocations_no_update BEFORE UPDATE ON invocations
BEGIN SELECT RAISE(ABORT, 'invocations is append-only: no UPDATE'); END;
CREATE TRIGGER invocations_no_delete BEFORE DELETE ON invocations
BEGIN SELECT RAISE(ABORT, 'invocations is append-only: no DELETE'); END;
