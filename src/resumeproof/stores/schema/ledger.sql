-- The tool ledger: what a tool promised, what it did, and who asked for it.
--
-- Everything here is append-only. Sequences have no gaps, so that a removed row shows. Triggers
-- refuse UPDATE, DELETE and the INSERT of a key that exists: INSERT OR REPLACE passes by a DELETE
-- trigger wherever recursive_triggers is off (sqlite.org/lang_conflict.html).
--
-- Instants are UTC, RFC 3339 with microseconds and Z: their text compares as their time does.

CREATE TABLE ledger (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    ledger_id TEXT NOT NULL CHECK (ledger_id <> ''),
    created_at TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.??????Z')
) STRICT;

-- What the tool promises the workflow that will call it; its first `fail_before` calls fail.
CREATE TABLE registrations (
    workflow_id TEXT NOT NULL PRIMARY KEY CHECK (workflow_id <> ''),
    tool TEXT NOT NULL CHECK (tool <> ''),
    idempotent INTEGER NOT NULL CHECK (idempotent IN (0, 1)),
    key_lifetime_seconds REAL CHECK (key_lifetime_seconds > 0),
    lookup TEXT NOT NULL CHECK (lookup IN ('none', 'consistent', 'eventual')),
    lookup_lag_seconds REAL NOT NULL CHECK (lookup_lag_seconds >= 0),
    fail_before INTEGER NOT NULL CHECK (fail_before >= 0),
    registered_at TEXT NOT NULL CHECK (registered_at GLOB '????-??-??T??:??:??.??????Z'),
    CHECK (idempotent OR key_lifetime_seconds IS NULL),
    CHECK (lookup = 'eventual' OR lookup_lag_seconds = 0)
) STRICT;

-- `receipt_hash` covers every column but `action`, and the ledger's id; `fingerprint` is the
-- SHA-256 of `action`. 9007199254740991 is the largest integer of RFC 8785's canonical form.
CREATE TABLE effects (
    sequence INTEGER PRIMARY KEY CHECK (sequence BETWEEN 1 AND 9007199254740991),
    receipt_id TEXT NOT NULL UNIQUE CHECK (receipt_id <> ''),
    workflow_id TEXT NOT NULL REFERENCES registrations (workflow_id),
    step TEXT NOT NULL,
    attempt INTEGER NOT NULL CHECK (attempt BETWEEN 1 AND 9007199254740991),
    tool TEXT NOT NULL CHECK (tool <> ''),
    key TEXT,
    fingerprint TEXT NOT NULL
        CHECK (length(fingerprint) = 64 AND fingerprint NOT GLOB '*[^0-9a-f]*'),
    action TEXT NOT NULL,
    applied_at TEXT NOT NULL CHECK (applied_at GLOB '????-??-??T??:??:??.??????Z'),
    receipt_hash TEXT NOT NULL
        CHECK (length(receipt_hash) = 64 AND receipt_hash NOT GLOB '*[^0-9a-f]*'),
    UNIQUE (workflow_id, step, attempt)
) STRICT;

CREATE INDEX effects_by_key ON effects (tool, key) WHERE key IS NOT NULL;

-- Every call that reached the tool, whether it applied, replayed or was rejected.
CREATE TABLE invocations (
    sequence INTEGER PRIMARY KEY CHECK (sequence BETWEEN 1 AND 9007199254740991),
    workflow_id TEXT NOT NULL REFERENCES registrations (workflow_id),
    step TEXT NOT NULL,
    attempt INTEGER NOT NULL CHECK (attempt BETWEEN 1 AND 9007199254740991),
    outcome TEXT NOT NULL CHECK (
        outcome IN ('applied', 'replayed', 'key_conflict', 'fenced', 'failed_before_effect')
    ),
    effect_sequence INTEGER REFERENCES effects (sequence),
    key TEXT,
    fingerprint TEXT NOT NULL
        CHECK (length(fingerprint) = 64 AND fingerprint NOT GLOB '*[^0-9a-f]*'),
    at TEXT NOT NULL CHECK (at GLOB '????-??-??T??:??:??.??????Z'),
    UNIQUE (workflow_id, step, attempt),
    CHECK ((outcome IN ('applied', 'replayed')) = (effect_sequence IS NOT NULL))
) STRICT;

-- The second way to an effect, for when its row is damaged.
CREATE INDEX invocations_applied ON invocations (workflow_id, step, key)
WHERE outcome = 'applied' AND key IS NOT NULL;

-- Consistent lookups. The newest attempt that asked is a fence: calls and lookups of older attempts
-- are refused from then on. `effect_sequence` is what was found.
CREATE TABLE lookups (
    sequence INTEGER PRIMARY KEY CHECK (sequence BETWEEN 1 AND 9007199254740991),
    workflow_id TEXT NOT NULL REFERENCES registrations (workflow_id),
    step TEXT NOT NULL,
    attempt INTEGER NOT NULL CHECK (attempt BETWEEN 1 AND 9007199254740991),
    outcome TEXT NOT NULL CHECK (outcome IN ('found', 'absent', 'fenced')),
    effect_sequence INTEGER REFERENCES effects (sequence),
    key TEXT NOT NULL,
    at TEXT NOT NULL CHECK (at GLOB '????-??-??T??:??:??.??????Z'),
    UNIQUE (workflow_id, step, attempt),
    CHECK ((outcome = 'found') = (effect_sequence IS NOT NULL))
) STRICT;

-- Effects beyond the first of their key, each with the invocation that asked for it.
CREATE VIEW second_effects AS
SELECT * FROM (
    SELECT
        effects.*,
        (
            SELECT min(earlier.sequence) FROM effects AS earlier
            WHERE earlier.tool = effects.tool AND earlier.key = effects.key
        ) AS first_sequence
    FROM effects
    WHERE key IS NOT NULL
)
WHERE sequence > first_sequence;

CREATE TRIGGER ledger_no_update BEFORE UPDATE ON ledger
BEGIN SELECT RAISE(ABORT, 'ledger is append-only: no UPDATE'); END;
CREATE TRIGGER ledger_no_delete BEFORE DELETE ON ledger
BEGIN SELECT RAISE(ABORT, 'ledger is append-only: no DELETE'); END;
CREATE TRIGGER ledger_no_replace BEFORE INSERT ON ledger
WHEN EXISTS (SELECT 1 FROM ledger)
BEGIN SELECT RAISE(ABORT, 'ledger is append-only: the row exists'); END;

CREATE TRIGGER registrations_no_update BEFORE UPDATE ON registrations
BEGIN SELECT RAISE(ABORT, 'registrations is append-only: no UPDATE'); END;
CREATE TRIGGER registrations_no_delete BEFORE DELETE ON registrations
BEGIN SELECT RAISE(ABORT, 'registrations is append-only: no DELETE'); END;
CREATE TRIGGER registrations_no_replace BEFORE INSERT ON registrations
WHEN EXISTS (SELECT 1 FROM registrations WHERE workflow_id = NEW.workflow_id)
BEGIN SELECT RAISE(ABORT, 'registrations is append-only: the row exists'); END;

CREATE TRIGGER effects_no_update BEFORE UPDATE ON effects
BEGIN SELECT RAISE(ABORT, 'effects is append-only: no UPDATE'); END;
CREATE TRIGGER effects_no_delete BEFORE DELETE ON effects
BEGIN SELECT RAISE(ABORT, 'effects is append-only: no DELETE'); END;
CREATE TRIGGER effects_no_replace BEFORE INSERT ON effects
WHEN NEW.sequence <> (SELECT coalesce(max(sequence), 0) + 1 FROM effects)
    OR EXISTS (SELECT 1 FROM effects WHERE receipt_id = NEW.receipt_id)
    OR EXISTS (
        SELECT 1 FROM effects
        WHERE workflow_id = NEW.workflow_id AND step = NEW.step AND attempt = NEW.attempt
    )
BEGIN SELECT RAISE(ABORT, 'effects is append-only: not a new last row'); END;

CREATE TRIGGER invocations_no_update BEFORE UPDATE ON invocations
BEGIN SELECT RAISE(ABORT, 'invocations is append-only: no UPDATE'); END;
CREATE TRIGGER invocations_no_delete BEFORE DELETE ON invocations
BEGIN SELECT RAISE(ABORT, 'invocations is append-only: no DELETE'); END;
CREATE TRIGGER invocations_no_replace BEFORE INSERT ON invocations
WHEN NEW.sequence <> (SELECT coalesce(max(sequence), 0) + 1 FROM invocations)
    OR EXISTS (
        SELECT 1 FROM invocations
        WHERE workflow_id = NEW.workflow_id AND step = NEW.step AND attempt = NEW.attempt
    )
BEGIN SELECT RAISE(ABORT, 'invocations is append-only: not a new last row'); END;

CREATE TRIGGER lookups_no_update BEFORE UPDATE ON lookups
BEGIN SELECT RAISE(ABORT, 'lookups is append-only: no UPDATE'); END;
CREATE TRIGGER lookups_no_delete BEFORE DELETE ON lookups
BEGIN SELECT RAISE(ABORT, 'lookups is append-only: no DELETE'); END;
CREATE TRIGGER lookups_no_replace BEFORE INSERT ON lookups
WHEN NEW.sequence <> (SELECT coalesce(max(sequence), 0) + 1 FROM lookups)
    OR EXISTS (
        SELECT 1 FROM lookups
        WHERE workflow_id = NEW.workflow_id AND step = NEW.step AND attempt = NEW.attempt
    )
BEGIN SELECT RAISE(ABORT, 'lookups is append-only: not a new last row'); END;
