"""One atomic change of a SQLite journal: records appended, a row saved by compare-and-swap."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

from resumeproof.domain.inspection import Stored
from resumeproof.domain.record import Record
from resumeproof.domain.workflow import Workflow
from resumeproof.errors import Conflict, ConstraintViolated, WorkflowExists, WorkflowNotFound
from resumeproof.stores.sqlite import Database
from resumeproof.stores.sqlite_journal_rows import stored_workflow, workflow_row


class SqliteJournalTransaction:
    """A `resumeproof.stores.protocols.JournalTransaction`, good until its `with` statement ends."""

    __slots__ = ("_commit", "_open")

    def __init__(self, database: Database) -> None:
        self._commit = database.transaction()
        self._open: Database | None = None

    def __enter__(self) -> Self:
        self._open = self._commit.__enter__()
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._open = None
        self._commit.__exit__(error_type, error, traceback)

    @property
    def _database(self) -> Database:
        # Outside its transaction, SQLite would commit each statement by itself.
        if self._open is None:
            raise ValueError("this transaction has ended")
        return self._open

    def load(self, workflow_id: str) -> Stored:
        """The workflow's row as it is inside this transaction, without its records.

        Raises `WorkflowNotFound`, and `JournalDamaged` as `SqliteJournal.load` does.
        """
        return stored_workflow(workflow_row(self._database, workflow_id), ())

    def append(self, record: Record) -> None:
        """Append one timeline record.

        Raises `Conflict`, or `WorkflowExists` for a first record, where the timeline does not end
        just before it: somebody else was quicker.
        """
        try:
            self._database.execute(
                """
                INSERT INTO timeline (workflow_id, sequence, event, at, facts, previous, hash)
                VALUES (:workflow_id, :sequence, :event, :at, :facts_text, :previous, :hash)
                """,
                vars(record),
            )
        except ConstraintViolated as error:
            # Asked only now: the schema's trigger has asked already.
            length = self._length(record.workflow_id)
            if record.sequence == length + 1:
                raise
            if record.sequence == 1:
                raise WorkflowExists(record.workflow_id) from error
            raise Conflict(record.workflow_id, record.sequence - 1, length) from error

    def _length(self, workflow_id: str) -> int:
        row = self._database.row(
            "SELECT max(sequence) FROM timeline WHERE workflow_id = ?", (workflow_id,)
        )
        return (row[0] or 0) if row else 0

    def save(self, workflow: Workflow, action: bytes, *, expected_revision: int) -> None:
        """Write the workflow's row, by compare-and-swap on its revision (0: it must be new).

        Raises `Conflict` where the stored revision is another, `WorkflowExists` for revision 0,
        `WorkflowNotFound` where nothing is stored.
        """
        if expected_revision == 0:
            if self._revision(workflow.id) is not None:
                raise WorkflowExists(workflow.id)
            self._insert(workflow, action)
        elif not self._update(workflow, action, expected_revision):
            found = self._revision(workflow.id)
            if found is None:
                raise WorkflowNotFound(workflow.id, str(self._database.path))
            raise Conflict(workflow.id, expected_revision, found)

    def _revision(self, workflow_id: str) -> int | None:
        row = self._database.row("SELECT revision FROM workflows WHERE id = ?", (workflow_id,))
        return row[0] if row else None

    def _insert(self, workflow: Workflow, action: bytes) -> None:
        self._database.execute(
            """
            INSERT INTO workflows (
                id, program, program_digest, ledger_id, mode, "key", status, step, reason,
                approved_digest, in_doubt, attempts, retries, recoveries, max_retries,
                max_recoveries, retry_at, driver, revision, head_hash, created_at, updated_at,
                action_digest, action
            ) VALUES (
                :id, :program, :program_digest, :ledger_id, :mode, :key, :status, :step, :reason,
                :approved_digest, :in_doubt, :attempts, :retries, :recoveries, :max_retries,
                :max_recoveries, :retry_at, :driver, :revision, :head_hash, :created_at,
                :updated_at, :action_digest, CAST(:action AS TEXT)
            )
            """,
            _columns(workflow, action),
        )

    def _update(self, workflow: Workflow, action: bytes, expected_revision: int) -> int:
        return self._database.execute(
            """
            UPDATE workflows SET
                program = :program, program_digest = :program_digest, ledger_id = :ledger_id,
                mode = :mode, "key" = :key, status = :status, step = :step, reason = :reason,
                approved_digest = :approved_digest, in_doubt = :in_doubt, attempts = :attempts,
                retries = :retries, recoveries = :recoveries, max_retries = :max_retries,
                max_recoveries = :max_recoveries, retry_at = :retry_at, driver = :driver,
                revision = :revision, head_hash = :head_hash, created_at = :created_at,
                updated_at = :updated_at, action_digest = :action_digest,
                action = CAST(:action AS TEXT)
            WHERE id = :id AND revision = :expected_revision
            """,
            _columns(workflow, action) | {"expected_revision": expected_revision},
        )


def _columns(workflow: Workflow, action: bytes) -> dict[str, Any]:
    return workflow.row() | {"action_digest": workflow.action_digest, "action": action}
