from __future__ import annotations

import errno
import os
import sqlite3
import stat
from contextlib import ExitStack
from pathlib import Path

import pytest

from resumeproof.errors import StoreNotFound, StoreUnavailable
from resumeproof.stores.birth import create
from tests.unit.stores.toy import TOY, TOY_2, Child, facts, files, is_at_rest, seed


def test_a_store_is_born_with_its_marks_its_schema_and_its_rows(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    assert create(path, TOY_2, seed=seed)
    header = path.read_bytes()[:100]
    assert (header[68:72], header[60:64], facts(path), is_at_rest(path), list(files(tmp_path))) == (
        TOY_2.application_id.to_bytes(4, "big"),
        (2).to_bytes(4, "big"),
        ["seed"],
        True,
        ["store.sqlite3"],
    )


def test_a_store_may_be_read_by_whom_the_umask_lets(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    before = os.umask(0o027)
    try:
        create(path, TOY, seed=seed)
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("there", ["store", "text", "directory"])
def test_what_is_there_is_never_replaced(tmp_path: Path, there: str) -> None:
    path = tmp_path / "store.sqlite3"
    if there == "store":
        create(path, TOY, seed=seed)
    elif there == "text":
        path.write_text("mine")
    else:
        path.mkdir()
    before = files(tmp_path)
    assert (create(path, TOY, seed=seed), files(tmp_path)) == (False, before)


def test_a_store_is_born_where_a_dangling_symlink_points(tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(tmp_path / "store.sqlite3")
    assert create(tmp_path / "alias", TOY, seed=seed)
    assert facts(tmp_path / "store.sqlite3") == ["seed"]


def test_a_missing_directory_is_not_created(tmp_path: Path) -> None:
    with pytest.raises(StoreNotFound):
        create(tmp_path / "nowhere" / "store.sqlite3", TOY, seed=seed)
    assert list(tmp_path.iterdir()) == []


def test_a_seed_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def failing(connection: sqlite3.Connection) -> None:
        seed(connection)
        raise ValueError("no such seed")

    with pytest.raises(ValueError, match="no such seed"):
        create(tmp_path / "store.sqlite3", TOY, seed=failing)
    assert list(tmp_path.iterdir()) == []


def test_of_eight_creators_one_wins_and_all_use_its_store(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    code = """
say("ready")
hear()
say("won" if create(path, TOY, seed=seed) else "lost")
with open_writer(path, TOY) as store:
    store.execute("INSERT INTO fact (text) VALUES (?)", [sys.argv[2]])
"""
    with ExitStack() as stack:
        children = [stack.enter_context(Child(code, path, str(turn))) for turn in range(8)]
        for child in children:
            child.expect("ready")
        for child in children:
            child.tell()
        ends = [child.end() for child in children]
    assert sorted(ends) == [(0, "lost", "")] * 7 + [(0, "won", "")]
    assert sorted(facts(path)) == sorted(["seed", *map(str, range(8))])
    assert list(files(tmp_path)) == ["store.sqlite3"]


def test_a_store_whose_name_cannot_be_made_durable_is_not_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync = os.fsync

    def fail_for_a_directory(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", fail_for_a_directory)
    with pytest.raises(StoreUnavailable, match="no space left"):
        create(tmp_path / "store.sqlite3", TOY, seed=seed)
    assert files(tmp_path) == {}


SLOW_BIRTH = """
def slow(connection):
    seed(connection)
    say("building")
    hear()
create(path, TOY, seed=slow)
"""


def test_the_next_creator_removes_what_a_killed_one_left(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    with Child(SLOW_BIRTH, path) as child:
        child.expect("building")
        child.kill()
    (left,) = files(tmp_path)
    assert (left.startswith(".store.sqlite3."), left.endswith(".birth")) == (True, True)
    assert create(path, TOY, seed=seed)
    assert list(files(tmp_path)) == ["store.sqlite3"]


def test_another_stores_birth_name_is_left_alone(tmp_path: Path) -> None:
    other = tmp_path / ".other.sqlite3.1-2.birth"
    other.touch()
    create(tmp_path / "store.sqlite3", TOY, seed=seed)
    assert other.exists()


def test_a_creator_that_is_still_building_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    with Child(SLOW_BIRTH, path) as child:
        child.expect("building")
        with pytest.raises(StoreUnavailable):
            create(path, TOY, seed=seed, busy_timeout_seconds=0.05)
        child.tell()
        assert child.end() == (0, "", "")
    assert (create(path, TOY, seed=seed), facts(path)) == (False, ["seed"])


@pytest.mark.parametrize("there", [False, True], ids=["free", "taken"])
def test_a_file_system_without_links_renames_and_replaces_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    path = tmp_path / "store.sqlite3"

    def refuse(*_: object, **__: object) -> None:
        if there:
            path.write_text("mine")
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", refuse)
    born = create(path, TOY, seed=seed)
    assert (born, list(files(tmp_path))) == (not there, ["store.sqlite3"])
    assert path.read_bytes()[:4] == (b"mine" if there else b"SQLi")
