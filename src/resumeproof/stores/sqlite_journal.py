"""The journal in one SQLite file: a commit makes a record and the state that it leads to true."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from resumeproof.domain.inspection import Stored
from resumeproof.domain.record import Record
from resumeproof.domain.status import Status
from resumeproof.domain.workflow import Workflow
from resumeproof.errors import (
    Conflict,
    ConstraintViolated,
    StoreRefused,
    WorkflowExists,
    WorkflowNotFound,
)
from resumeproof.stores import birth, opening
from resumeproof.stores.kind import StoreKind, schema_resource
from resumeproof.stores.protocols import Durability, Emission
from resumeproof.stores.sqlite import BUSY_TIMEOUT_SECONDS, Database
from resumeproof.stores.sqlite_journal_rows import (
    WORKFLOW,
    lossless_text,
    stored_record,
    stored_workflow,
    workflow_row,
)

JOURNAL: Final = StoreKind(
    name="journal",
    application_id=0x52504A4C,  # "RPJL"
    schema_version=1,
    schema_sql=schema_resource("journal.sql"),
)

PAGE_ROWS: Final = 100
"""How many workflows `rows` reads at a time."""


class SqliteJournal:
    """A `resumeproof.stores.protocols.Journal`; in addition it is a context manager.

    Every method raises `StoreUnavailable`, `StoreRefused` or `ForkedHandle` as
    `resumeproof.stores.sqlite.ErrorsNamed` says. A handle belongs to one process and one thread.
    """

    __slots__ = ("_database", "created_at", "journal_id")

    journal_id: str
    created_at: str

    def __init__(self, database: Database) -> None:
        """Take over `database`. Raises `StoreRefused` where it does not say which journal it is."""
        # Text that is not UTF-8 gets through, so that the fold can name the record that holds it.
        database.connection.text_factory = lossless_text
        self._database = database
        identity = database.row("SELECT journal_id, created_at FROM journal")
        if identity is None:
            raise StoreRefused(JOURNAL.name, str(database.path), "it does not say which it is")
        self.journal_id, self.created_at = identity

    @classmethod
    def create(cls, path: str | os.PathLike[str], *, journal_id: str, created_at: str) -> bool:
        """Create an empty journal; False if something is at `path` already.

        `created_at` is an instant's text. Raises `StoreNotFound` where there is no directory.
        """

        def seed(connection: sqlite3.Connection) -> None:
            connection.execute(
                "INSERT INTO journal (journal_id, created_at) VALUES (?, ?)",
                (journal_id, created_at),
            )

        return birth.create(path, JOURNAL, seed=seed)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        busy_timeout_seconds: float = BUSY_TIMEOUT_SECONDS,
    ) -> SqliteJournal:
        """Open an existing journal for writing. Raises `StoreNotFound`, and `HardLinked`."""
        return _taken_over(
            opening.open_writer(path, JOURNAL, busy_timeout_seconds=busy_timeout_seconds)
        )

    @classmethod
    def open_reader(
        cls,
        path: str | os.PathLike[str],
        *,
        busy_timeout_seconds: float = BUSY_TIMEOUT_SECONDS,
    ) -> SqliteJournal:
        """Open an existing journal for reading; no byte of it changes. Raises `StoreNotFound`."""
        return _taken_over(
            opening.open_reader(path, JOURNAL, busy_timeout_seconds=busy_timeout_seconds)
        )

    @property
    def path(self) -> Path:
        return self._database.path

    @property
    def database(self) -> Database:
        """The open store, for whoever inspects it: integrity, a snapshot."""
        return self._database

    @property
    def durability(self) -> Durability:
        """The journal mode and synchronous setting that were in force when it was opened."""
        return self._database.durability

    @contextmanager
    def transaction(self) -> Iterator[SqliteJournalTransaction]:
        """One commit, durable when the `with` statement ends; an exception undoes all of it."""
        with self._database.transaction():
            transaction = SqliteJournalTransaction(self._database)
            try:
                yield transaction
            finally:
                transaction.end()

    def load(self, workflow_id: str) -> Stored:
        """One workflow with its whole timeline, as of one moment.

        Raises `WorkflowNotFound`; `JournalDamaged` where a column is of an impossible type, or the
        timeline has lost its row. Whatever else is damaged, `domain.inspection.inspect` finds.
        """
        with self._database.snapshot():
            row = workflow_row(self._database, workflow_id)
            records = self._database.rows(
                """
                SELECT workflow_id, sequence, event, at, facts, previous, hash
                FROM timeline WHERE workflow_id = ? ORDER BY sequence
                """,
                (workflow_id,),
            )
        return stored_workflow(row, tuple(stored_record(workflow_id, record) for record in records))

    def rows(self, status: Status | None = None) -> Iterator[Stored]:
        """All workflows in order of creation, without their records; of one status, if given.

        Pages are read one at a time, and no statement is open in between: workflows may be changed
        meanwhile, and each is met at most once. Raises `JournalDamaged` as `load` does.
        """
        last = 0
        while page := self._page(status, last):
            for row in page:
                last = row["number"]
                yield stored_workflow(row, ())

    def _page(self, status: Status | None, last: int) -> list[sqlite3.Row]:
        if status is None:
            return self._database.rows(
                f"{WORKFLOW} WHERE number > ? ORDER BY number LIMIT ?", (last, PAGE_ROWS)
            )
        return self._database.rows(
            f"{WORKFLOW} WHERE status = ? AND number > ? ORDER BY number LIMIT ?",
            (status, last, PAGE_ROWS),
        )

    def emissions(self, event: str) -> Iterator[Emission]:
        """All events of a name, by their workflows' order of creation, then by sequence."""
        rows = self._database.rows(
            "SELECT timeline.workflow_id, sequence, facts FROM timeline"
            " JOIN workflows ON workflows.id = timeline.workflow_id"
            " WHERE event = 'emitted' AND json_extract(facts, '$.event') = ?"
            " ORDER BY workflows.number, sequence",
            (event,),
        )
        for row in rows:
            payload = json.loads(row["facts"])["payload"]
            yield Emission(row["workflow_id"], row["sequence"], payload)

    def close(self) -> None:
        """Close the handle; the last one to close a journal leaves it as one file."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class SqliteJournalTransaction:
    """A `resumeproof.stores.protocols.JournalTransaction`, good until its `with` statement ends."""

    __slots__ = ("_open",)

    def __init__(self, database: Database) -> None:
        self._open: Database | None = database

    @property
    def _database(self) -> Database:
        # Outside its transaction, SQLite would commit each statement by itself.
        if self._open is None:
            raise ValueError("this transaction has ended")
        return self._open

    def end(self) -> None:
        self._open = None

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
            {**_columns(workflow, action), "expected_revision": expected_revision},
        )


def _columns(workflow: Workflow, action: bytes) -> dict[str, Any]:
    return {**workflow.row(), "action_digest": workflow.action_digest, "action": action}


def _taken_over(database: Database) -> SqliteJournal:
    try:
        return SqliteJournal(database)
    except BaseException:
        database.close()
        raise
