-- The journal: workflows and their timelines. Version 1.
--
-- The timeline is what happened; a row of `workflows` is the fold of its timeline, kept so that
-- queries need not fold. The views read the timeline alone, so that nothing is stored twice.
-- Instants are UTC, RFC 3339 with microseconds and `Z`; digests and hashes are SHA-256 in
-- lowercase hex. Order comes from `number` and `sequence`, and never from an instant.

CREATE TABLE journal (
    journal_id TEXT NOT NULL PRIMARY KEY CHECK (journal_id <> ''),
    created_at TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.??????Z')
) STRICT;

CREATE TABLE workflows (
    number INTEGER PRIMARY KEY CHECK (number >= 1), -- the order of creation
    id TEXT NOT NULL UNIQUE CHECK (id <> ''),
    program TEXT NOT NULL,
    program_digest TEXT NOT NULL,
    ledger_id TEXT NOT NULL,
    mode TEXT NOT NULL CHECK (mode IN ('idempotent', 'non_idempotent')),
    "key" TEXT CHECK ("key" <> ''),
    status TEXT NOT NULL CHECK (status IN (
        'pending_approval', 'approved', 'running', 'waiting', 'retry_wait', 'unknown',
        'completed', 'failed', 'reconciled_applied', 'reconciled_not_applied', 'cancelled'
    )),
    step TEXT, -- the program's next node
    reason TEXT, -- why it failed, waits to be tried again, or is unknown
    approved_digest TEXT, -- what the live approval bears
    in_doubt INTEGER NOT NULL CHECK (in_doubt IN (0, 1)),
    attempts INTEGER NOT NULL CHECK (attempts >= 0),
    retries INTEGER NOT NULL CHECK (retries >= 0),
    recoveries INTEGER NOT NULL CHECK (recoveries >= 0),
    max_retries INTEGER NOT NULL CHECK (max_retries >= 0),
    max_recoveries INTEGER NOT NULL CHECK (max_recoveries >= 0),
    retry_at TEXT CHECK (retry_at GLOB '????-??-??T??:??:??.??????Z'),
    driver TEXT, -- the token of the driver whose attempt is open
    revision INTEGER NOT NULL CHECK (revision >= 1), -- the number of its timeline records
    head_hash TEXT NOT NULL, -- the hash of the last one
    created_at TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.??????Z'),
    updated_at TEXT NOT NULL CHECK (updated_at GLOB '????-??-??T??:??:??.??????Z'),
    action_digest TEXT NOT NULL,
    action TEXT NOT NULL CHECK (action <> '') -- RFC 8785 canonical JSON; last, since it may be long
) STRICT;

-- An index ends with the row's number, so that this one also gives the order of creation.
CREATE INDEX workflows_by_status ON workflows (status);

CREATE TABLE timeline (
    workflow_id TEXT NOT NULL REFERENCES workflows (id) DEFERRABLE INITIALLY DEFERRED,
    sequence INTEGER NOT NULL, -- from 1, without a gap
    event TEXT NOT NULL CHECK (event <> ''),
    at TEXT NOT NULL CHECK (at GLOB '????-??-??T??:??:??.??????Z'),
    facts TEXT NOT NULL CHECK (facts <> ''), -- canonical JSON, as it was hashed
    previous TEXT NOT NULL, -- the hash of the record before it
    hash TEXT NOT NULL,
    PRIMARY KEY (workflow_id, sequence)
) STRICT, WITHOUT ROWID; -- so that the records of one workflow lie together

-- Waiters look their events up here.
CREATE INDEX timeline_emissions ON timeline (event, workflow_id, sequence) WHERE event = 'emitted';

-- What is append-only. INSERT OR REPLACE deletes without asking a DELETE trigger, unless
-- recursive_triggers is on; hence the triggers before INSERT.

CREATE TRIGGER timeline_keeps_records BEFORE UPDATE ON timeline
BEGIN
    SELECT RAISE(ABORT, 'the timeline is append-only: a record is never changed');
END;

CREATE TRIGGER timeline_loses_nothing BEFORE DELETE ON timeline
BEGIN
    SELECT RAISE(ABORT, 'the timeline is append-only: a record is never deleted');
END;

CREATE TRIGGER timeline_grows_at_its_end BEFORE INSERT ON timeline
WHEN NEW.sequence IS NOT (
    SELECT coalesce(max(sequence), 0) + 1 FROM timeline WHERE workflow_id = NEW.workflow_id
)
BEGIN
    SELECT RAISE(ABORT, 'the timeline is append-only: a record follows the last one');
END;

CREATE TRIGGER workflows_keep_their_place BEFORE UPDATE OF number, id ON workflows
BEGIN
    SELECT RAISE(ABORT, 'a workflow keeps its id and its number');
END;

CREATE TRIGGER workflows_stay BEFORE DELETE ON workflows
BEGIN
    SELECT RAISE(ABORT, 'a workflow is never deleted');
END;

CREATE TRIGGER workflows_are_not_replaced BEFORE INSERT ON workflows
WHEN EXISTS (SELECT 1 FROM workflows WHERE id = NEW.id)
    OR EXISTS (SELECT 1 FROM workflows WHERE number = NEW.number)
BEGIN
    SELECT RAISE(ABORT, 'a workflow is never replaced');
END;

CREATE TRIGGER journal_keeps_its_identity BEFORE UPDATE ON journal
BEGIN
    SELECT RAISE(ABORT, 'a journal keeps its identity');
END;

CREATE TRIGGER journal_stays BEFORE DELETE ON journal
BEGIN
    SELECT RAISE(ABORT, 'a journal keeps its identity');
END;

CREATE TRIGGER journal_is_one BEFORE INSERT ON journal
WHEN EXISTS (SELECT 1 FROM journal)
BEGIN
    SELECT RAISE(ABORT, 'a journal keeps its identity');
END;

-- What people ask, for any SQLite tool. This package reads no view and has no JSON function in a
-- CHECK: SQLite 3.38 to 3.40 takes them for unsafe while trusted_schema is off, as it is here.

CREATE VIEW approvals AS
SELECT
    approval.workflow_id,
    approval.sequence,
    approval.at,
    json_extract(approval.facts, '$.actor') AS actor,
    json_extract(approval.facts, '$.digest') AS digest,
    EXISTS (
        SELECT 1 FROM timeline AS later
        WHERE later.workflow_id = approval.workflow_id
            AND later.sequence > approval.sequence
            AND later.event IN ('action_replaced', 'cancelled')
    ) AS voided
FROM timeline AS approval
WHERE approval.event = 'approved';

-- `outcome` is the record that ended the attempt, NULL where none did; `recovered` says that it
-- was found dead, by whoever wrote the record after it.
CREATE VIEW attempts AS
SELECT
    claim.workflow_id,
    json_extract(claim.facts, '$.attempt') AS attempt,
    json_extract(claim.facts, '$.purpose') AS purpose,
    json_extract(claim.facts, '$.step') AS step,
    json_extract(claim.facts, '$.driver') AS driver,
    json_extract(claim.facts, '$.digest') AS digest,
    claim.sequence,
    claim.at,
    CASE WHEN later.event <> 'attempt_started' THEN later.event END AS outcome,
    CASE WHEN later.event <> 'attempt_started' THEN later.at END AS outcome_at,
    json_extract(later.facts, '$.recovered_attempt') IS NOT NULL AS recovered
FROM timeline AS claim
LEFT JOIN timeline AS later
    ON later.workflow_id = claim.workflow_id AND later.sequence = claim.sequence + 1
WHERE claim.event = 'attempt_started';

CREATE VIEW acknowledgements AS
SELECT
    workflow_id,
    sequence,
    at,
    json_extract(facts, '$.step') AS step,
    json_extract(facts, '$.attempt') AS attempt,
    json_extract(facts, '$.recovered_attempt') AS recovered_attempt,
    json_extract(facts, '$.source') AS source,
    json_extract(facts, '$.replayed') AS replayed,
    json_extract(facts, '$.receipt.receipt_id') AS receipt_id,
    json_extract(facts, '$.receipt.attempt') AS receipt_attempt,
    json_extract(facts, '$.receipt.fingerprint') AS fingerprint,
    json_extract(facts, '$.receipt.applied_at') AS applied_at
FROM timeline
WHERE event = 'effect_acknowledged';

CREATE VIEW reconciliations AS
SELECT
    workflow_id,
    sequence,
    at,
    json_extract(facts, '$.actor') AS actor,
    CASE event
        WHEN 'reconciled_applied' THEN 'confirmed_applied'
        ELSE 'confirmed_not_applied'
    END AS resolution,
    json_extract(facts, '$.note') AS note
FROM timeline
WHERE event IN ('reconciled_applied', 'reconciled_not_applied');
