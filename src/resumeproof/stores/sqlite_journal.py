"""The journal in one SQLite file: a commit makes a record and the state that it leads to true."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from resumeproof.domain.inspection import Stored
from resumeproof.domain.status import Status
from resumeproof.errors import (
    StoreRefused,
)
from resumeproof.stores import birth, opening
from resumeproof.stores.kind import StoreKind, schema_resource
from resumeproof.stores.protocols import Durability, Emission, Place
from resumeproof.stores.sqlite import BUSY_TIMEOUT_SECONDS, Database
from resumeproof.stores.sqlite_journal_rows import (
    WORKFLOW,
    lossless_text,
    stored_record,
    stored_workflow,
    workflow_row,
)
from resumeproof.stores.sqlite_journal_transaction import SqliteJournalTransaction

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
    `resumeproof.stores.sqlite_errors.ErrorsNamed` says. A handle belongs to one process and one
    thread.
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

    def transaction(self) -> SqliteJournalTransaction:
        """One commit, durable when the `with` statement ends; an exception undoes all of it."""
        return SqliteJournalTransaction(self._database)

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

    def places(self) -> list[Place]:
        """All workflows by their numbers."""
        rows = self._database.rows("SELECT number, id, revision FROM workflows ORDER BY number")
        return [Place(*row) for row in rows]

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


def _taken_over(database: Database) -> SqliteJournal:
    try:
        return SqliteJournal(database)
    except BaseException:
        database.close()
        raise
