"""A journal changed by hand, or by a disk: the damage is named, and is never a traceback."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from resumeproof.domain.canonical import digest_of
from resumeproof.domain.inspection import found_digest, inspect
from resumeproof.errors import JournalDamaged
from resumeproof.proof.expectation import refusal
from resumeproof.proof.told import approved, created, write
from resumeproof.stores.sqlite_journal import SqliteJournal

BY_HAND = """
    DROP TRIGGER timeline_keeps_records;
    DROP TRIGGER timeline_loses_nothing;
    DROP TRIGGER workflows_stay;
"""
ANY_TYPE = """
    PRAGMA writable_schema=ON;
    UPDATE sqlite_master SET sql = replace(replace(sql, ') STRICT,', ')'), ') STRICT', ')')
    WHERE type = 'table';
"""
STRICT_AGAIN = """
    PRAGMA writable_schema=ON;
    UPDATE sqlite_master SET sql = CASE name
        WHEN 'timeline' THEN replace(sql, ') WITHOUT', ') STRICT, WITHOUT')
        ELSE sql || ' STRICT'
    END
    WHERE type = 'table';
"""


@pytest.fixture
def path(journal_path: Path) -> Path:
    with SqliteJournal.open(journal_path) as journal:
        write(journal, None, approved(created("w")))
        write(journal, None, created("x"))
    return journal_path


def change(path: Path, *scripts: str) -> None:
    """Run each script on a connection of its own, since a schema is read when one is opened."""
    for script in scripts:
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(script)


NO_UTF_8 = {
    "facts": (
        "UPDATE timeline SET facts = CAST(x'7b22ff7d' AS TEXT) WHERE workflow_id = 'w'",
        "timeline record 1 does not match its hash",
    ),
    "event": (
        "UPDATE timeline SET event = CAST(x'ff' AS TEXT) WHERE workflow_id = 'w' AND sequence = 2",
        "timeline record 2 does not match its hash",
    ),
    "step": (
        "UPDATE workflows SET step = CAST(x'ff' AS TEXT)",
        r"column step is '\udcff', the timeline says 'call'",
    ),
}


@pytest.mark.parametrize(
    ("statement", "damage"), [pytest.param(*case, id=name) for name, case in NO_UTF_8.items()]
)
def test_text_that_is_not_utf_8_is_damage_with_a_place(
    path: Path, statement: str, damage: str
) -> None:
    change(path, BY_HAND + statement)
    with SqliteJournal.open_reader(path) as journal:
        assert inspect(journal.load("w")).damage == damage


def test_a_workflow_beside_a_damaged_one_is_sound(path: Path) -> None:
    change(
        path, BY_HAND + "UPDATE timeline SET facts = CAST(x'ff' AS TEXT) WHERE workflow_id = 'w'"
    )
    with SqliteJournal.open_reader(path) as journal:
        assert journal.load("x") == created("x").stored


def test_an_action_is_given_back_and_kept_as_it_is_stored_whatever_it_is(path: Path) -> None:
    change(path, "UPDATE workflows SET action = CAST(x'7bff007d' AS TEXT) WHERE id = 'w'")
    told = approved(created("w"))
    with SqliteJournal.open(path) as journal:
        changed = journal.load("w")
        with journal.transaction() as transaction:
            transaction.save(told.workflow, changed.action, expected_revision=2)
        kept = journal.load("w")
    assert (changed.action, kept.action, found_digest(kept, told.action.digest)) == (
        b"{\xff\0}",
        b"{\xff\0}",
        digest_of(b"{\xff\0}"),
    )


NO_SUCH_TYPE = {
    "blob-in-a-row": ("UPDATE workflows SET step = x'00'", "column step is of type bytes"),
    "real-in-a-row": ("UPDATE workflows SET attempts = 0.5", "column attempts is of type float"),
    "blob-for-a-digest": (
        "UPDATE workflows SET action_digest = x'00'",
        "column action_digest is of type bytes",
    ),
    "blob-in-a-record": (
        "UPDATE timeline SET previous = x'00'",
        "timeline column previous is of type bytes",
    ),
    "text-for-a-sequence": (
        "UPDATE timeline SET sequence = 'two' WHERE sequence = 2",
        "timeline column sequence is of type str",
    ),
}


@pytest.mark.parametrize(
    ("statement", "damage"), [pytest.param(*case, id=name) for name, case in NO_SUCH_TYPE.items()]
)
def test_a_value_of_a_type_that_no_statement_can_store_is_damage(
    path: Path, statement: str, damage: str
) -> None:
    change(path, ANY_TYPE, BY_HAND + statement, STRICT_AGAIN)
    with SqliteJournal.open_reader(path) as journal:
        error = refusal(lambda: journal.load("w"))
    assert (type(error), error.facts) == (JournalDamaged, {"workflow_id": "w", "damage": damage})


def test_a_list_names_the_workflow_with_a_value_of_an_impossible_type(path: Path) -> None:
    change(path, ANY_TYPE, "UPDATE workflows SET step = x'00' WHERE id = 'x'", STRICT_AGAIN)
    with SqliteJournal.open_reader(path) as journal:
        rows = journal.rows()
        first, error = next(rows), refusal(lambda: next(rows))
    assert (first.row["id"], type(error), error.facts["workflow_id"]) == ("w", JournalDamaged, "x")


def test_a_timeline_without_a_row_is_damage_and_not_a_workflow_that_never_was(path: Path) -> None:
    change(path, BY_HAND + "DELETE FROM workflows WHERE id = 'w'")
    with SqliteJournal.open(path) as journal:
        loaded = refusal(lambda: journal.load("w"))
        with journal.transaction() as transaction:
            claimed = refusal(lambda: transaction.load("w"))
    facts = {"workflow_id": "w", "damage": "it has a timeline and no row"}
    assert [(type(error), error.facts) for error in (loaded, claimed)] == [
        (JournalDamaged, facts)
    ] * 2


def test_a_cut_off_tail_is_damage(path: Path) -> None:
    change(path, BY_HAND + "DELETE FROM timeline WHERE workflow_id = 'w' AND sequence = 2")
    with SqliteJournal.open_reader(path) as journal:
        damage = inspect(journal.load("w")).damage
    assert damage == "column status is 'approved', the timeline says 'pending_approval'"
