from __future__ import annotations

import sqlite3
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from resumeproof.errors import ResumeproofError, StoreRefused
from resumeproof.stores.birth import create
from resumeproof.stores.kind import StoreKind
from resumeproof.stores.migrate import statements
from resumeproof.stores.opening import open_reader, open_writer
from tests.unit.stores.schemas import assert_migrations_lead_to_the_fresh_schema, schema_of
from tests.unit.stores.toy import SCHEMA_1, TOY, TOY_2, Child, facts, files, is_at_rest, seed


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "store.sqlite3"
    create(path, TOY, seed=seed)
    return path


def test_an_old_schema_plus_migrations_is_the_fresh_schema(tmp_path: Path) -> None:
    assert_migrations_lead_to_the_fresh_schema(tmp_path, TOY_2, lambda: SCHEMA_1, seed)


def test_a_migration_that_leads_elsewhere_is_found(tmp_path: Path) -> None:
    astray = replace(TOY_2, migrations=(lambda: "CREATE INDEX fact_by_text ON fact (id);",))
    with pytest.raises(AssertionError):
        assert_migrations_lead_to_the_fresh_schema(tmp_path, astray, lambda: SCHEMA_1, seed)


def test_a_writer_migrates_an_older_store(old: Path) -> None:
    open_writer(old, TOY_2).close()
    assert (schema_of(old)[1], facts(old), is_at_rest(old)) == (2, ["seed"], True)


def test_a_reader_migrates_a_private_copy_alone(old: Path) -> None:
    before = files(old.parent)
    with open_reader(old, TOY_2) as store:
        version = store.rows("PRAGMA user_version")[0][0]
        read = [text for (text,) in store.rows("SELECT text FROM fact INDEXED BY fact_by_text")]
    assert (version, read, files(old.parent)) == (2, ["seed"], before)


def test_a_reader_migrates_a_copy_of_what_an_older_program_is_writing(old: Path) -> None:
    with open_writer(old, TOY) as writer:
        writer.execute("INSERT INTO fact (text) VALUES ('second')")
        with open_reader(old, TOY_2) as store:
            read = [text for (text,) in store.rows("SELECT text FROM fact ORDER BY id")]
    assert (read, schema_of(old)[1], is_at_rest(old)) == (["seed", "second"], 1, True)


BROKEN: dict[str, tuple[str, str]] = {
    "a statement that fails": (
        "CREATE TABLE another (id) STRICT;",
        "missing datatype for another.id",
    ),
    "a foreign key that leads nowhere": (
        """
CREATE TABLE child (of INTEGER REFERENCES fact (id)) STRICT;
INSERT INTO child VALUES (99);
""",
        "a migration breaks a foreign key",
    ),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_a_migration_that_fails_leaves_the_store_at_its_old_schema(old: Path, broken: str) -> None:
    sql, reason = BROKEN[broken]
    three = StoreKind(
        "ledger", TOY.application_id, 3, TOY_2.schema_sql, (*TOY_2.migrations, lambda: sql)
    )
    before = schema_of(old)
    with pytest.raises(StoreRefused) as refused:
        open_writer(old, three)
    assert (refused.value.reason, schema_of(old), facts(old), is_at_rest(old)) == (
        reason,
        before,
        ["seed"],
        True,
    )


def test_a_migration_may_rebuild_a_table_that_others_refer_to(tmp_path: Path) -> None:
    family = """
CREATE TABLE parent (id INTEGER PRIMARY KEY) STRICT;
CREATE TABLE child (parent INTEGER NOT NULL REFERENCES parent (id) ON DELETE CASCADE) STRICT;
"""
    rebuild = """
CREATE TABLE new (id INTEGER PRIMARY KEY, name TEXT) STRICT;
INSERT INTO new (id) SELECT id FROM parent;
DROP TABLE parent;
ALTER TABLE new RENAME TO parent;
"""
    one = StoreKind("ledger", 7, 1, lambda: family)
    two = StoreKind("ledger", 7, 2, lambda: family, (lambda: rebuild,))

    def have_children(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO parent VALUES (1)")
        connection.execute("INSERT INTO child VALUES (1)")

    create(tmp_path / "store", one, seed=have_children)
    with open_writer(tmp_path / "store", two) as store:
        children = store.rows("SELECT * FROM child")
        enforced = store.rows("PRAGMA foreign_keys")[0][0]
    assert ([tuple(child) for child in children], enforced) == ([(1,)], 1)


def test_of_many_that_find_an_older_store_one_migrates_it(old: Path) -> None:
    code = """
say("ready")
hear()
open_writer(path, TOY_2).close()
"""
    with ExitStack() as stack:
        children = [stack.enter_context(Child(code, old)) for _ in range(4)]
        for child in children:
            child.expect("ready")
        for child in children:
            child.tell()
        ends = [child.end() for child in children]
    assert ends == [(0, "", "")] * 4
    assert (schema_of(old)[1], is_at_rest(old)) == (2, True)


def test_an_older_program_refuses_what_was_migrated(old: Path) -> None:
    open_writer(old, TOY_2).close()
    before = files(old.parent)
    for opened in (open_writer, open_reader):
        with pytest.raises(ResumeproofError, match="schema 2 is newer than 1"):
            opened(old, TOY)
    assert files(old.parent) == before


def test_a_kind_has_one_migration_for_each_step() -> None:
    with pytest.raises(ValueError, match="schema 3 takes 2 migrations, not 1"):
        replace(TOY_2, schema_version=3)


def test_a_script_falls_into_whole_statements() -> None:
    first = "-- one; not two\nSELECT 1;\n"
    second = "CREATE TRIGGER t AFTER INSERT ON a\nBEGIN\n  SELECT 1;\nEND;\n"
    assert list(statements(first + second + "\n")) == [first, second]
