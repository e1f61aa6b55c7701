from __future__ import annotations

import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from resumeproof.errors import (
    ConstraintViolated,
    ResumeproofError,
    StoreRefused,
    StoreUnavailable,
)
from resumeproof.stores import sqlite
from resumeproof.stores.birth import create
from resumeproof.stores.opening import open_reader, open_writer
from resumeproof.stores.sqlite import Database
from tests.unit.stores.toy import TOY, Child, add, facts, is_at_rest, seed, texts


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "store.sqlite3"
    create(path, TOY, seed=seed)
    return path


@pytest.fixture
def store(path: Path) -> Iterator[Database]:
    with open_writer(path, TOY) as store:
        yield store


# -- statements and transactions -------------------------------------------------------------


def test_a_statement_tells_how_many_rows_it_changed(store: Database) -> None:
    changed = [
        add(store, "a", "b"),
        store.execute("UPDATE fact SET text = text || '!' WHERE id > 1"),
        store.execute("UPDATE fact SET text = 'x' WHERE id = :id", {"id": 99}),
    ]
    assert (changed, texts(store)) == ([2, 2, 0], ["seed", "a!", "b!"])


def test_a_row_is_the_first_or_none_and_also_what_returning_says(store: Database) -> None:
    returned = store.row("INSERT INTO fact (text) VALUES ('a') RETURNING id, text")
    missing = store.row("SELECT * FROM fact WHERE id = 99")
    assert returned is not None
    assert (tuple(returned), returned["text"], missing) == ((2, "a"), "a", None)


def test_a_transaction_is_there_as_a_whole(store: Database) -> None:
    with store.transaction() as transaction:
        add(transaction, "a")
        add(transaction, "b")
    assert texts(store) == ["seed", "a", "b"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, GeneratorExit])
def test_a_transaction_left_by_an_exception_is_not_there_at_all(
    store: Database, error: type[BaseException]
) -> None:
    def leave() -> None:
        with store.transaction():
            add(store, "a")
            raise error

    with pytest.raises(error):
        leave()
    add(store, "b")
    assert texts(store) == ["seed", "b"]


def test_a_transaction_left_by_a_refused_row_is_not_there_at_all(store: Database) -> None:
    with pytest.raises(ConstraintViolated), store.transaction():
        add(store, "a", "seed")
    assert texts(store) == ["seed"]


def test_a_transaction_under_way_is_rolled_back_by_close(path: Path) -> None:
    store = open_writer(path, TOY)
    store.transaction().__enter__()
    add(store, "a")
    store.close()
    assert (facts(path), is_at_rest(path)) == (["seed"], True)


def test_a_snapshot_sees_one_moment(store: Database, path: Path) -> None:
    with open_reader(path, TOY) as reader, reader.snapshot():
        before = texts(reader)
        add(store, "a")
        after = texts(reader)
    assert (before, after, texts(store)) == (["seed"], ["seed"], ["seed", "a"])


def test_closing_twice_is_closing_once_and_a_closed_store_says_so(path: Path) -> None:
    store = open_writer(path, TOY)
    store.close()
    store.close()
    with pytest.raises(ValueError, match=r"^ledger .* is closed$"):
        store.rows("SELECT 1")


def test_a_transaction_takes_the_write_lock_when_it_begins(path: Path) -> None:
    code = """
with open_writer(path, TOY) as store:
    with store.transaction():
        say("began")
        hear()
    say("ended")
"""
    with Child(code, path) as child:
        child.expect("began")
        with (
            open_writer(path, TOY, busy_timeout_seconds=0.05) as store,
            pytest.raises(StoreUnavailable) as refused,
            store.transaction(),
        ):
            raise AssertionError("two transactions at once")
        child.tell()
        child.expect("ended")
        assert child.end() == (0, "", "")
    assert refused.value.facts == {
        "kind": "ledger",
        "path": str(path),
        "cause": "database is locked",
    }


# -- errors with facts -----------------------------------------------------------------------


def not_utf8(store: Database) -> object:
    add(store, "a")
    store.execute("UPDATE fact SET text = CAST(x'ff' AS TEXT) WHERE text = 'a'")
    return texts(store)


def filled(store: Database) -> None:
    store.execute(f"PRAGMA max_page_count={store.rows('PRAGMA page_count')[0][0]}")
    with store.transaction():
        add(store, "before")
        add(store, "x" * 100_000)


REFUSED: dict[str, tuple[Callable[[Database], object], type[ResumeproofError], str]] = {
    "a key that exists": (
        lambda store: add(store, "seed"),
        ConstraintViolated,
        "UNIQUE constraint failed: fact.text",
    ),
    "a CHECK": (
        lambda store: add(store, ""),
        ConstraintViolated,
        "CHECK constraint failed: text <> ''",
    ),
    "a STRICT type": (
        lambda store: store.execute("INSERT INTO fact VALUES ('one', 'a')"),
        ConstraintViolated,
        "datatype mismatch",
    ),
    "a trigger": (
        lambda store: store.execute("DELETE FROM fact"),
        ConstraintViolated,
        "fact is append-only",
    ),
    "a trigger by way of REPLACE": (
        lambda store: store.execute("REPLACE INTO fact (text) VALUES ('seed')"),
        ConstraintViolated,
        "fact is append-only",
    ),
    "a table that is not there": (
        lambda store: store.rows("SELECT * FROM nowhere"),
        StoreRefused,
        "no such table: nowhere",
    ),
    "text that is not UTF-8": (
        not_utf8,
        StoreRefused,
        "Could not decode to UTF-8 column 'text' with text '\ufffd'",
    ),
    "a full disk": (filled, StoreUnavailable, "database or disk is full"),
}


@pytest.mark.parametrize("refused", REFUSED)
def test_an_error_of_sqlite_becomes_one_with_facts(
    store: Database, path: Path, refused: str
) -> None:
    act, error, said = REFUSED[refused]
    with pytest.raises(error) as raised:
        act(store)
    assert list(raised.value.facts.values()) == ["ledger", str(path), said]


def test_a_full_disk_leaves_the_transaction_wholly_absent(store: Database) -> None:
    with pytest.raises(StoreUnavailable):
        filled(store)
    assert texts(store) == ["seed"]


@pytest.mark.parametrize("read", ["rows", "each"])
def test_damage_met_in_the_middle_is_named(path: Path, read: str) -> None:
    with open_writer(path, TOY) as store:
        add(store, *(f"{number:0500d}" for number in range(100)))
    content = bytearray(path.read_bytes())
    content[20 * 4096 :] = bytes(len(content) - 20 * 4096)
    path.write_bytes(content)
    before = path.read_bytes()
    with open_reader(path, TOY) as store, pytest.raises(StoreRefused) as refused:
        list(getattr(store, read)("SELECT text FROM fact ORDER BY id"))
    assert (refused.value.path, refused.value.reason, path.read_bytes()) == (
        str(path),
        "database disk image is malformed",
        before,
    )


def test_misuse_stays_a_bug(store: Database) -> None:
    with pytest.raises(sqlite3.ProgrammingError):
        store.execute("SELECT ?", [])


def test_an_older_sqlite_is_named(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "OLDEST_SQLITE", (99, 0, 0))
    with pytest.raises(StoreUnavailable, match=r"SQLite [\d.]+ is older than 99\.0\.0"):
        open_writer(path, TOY)


# -- cost ------------------------------------------------------------------------------------


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace counts the syncs")
def test_a_commit_is_one_sync(path: Path, tmp_path: Path) -> None:
    code = """
with open_writer(path, TOY) as store:
    for number in range(int(sys.argv[2])):
        with store.transaction():
            store.execute("INSERT INTO fact (text) VALUES (?)", [str(number)])
"""

    def syncs(commits: int) -> int:
        log = tmp_path / f"{commits}.log"
        wrap = ("strace", "-qq", "-e", "trace=fsync,fdatasync", "-o", str(log))
        copy = tmp_path / f"{commits}.sqlite3"
        shutil.copy(path, copy)
        with Child(code, copy, str(commits), wrap=wrap) as child:
            assert child.end() == (0, "", "")
        return len(re.findall(r"^f(?:data)?sync\(", log.read_text(), re.MULTILINE))

    assert syncs(30) - syncs(10) == 20
