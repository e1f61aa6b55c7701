"""Whatever is changed by hand in a store, in whichever column of whichever row, is noticed."""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from resumeproof.errors import EvidenceBroken, JournalDamaged, ResumeproofError, StoreRefused
from resumeproof.evidence.verify import verify
from resumeproof.stores.kind import StoreKind
from resumeproof.stores.sqlite_journal import JOURNAL
from resumeproof.stores.sqlite_ledger_rows import LEDGER
from tests.unit.evidence.by_hand import change, unguarded
from tests.unit.evidence.scene import STORIES, Scene

Copied = Callable[[Scene], Scene]

INSTANT = re.compile(r"\d{4}-\d\d-\d\dT")
NOUNS = {
    "journal": "stores/journal/",
    "ledger": "ledger",
    "effects": "effect {key}",
    "invocations": "invocation {key}",
    "lookups": "lookup {key}",
    "registrations": "{key}",
    "timeline": "{key}",
    "workflows": "{key}",
}
"""What the message about a changed row has to name, by table; `key` is the row's key as it was."""
KEY = {"registrations": "workflow_id", "timeline": "workflow_id", "workflows": "id"}
OTHERS = {
    "mode": ("idempotent", "non_idempotent"),
    "status": ("completed", "unknown", "approved", "failed", "reconciled_applied"),
    "lookup": ("none", "consistent", "eventual"),
    "outcome": ("applied", "replayed", "key_conflict", "fenced", "failed_before_effect",
                "found", "absent"),
    "event": ("completed", "marked_unknown", "attempt_started"),
}  # fmt: skip
"""Other values of columns that hold one of a few; all others get one that nobody would think of."""


def columns(kind: StoreKind) -> Iterator[tuple[str, str, str]]:
    """Every column of every table of a kind of store."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(kind.schema_sql())
        tables = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
        ).fetchall()
        for (table,) in tables:
            for column in connection.execute(f"PRAGMA table_info({table})"):
                yield kind.name, table, column[1]


COLUMNS = [*columns(JOURNAL), *columns(LEDGER)]


def other_values(column: str, value: Any) -> list[Any]:
    if value is None:
        return [1] if column.endswith(("sequence", "seconds")) else ["2026-01-01T00:00:00.000000Z"]
    if column in OTHERS:
        return [other for other in OTHERS[column] if other != value]
    if isinstance(value, str):
        end = "Z" if INSTANT.match(value) else ""
        text = value.removesuffix(end)
        return [text[:-1] + ("0" if text[-1] != "0" else "1") + end]
    if value in (0, 1):
        return [1 - value]
    return [value + 1000]


def changes(path: Path, table: str, column: str) -> list[tuple[str, tuple[Any, ...], Any]]:
    """A WHERE clause with its parameters, and another value, for every row of a table."""
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        keys = [
            row["name"] for row in connection.execute(f"PRAGMA table_info({table})") if row["pk"]
        ]
        where = " AND ".join(f"{key} = ?" for key in keys)
        return [
            (where, tuple(row[key] for key in keys), other)
            for row in connection.execute(f"SELECT * FROM {table}").fetchall()
            for other in other_values(column, row[column])
        ]


def test_every_column_has_a_row_to_be_changed_in(varied: Scene) -> None:
    paths = {JOURNAL.name: varied.journal, LEDGER.name: varied.ledger}
    assert [place for place in COLUMNS if not changes(paths[place[0]], *place[1:])] == []


@pytest.mark.parametrize(
    ("store", "table", "column"), COLUMNS, ids=[".".join(place) for place in COLUMNS]
)
def test_a_changed_value_is_named(
    store: str, table: str, column: str, varied: Scene, tmp_path: Path
) -> None:
    path = varied.journal if store == JOURNAL.name else varied.ledger
    missed = []
    for number, (where, key, other) in enumerate(changes(path, table, column)):
        directory = tmp_path / str(number)
        shutil.copytree(varied.directory, directory)
        change(
            directory / path.name, f'UPDATE {table} SET "{column}" = ? WHERE {where}', (other, *key)
        )
        told = verdict(directory)
        wanted = NOUNS[table].format(key=named_by(path, table, where, key))
        named = re.search(rf"{re.escape(wanted)}(?!\d)", told)
        renamed = table == "workflows" and column == "id" and other in told
        if not (told.startswith("7: ") and (named or renamed)):
            missed.append((key, other, told))
        shutil.rmtree(directory)
    assert missed == []


def named_by(path: Path, table: str, where: str, key: tuple[Any, ...]) -> Any:
    if table not in KEY:
        return key[0]
    with closing(sqlite3.connect(path)) as connection:
        sql = f"SELECT {KEY[table]} FROM {table} WHERE {where}"
        return connection.execute(sql, key).fetchone()[0]


def verdict(directory: Path) -> str:
    """What `verify` says of damage; it says nothing else of a changed store."""
    try:
        return f"holds: {verify(directory)}"
    except (EvidenceBroken, JournalDamaged, StoreRefused) as error:
        return f"{int(error.exit)}: {error}"


def test_an_unchanged_store_is_no_damage(whole: Scene) -> None:
    assert verify(whole.directory).extended == ()


REMOVALS = {
    "a timeline's tail": (
        "journal",
        "DELETE FROM timeline WHERE hash = (SELECT head_hash FROM workflows WHERE number = 1)",
        "workflow wf_",
    ),
    "a whole timeline": (
        "journal",
        "DELETE FROM timeline WHERE workflow_id = (SELECT id FROM workflows WHERE number = 2)",
        "timeline is empty",
    ),
    "the first effect": ("ledger", "DELETE FROM effects WHERE sequence = 1", "effect 1"),
    "the last effect": (
        "ledger",
        "DELETE FROM effects WHERE sequence = (SELECT max(sequence) FROM effects)",
        "effect 13",
    ),
    "an invocation": ("ledger", "DELETE FROM invocations WHERE sequence = 3", "invocation 3"),
    "the last invocation": (
        "ledger",
        "DELETE FROM invocations WHERE sequence = (SELECT max(sequence) FROM invocations)",
        "invocation",
    ),
    "a lookup": ("ledger", "DELETE FROM lookups WHERE sequence = 1", "lookup 1"),
    "the last lookup": (
        "ledger",
        "DELETE FROM lookups WHERE sequence = (SELECT max(sequence) FROM lookups)",
        "lookup 2",
    ),
    "a registration": (
        "ledger",
        "DELETE FROM registrations WHERE rowid = 4",
        "the registration of workflow wf_",
    ),
}


@pytest.mark.parametrize(("store", "sql", "named"), REMOVALS.values(), ids=REMOVALS)
def test_what_was_removed_is_named(
    store: str, sql: str, named: str, whole: Scene, copied: Copied
) -> None:
    scene = copied(whole)
    change(scene.journal if store == "journal" else scene.ledger, sql)
    assert named in verdict(scene.directory)


def test_a_workflow_that_was_removed_with_its_timeline_is_named(
    whole: Scene, copied: Copied
) -> None:
    scene = copied(whole)
    with unguarded(scene.journal) as connection:
        sql = "DELETE FROM timeline WHERE workflow_id = (SELECT id FROM workflows WHERE number = 3)"
        connection.execute(sql)
        connection.execute("DELETE FROM workflows WHERE number = 3")
    assert "workflow number 3 does not hold: it is missing" in verdict(scene.directory)


def test_the_last_workflow_removed_without_a_trace_is_named_by_the_receipt_file(
    small: Scene, copied: Copied
) -> None:
    scene = copied(small)
    last = scene.scenarios[-1].workflow_id
    with unguarded(scene.journal) as connection:
        connection.execute("DELETE FROM timeline WHERE workflow_id = ?", (last,))
        connection.execute("DELETE FROM workflows WHERE id = ?", (last,))
    with unguarded(scene.ledger) as connection:
        for table in ("invocations", "effects", "registrations"):
            connection.execute(f"DELETE FROM {table} WHERE workflow_id = ?", (last,))
    assert "does not hold: it is missing" in verdict(scene.directory)


SCHEMA_CHANGES = {
    "a trigger gone": ("journal", "DROP TRIGGER timeline_loses_nothing", "timeline_loses_nothing"),
    "a trigger gone from the ledger": ("ledger", "DROP TRIGGER effects_no_update", "no_update"),
    "a trigger that does nothing": (
        "ledger",
        """DROP TRIGGER ledger_no_delete;
        CREATE TRIGGER ledger_no_delete BEFORE DELETE ON ledger BEGIN SELECT 1; END""",
        "trigger ledger_no_delete was changed",
    ),
    "a trigger more": (
        "journal",
        "CREATE TRIGGER more AFTER INSERT ON timeline BEGIN SELECT 1; END",
        "more does not belong",
    ),
    "a table more": ("ledger", "CREATE TABLE more (one)", "more does not belong"),
    "an index gone": ("ledger", "DROP INDEX effects_by_key", "index effects_by_key is gone"),
}


@pytest.mark.parametrize(("store", "sql", "named"), SCHEMA_CHANGES.values(), ids=SCHEMA_CHANGES)
def test_a_changed_schema_is_named(
    store: str, sql: str, named: str, small: Scene, copied: Copied
) -> None:
    scene = copied(small)
    path = scene.journal if store == "journal" else scene.ledger
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(sql)
    told = verdict(scene.directory)
    assert ("the schema does not hold" in told, named in told) == (True, True)


def test_other_bytes_with_the_same_contents_are_told_apart(small: Scene, copied: Copied) -> None:
    scene = copied(small)
    with closing(sqlite3.connect(scene.ledger)) as connection:
        connection.execute("VACUUM")
    assert verdict(scene.directory).endswith("the contents are the same, and the bytes are not")


def test_another_good_ledger_is_named(small: Scene, whole: Scene, copied: Copied) -> None:
    scene = copied(small)
    with unguarded(scene.ledger) as connection:
        connection.execute("UPDATE ledger SET ledger_id = 'ledger_other'")
    with pytest.raises(ResumeproofError, match="it belongs to ledger"):
        verify(scene.directory)


UNSEEN_IN_WHAT_WAS_ADDED = {
    ("invocations", "at"),
    ("invocations", "outcome"),
    ("lookups", "at"),
    ("lookups", "outcome"),
    ("registrations", "fail_before"),
    ("registrations", "registered_at"),
}
"""Columns of rows that no receipt file tells of, and that nothing else bears upon; listed in
docs/evidence.md, "What verify cannot see"."""


def test_what_cannot_be_seen_of_rows_that_were_added_is_what_is_documented(
    small: Scene, copied: Copied, tmp_path: Path
) -> None:
    added = copied(small)
    for name in ("unknown", "lookup found", "late call", "expired key", "retrying", "conflict"):
        STORIES[name](added, name)
    unseen = set()
    for store, table, column in COLUMNS:
        path = added.journal if store == JOURNAL.name else added.ledger
        known = small.journal if store == JOURNAL.name else small.ledger
        told_of = {key for _, key, _ in changes(known, table, column)}
        for number, (where, key, other) in enumerate(changes(path, table, column)):
            # Those are seen: `test_a_changed_value_is_named`.
            if key in told_of:
                continue
            directory = tmp_path / f"{store}.{table}.{column}.{number}"
            shutil.copytree(added.directory, directory)
            sql = f'UPDATE {table} SET "{column}" = ? WHERE {where}'
            change(directory / path.name, sql, (other, *key))
            if verdict(directory).startswith("holds"):
                unseen.add((table, column))
            shutil.rmtree(directory)
    assert unseen == UNSEEN_IN_WHAT_WAS_ADDED
