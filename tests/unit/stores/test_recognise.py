from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from resumeproof.errors import HardLinked, ResumeproofError, StoreNotFound, StoreRefused
from resumeproof.stores.birth import create
from resumeproof.stores.kind import StoreKind
from resumeproof.stores.opening import open_reader, open_writer
from tests.unit.stores.toy import TOY, TOY_2, Child, facts, files, is_at_rest, seed

OTHER = StoreKind("journal", 0x6F746872, 1, TOY.schema_sql)
DIE_AFTER_COMMIT = """
store = open_writer(path, {kind})
with store.transaction():
    store.execute("INSERT INTO fact (text) VALUES ('second')")
say("committed")
hear()
"""


def written(path: Path, kind: str = "TOY") -> None:
    """A store whose writer was killed after a commit, with its -wal."""
    with Child(DIE_AFTER_COMMIT.format(kind=kind), path) as child:
        child.expect("committed")
        child.kill()


def altered(path: Path, offset: int, new: bytes) -> None:
    content = bytearray(path.read_bytes())
    content[offset : offset + len(new)] = new
    path.write_bytes(content)


def nul_filled(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def truncated(path: Path) -> None:
    os.truncate(path, 4096)


def grown_then_cut_in_a_page(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 1)


def with_a_foreign_wal(path: Path) -> None:
    donor = path.with_name("donor.sqlite3")
    shutil.copy(path, donor)
    written(donor)
    donor.with_name("donor.sqlite3-wal").rename(path.with_name(path.name + "-wal"))


def foreign_store_with_wal(path: Path) -> None:
    """A -wal of another application beside a store that is in WAL itself."""
    written(path)
    other = path.with_name("other.sqlite3")
    create(other, OTHER, seed=seed)
    code = DIE_AFTER_COMMIT.replace("open_writer(path, {kind})", "sqlite3.connect(path)")
    code = code.replace(
        "with store.transaction():",
        "store.execute('PRAGMA journal_mode=WAL');"
        "store.execute('PRAGMA user_version=1')\nwith store:",
    )
    with Child(code, other) as child:
        child.expect("committed")
        child.kill()
    other.with_name("other.sqlite3-wal").replace(path.with_name(path.name + "-wal"))


def with_a_foreign_journal(path: Path) -> None:
    donor = path.with_name("donor.sqlite3")
    shutil.copy(path, donor)
    code = """
store = sqlite3.connect(path, isolation_level=None)
store.execute("PRAGMA cache_size=1")
store.execute("BEGIN")
store.executemany("INSERT INTO fact (text) VALUES (?)", ((str(n) * 100,) for n in range(1000)))
say("spilled")
hear()
"""
    with Child(code, donor) as child:
        child.expect("spilled")
        child.kill()
    donor.with_name("donor.sqlite3-journal").rename(path.with_name(path.name + "-journal"))


def killed_while_newer(path: Path) -> None:
    """A newer program migrated in the -wal and died: the file itself still says schema 1."""
    written(path, "TOY_2")
    assert path.read_bytes()[60:64] == b"\0\0\0\1"


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "empty": (lambda path: path.write_bytes(b""), "it is empty"),
    "NUL-filled": (nul_filled, "it begins with nothing but NUL bytes"),
    "text": (lambda path: path.write_text("no database " * 1000), "it is not a SQLite database"),
    "header only in part": (lambda path: os.truncate(path, 50), "it is not a SQLite database"),
    "another application_id": (
        lambda path: altered(path, 68, b"othr"),
        "it is not a ledger (application_id 0x6f746872)",
    ),
    "no schema version": (lambda path: altered(path, 60, bytes(4)), "it has no schema version"),
    "newer schema": (
        lambda path: altered(path, 60, b"\0\0\0\7"),
        "its schema 7 is newer than 1, the newest known here",
    ),
    "newer schema in the -wal": (
        killed_while_newer,
        "its schema 2 is newer than 1, the newest known here",
    ),
    "truncated": (truncated, "it is truncated (4096 bytes of 12288)"),
    "truncated within a page": (
        grown_then_cut_in_a_page,
        "it is truncated (12287 bytes of 12288)",
    ),
    "a stranger's -wal at rest": (
        with_a_foreign_wal,
        "it is at rest, so the -wal beside it is a stranger's",
    ),
    "a stranger's -wal in WAL": (
        foreign_store_with_wal,
        "it is not a ledger (application_id 0x6f746872)",
    ),
    "a stranger's -journal": (with_a_foreign_journal, "the -journal beside it is a stranger's"),
    "schema overwritten": (
        lambda path: altered(path, 100, b"\xff" * 200),
        "database disk image is malformed",
    ),
}


@pytest.mark.parametrize("opened", [open_writer, open_reader], ids=["writer", "reader"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_what_is_not_ours_or_not_whole_is_refused_and_left_as_it_was(
    tmp_path: Path, damage: str, opened: Callable[..., object]
) -> None:
    path = tmp_path / "store.sqlite3"
    create(path, TOY, seed=seed)
    make, reason = DAMAGE[damage]
    make(path)
    before = files(tmp_path)
    with pytest.raises(StoreRefused) as refused:
        opened(path, TOY)
    found = refused.value
    assert (found.kind, found.path, found.reason[: len(reason)]) == ("ledger", str(path), reason)
    assert files(tmp_path) == before


@pytest.mark.parametrize("bytes_kept", [0, 32], ids=["empty", "a header"])
def test_a_wal_that_holds_nothing_is_no_strangers(tmp_path: Path, bytes_kept: int) -> None:
    """A power cut can bring the -journal of the way to WAL back; a death follows its undoing."""
    path = tmp_path / "store.sqlite3"
    create(path, TOY, seed=seed)
    donor = tmp_path / "donor.sqlite3"
    shutil.copy(path, donor)
    written(donor)
    wal = donor.with_name("donor.sqlite3-wal").read_bytes()[:bytes_kept]
    path.with_name(path.name + "-wal").write_bytes(wal)
    with open_reader(path, TOY) as store:
        assert [str(text) for (text,) in store.rows("SELECT text FROM fact")] == ["seed"]
    # The next death must find it in WAL by its header, too.
    written(path)
    with open_writer(path, TOY):
        pass
    assert facts(path) == ["seed", "second"]


@pytest.mark.parametrize("opened", [open_writer, open_reader], ids=["writer", "reader"])
@pytest.mark.parametrize("kept", [0, 512], ids=["nothing", "a sector"])
def test_a_frame_that_a_power_cut_left_hollow_says_nothing(
    tmp_path: Path, kept: int, opened: Callable[..., Any]
) -> None:
    """Heads of frames can be on the disk without their pages: SQLite goes by their checksums."""
    path = tmp_path / "store.sqlite3"
    create(path, TOY, seed=seed)
    with Child(DIE_AFTER_COMMIT.format(kind="TOY").replace("second", "x" * 9000), path) as child:
        child.expect("committed")
        child.kill()
    wal = path.with_name("store.sqlite3-wal")
    frames = range(32, wal.stat().st_size, 24 + 4096)
    content = wal.read_bytes()
    (first_page,) = (at for at in frames if content[at : at + 4] == b"\0\0\0\1")
    altered(wal, first_page + 24 + kept, bytes(4096 - kept))

    with opened(path, TOY) as store:
        assert [str(text) for (text,) in store.rows("SELECT text FROM fact")] == ["seed"]


def a_directory(path: Path) -> None:
    path.mkdir()


def a_fifo(path: Path) -> None:
    os.mkfifo(path)


def a_symlink_loop(path: Path) -> None:
    path.symlink_to(path.with_name("other"))
    path.with_name("other").symlink_to(path)


PLACES: dict[str, tuple[Callable[[Path], object], ResumeproofError]] = {
    "nothing": (lambda path: None, StoreNotFound("ledger", "{path}")),
    "a directory": (a_directory, StoreRefused("ledger", "{path}", "it is a directory")),
    "a fifo": (a_fifo, StoreRefused("ledger", "{path}", "it is not a regular file")),
    "a symlink loop": (
        a_symlink_loop,
        StoreRefused("ledger", "{path}", "its symbolic links lead in a circle"),
    ),
    "a dangling symlink": (
        lambda path: path.symlink_to(path.with_name("nowhere")),
        StoreNotFound("ledger", "{path.parent}/nowhere"),
    ),
}


@pytest.mark.parametrize("opened", [open_writer, open_reader], ids=["writer", "reader"])
@pytest.mark.parametrize("place", PLACES)
def test_what_is_no_file_is_named_and_nothing_is_created(
    tmp_path: Path, place: str, opened: Callable[..., object]
) -> None:
    path = tmp_path / "store.sqlite3"
    make, error = PLACES[place]
    make(path)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(type(error)) as refused:
        opened(path, TOY)
    expected = {name: str(fact).format(path=path) for name, fact in error.facts.items()}
    assert (refused.value.facts, sorted(tmp_path.iterdir())) == (expected, before)


def test_a_missing_directory_is_a_store_not_found(tmp_path: Path) -> None:
    with pytest.raises(StoreNotFound):
        open_writer(tmp_path / "nowhere" / "store.sqlite3", TOY)


def test_a_second_hard_link_is_refused_for_writing_and_may_be_read(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    create(path, TOY, seed=seed)
    (tmp_path / "alias.sqlite3").hardlink_to(path)
    before = files(tmp_path)
    with pytest.raises(HardLinked) as refused:
        open_writer(path, TOY)
    with open_reader(path, TOY) as store:
        read = store.rows("SELECT text FROM fact")
    assert (refused.value.links, [text for (text,) in read]) == (2, ["seed"])
    assert files(tmp_path) == before


def test_a_birth_name_left_beside_a_store_is_removed_by_the_next_writer(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    create(path, TOY, seed=seed)
    (tmp_path / ".store.sqlite3.1-2.birth").hardlink_to(path)
    open_writer(path, TOY).close()
    assert list(files(tmp_path)) == ["store.sqlite3"]


def test_an_uncommitted_newer_schema_in_the_wal_does_not_count(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    create(path, TOY, seed=seed)
    code = """
store = open_writer(path, TOY)
connection = store.connection
connection.execute("PRAGMA cache_size=1")
connection.execute("BEGIN")
connection.execute("PRAGMA user_version=2")
connection.executemany("INSERT INTO fact (text) VALUES (?)", ((str(n) * 99,) for n in range(999)))
say("spilled")
hear()
"""
    with Child(code, path) as child:
        child.expect("spilled")
        child.kill()
    assert path.with_name(path.name + "-wal").stat().st_size > 100_000
    open_writer(path, TOY).close()
    assert (facts(path), is_at_rest(path)) == (["seed"], True)


def test_a_store_of_the_newest_schema_is_opened_by_those_who_know_it(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    create(path, TOY, seed=seed)
    written(path, "TOY_2")
    open_writer(path, TOY_2).close()
    assert (facts(path), is_at_rest(path)) == (["seed", "second"], True)


def test_an_empty_wal_beside_a_store_at_rest_is_nobodys(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    create(path, TOY, seed=seed)
    path.with_name(path.name + "-wal").touch()
    open_writer(path, TOY).close()
    assert (facts(path), is_at_rest(path)) == (["seed"], True)


def test_no_sqlite_is_asked_about_what_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE mine (a)")
    connection.execute("PRAGMA journal_mode=WAL")
    connection.close()
    before = files(tmp_path)
    with pytest.raises(StoreRefused, match="not a ledger"):
        open_writer(path, TOY)
    assert files(tmp_path) == before
