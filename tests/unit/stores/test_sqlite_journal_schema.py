"""What the journal's schema refuses, asked of SQLite alone, as any tool would."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from resumeproof.domain.status import Status
from resumeproof.errors import ConstraintViolated
from resumeproof.proof.told import CREATED_AT, approved, created, write
from resumeproof.stores import birth
from resumeproof.stores.kind import StoreKind
from resumeproof.stores.sqlite_journal import JOURNAL, SqliteJournal

SCHEMAS = Path(__file__).with_name("schema")


@pytest.fixture
def any_tool(journal_path: Path) -> Iterator[sqlite3.Connection]:
    """A connection with nothing but defaults, to a journal of two workflows, `w` and `x`."""
    with SqliteJournal.open(journal_path) as journal:
        write(journal, None, approved(created("w")))
        write(journal, None, created("x"))
    with closing(sqlite3.connect(journal_path)) as connection:
        yield connection


# -- append-only -------------------------------------------------------------------------------

CHANGED = "the timeline is append-only: a record is never changed"
DELETED = "the timeline is append-only: a record is never deleted"
NOT_AT_THE_END = "the timeline is append-only: a record follows the last one"
STAYS = "a workflow is never deleted"
NOT_REPLACED = "a workflow is never replaced"
PLACE = "a workflow keeps its id and its number"
IDENTITY = "a journal keeps its identity"
FIRST = "FROM timeline WHERE workflow_id = 'w' AND sequence = 1"
COPY = """
    CREATE TEMP TABLE copy AS SELECT * FROM workflows WHERE id = 'w';
    UPDATE copy SET {};
    INSERT OR REPLACE INTO workflows SELECT * FROM copy;
"""
REFUSED = {
    "update-a-record": ("UPDATE timeline SET facts = '{}' WHERE sequence = 1", CHANGED),
    "update-or-replace": ("UPDATE OR REPLACE timeline SET sequence = 1", CHANGED),
    "delete-a-tail": ("DELETE FROM timeline WHERE sequence = 2", DELETED),
    "delete-all-records": ("DELETE FROM timeline", DELETED),
    "insert-a-record-again": (f"INSERT INTO timeline SELECT * {FIRST}", NOT_AT_THE_END),
    "insert-or-replace": (f"INSERT OR REPLACE INTO timeline SELECT * {FIRST}", NOT_AT_THE_END),
    "replace-into": (f"REPLACE INTO timeline SELECT * {FIRST}", NOT_AT_THE_END),
    "insert-or-ignore": (f"INSERT OR IGNORE INTO timeline SELECT * {FIRST}", NOT_AT_THE_END),
    "upsert": (
        f"INSERT INTO timeline SELECT * {FIRST} ON CONFLICT DO UPDATE SET facts = '{{}}'",
        NOT_AT_THE_END,
    ),
    "insert-with-a-gap": (
        f"INSERT INTO timeline SELECT 'w', 4, event, at, facts, previous, hash {FIRST}",
        NOT_AT_THE_END,
    ),
    "delete-a-workflow": ("DELETE FROM workflows WHERE id = 'x'", STAYS),
    "delete-all-workflows": ("DELETE FROM workflows", STAYS),
    "replace-a-workflow-by-id": (COPY.format("number = 9"), NOT_REPLACED),
    "replace-a-workflow-by-number": (COPY.format("id = 'y'"), NOT_REPLACED),
    "update-or-replace-an-id": ("UPDATE OR REPLACE workflows SET id = 'x'", PLACE),
    "update-or-replace-a-number": ("UPDATE OR REPLACE workflows SET number = 2", PLACE),
    "update-the-identity": ("UPDATE journal SET journal_id = 'journal-2'", IDENTITY),
    "delete-the-identity": ("DELETE FROM journal", IDENTITY),
    "replace-the-identity": ("INSERT OR REPLACE INTO journal VALUES ('journal-1', '')", IDENTITY),
    "a-second-identity": ("INSERT INTO journal VALUES ('journal-2', '')", IDENTITY),
}


@pytest.mark.parametrize(
    ("script", "why"), [pytest.param(*case, id=name) for name, case in REFUSED.items()]
)
def test_history_cannot_be_rewritten(any_tool: sqlite3.Connection, script: str, why: str) -> None:
    before = list(any_tool.iterdump())
    with pytest.raises(sqlite3.IntegrityError) as caught:
        any_tool.executescript(script)
    any_tool.rollback()
    assert (str(caught.value), list(any_tool.iterdump())) == (why, before)


def test_a_record_without_a_workflow_cannot_be_committed(journal_path: Path) -> None:
    told = created("w")
    with closing(sqlite3.connect(journal_path, isolation_level=None)) as connection:
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute("BEGIN")
        connection.execute(
            "INSERT INTO timeline VALUES ('w', 1, 'created', ?, '{}', '', '')",
            (told.records[0].at,),
        )
        with pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"):
            connection.execute("COMMIT")


# -- checks ------------------------------------------------------------------------------------

NO_SUCH_VALUE = {
    "status": "done",
    "mode": "sometimes",
    "key": "",
    "in_doubt": 2,
    "attempts": -1,
    "retries": -1,
    "recoveries": -1,
    "max_retries": -1,
    "max_recoveries": -1,
    "revision": 0,
    "retry_at": "tomorrow",
    "created_at": "2026-01-02 03:04:05",
    "updated_at": "2026-01-02T03:04:05Z",
    "action": "",
    "step": b"\0",
    "head_hash": None,
}


@pytest.mark.parametrize(
    ("column", "value"),
    [pytest.param(column, value, id=column) for column, value in NO_SUCH_VALUE.items()],
)
def test_a_workflow_has_no_such_value(
    any_tool: sqlite3.Connection, column: str, value: object
) -> None:
    with pytest.raises(sqlite3.IntegrityError):
        any_tool.execute(f'UPDATE workflows SET "{column}" = ?', (value,))


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param("number = 0, id = 'y'", id="number"),
        pytest.param("number = 9, id = ''", id="id"),
    ],
)
def test_there_is_no_such_workflow(any_tool: sqlite3.Connection, changes: str) -> None:
    with pytest.raises(sqlite3.IntegrityError, match="CHECK constraint failed"):
        any_tool.executescript(COPY.format(changes))
    any_tool.rollback()


@pytest.mark.parametrize(
    ("journal_id", "created_at"),
    [pytest.param("", CREATED_AT, id="no-id"), pytest.param("journal-2", "today", id="no-instant")],
)
def test_there_is_no_such_journal(tmp_path: Path, journal_id: str, created_at: str) -> None:
    with pytest.raises(ConstraintViolated):
        SqliteJournal.create(
            tmp_path / "other.sqlite3", journal_id=journal_id, created_at=created_at
        )
    assert list(tmp_path.iterdir()) == []


NO_SUCH_RECORD = {
    "event": ("v", 1, "", CREATED_AT, "{}", "", ""),
    "at": ("v", 1, "created", "2026-01-02T03:04:05+00:00", "{}", "", ""),
    "facts": ("v", 1, "created", CREATED_AT, "", "", ""),
}


@pytest.mark.parametrize(
    "record", [pytest.param(record, id=name) for name, record in NO_SUCH_RECORD.items()]
)
def test_a_timeline_has_no_such_record(
    any_tool: sqlite3.Connection, record: tuple[object, ...]
) -> None:
    with pytest.raises(sqlite3.IntegrityError):
        any_tool.execute("INSERT INTO timeline VALUES (?, ?, ?, ?, ?, ?, ?)", record)


def test_a_workflow_can_have_every_status(any_tool: sqlite3.Connection) -> None:
    for status in Status:
        any_tool.execute("UPDATE workflows SET status = ?", (status,))


def test_the_columns_are_those_of_a_workflow_and_its_action(any_tool: sqlite3.Connection) -> None:
    columns = {row[1] for row in any_tool.execute("PRAGMA table_info(workflows)")}
    assert columns == {*created("w").workflow.row(), "number", "action", "action_digest"}


# -- versions ----------------------------------------------------------------------------------


def schema(path: Path) -> list[tuple[str, str, str]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(
            "SELECT type, name, sql FROM sqlite_master ORDER BY type, name"
        ).fetchall()


@pytest.mark.parametrize(
    "version",
    [
        pytest.param(version, id=f"from-{version}")
        for version in range(1, JOURNAL.schema_version + 1)
    ],
)
def test_a_released_schema_and_its_migrations_come_to_the_fresh_schema(
    journal_path: Path, tmp_path: Path, version: int
) -> None:
    released = StoreKind(
        JOURNAL.name,
        JOURNAL.application_id,
        version,
        (SCHEMAS / f"journal-{version}.sql").read_text,
        JOURNAL.migrations[: version - 1],
    )
    old = tmp_path / "old.sqlite3"

    def seed(connection: sqlite3.Connection) -> None:
        connection.execute(
            "INSERT INTO journal (journal_id, created_at) VALUES ('journal-1', ?)", (CREATED_AT,)
        )

    birth.create(old, released, seed=seed)
    SqliteJournal.open(old).close()
    assert schema(old) == schema(journal_path)
