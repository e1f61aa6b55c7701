"""Whether a store has the schema that it was made with."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from resumeproof.stores.birth import create
from resumeproof.stores.intact import schema_damage
from resumeproof.stores.kind import StoreKind
from resumeproof.stores.opening import open_reader
from resumeproof.stores.sqlite_journal import JOURNAL
from resumeproof.stores.sqlite_ledger_rows import LEDGER

KINDS = pytest.mark.parametrize("kind", [JOURNAL, LEDGER], ids=lambda kind: str(kind.name))


def damage_after(path: Path, kind: StoreKind, *statements: str) -> str | None:
    create(path, kind, seed=lambda _: None)
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    with open_reader(path, kind) as database:
        return schema_damage(database)


@KINDS
def test_a_new_store_is_as_it_was_made(kind: StoreKind, tmp_path: Path) -> None:
    assert damage_after(tmp_path / "store", kind) is None


@KINDS
def test_every_object_is_missed(kind: StoreKind, tmp_path: Path) -> None:
    create(tmp_path / "whole", kind, seed=lambda _: None)
    with closing(sqlite3.connect(tmp_path / "whole")) as connection:
        objects = connection.execute(
            "SELECT type, name FROM sqlite_master WHERE sql IS NOT NULL AND type <> 'table'"
        ).fetchall()
    told = {
        name: damage_after(tmp_path / name, kind, f"DROP {what} {name}") for what, name in objects
    }
    assert told == {name: f"{what} {name} is gone" for what, name in objects}


def test_statistics_that_sqlite_keeps_for_itself_are_no_damage(tmp_path: Path) -> None:
    assert damage_after(tmp_path / "store", LEDGER, "ANALYZE") is None


STRANGE = {
    "a table": ("CREATE TABLE zebra (one)", "zebra does not belong to it"),
    "a view": ("CREATE VIEW zebra AS SELECT 1", "zebra does not belong to it"),
    "a column": ("ALTER TABLE lookups ADD COLUMN zebra TEXT", "table lookups was changed"),
}


@pytest.mark.parametrize(("statement", "told"), STRANGE.values(), ids=STRANGE)
def test_what_is_new_is_named(statement: str, told: str, tmp_path: Path) -> None:
    assert damage_after(tmp_path / "store", LEDGER, statement) == told
