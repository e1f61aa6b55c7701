from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from resumeproof.errors import StoreUnavailable
from resumeproof.stores.birth import create
from resumeproof.stores.gate import gate
from resumeproof.stores.opening import open_reader, open_writer
from resumeproof.stores.place import raw
from resumeproof.stores.protocols import Durability
from resumeproof.stores.sqlite import Database
from tests.unit.stores.toy import HOLD_OPEN, TOY, Child, add, facts, files, is_at_rest, seed, texts


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "store.sqlite3"
    create(path, TOY, seed=seed)
    return path


@pytest.mark.parametrize(
    "name",
    [
        "plain",
        "with space",
        "what?",
        "a#b",
        "100%25",
        "ünïcode",
        "a'b",
        'a"b',
        "a&mode=rwc",
        "-wal",
    ],
)
def test_a_store_is_written_read_and_at_rest_under_any_name(tmp_path: Path, name: str) -> None:
    path = tmp_path / name / name
    path.parent.mkdir()
    create(path, TOY, seed=seed)
    with open_writer(path, TOY) as store:
        add(store, "second")
    with open_reader(path, TOY) as store:
        read = texts(store)
    assert (read, is_at_rest(path), list(tmp_path.iterdir())) == (
        ["seed", "second"],
        True,
        [path.parent],
    )


def test_a_relative_path_and_a_symlink_lead_to_the_one_file(
    path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "alias").symlink_to(path)
    monkeypatch.chdir(elsewhere)
    with open_writer("alias", TOY) as store:
        beside = list(files(elsewhere))
        found = store.path
    assert (found, beside, is_at_rest(path)) == (path.resolve(), ["alias"], True)


def test_what_was_in_force_is_recorded(path: Path) -> None:
    with open_writer(path, TOY) as writer:
        writing = writer.durability
    with open_reader(path, TOY) as reader:
        reading = reader.durability
    assert (writing, reading) == (Durability("wal", "full"), Durability("delete", "full"))


def test_every_rule_of_a_store_is_switched_on(path: Path) -> None:
    with open_writer(path, TOY) as store:
        settings = {
            pragma: store.rows(f"PRAGMA {pragma}")[0][0]
            for pragma in ("busy_timeout", "foreign_keys", "recursive_triggers", "trusted_schema")
        }
    assert settings == {
        "busy_timeout": 10_000,
        "foreign_keys": 1,
        "recursive_triggers": 1,
        "trusted_schema": 0,
    }


def test_opening_and_closing_changes_no_byte_for_a_reader(path: Path) -> None:
    before = files(path.parent)
    with open_reader(path, TOY) as store:
        texts(store)
    assert files(path.parent) == before


def test_a_reader_cannot_write(path: Path) -> None:
    with open_reader(path, TOY) as store, pytest.raises(StoreUnavailable, match="readonly"):
        add(store, "second")


def test_a_reader_sees_each_commit_of_a_live_writer(path: Path) -> None:
    with open_writer(path, TOY) as writer, open_reader(path, TOY) as reader:
        before = texts(reader)
        add(writer, "second")
        after = texts(reader)
    assert (before, after, is_at_rest(path)) == (["seed"], ["seed", "second"], True)


def test_a_live_store_is_read_in_place(path: Path) -> None:
    with Child(HOLD_OPEN, path) as child:
        child.expect("open")
        child.tell()
        child.expect("committed")
        with open_reader(path, TOY) as reader:
            read = texts(reader)
            found = Path(reader.rows("PRAGMA database_list")[0]["file"])
        child.tell()
        child.expect("closed")
        assert (child.end()[0], read, found) == (0, ["seed", "second"], path.resolve())
    assert is_at_rest(path)


@pytest.mark.parametrize("opened_first", ["reader", "writer"])
def test_a_reader_that_outlives_the_last_writer_leaves_the_store_at_rest(
    path: Path, opened_first: str
) -> None:
    with Child(HOLD_OPEN, path) as child:
        if opened_first == "writer":
            child.expect("open")
        with open_reader(path, TOY) as reader:
            before = texts(reader)
            if opened_first == "reader":
                child.expect("open")
            child.tell()
            child.expect("committed")
            after = texts(reader)
            child.tell()
            child.expect("closed")
            ended = child.end()
            left = facts_of_a_lone_copy(path)
    assert (ended, before, after, left) == ((0, "", ""), ["seed"], *[["seed", "second"]] * 2)
    assert is_at_rest(path)


def facts_of_a_lone_copy(path: Path) -> list[str]:
    """What somebody gets who copies the file alone while it is being read."""
    with tempfile.TemporaryDirectory() as directory:
        copy = Path(directory) / "copy.sqlite3"
        with raw(path) as descriptor:
            copy.write_bytes(os.pread(descriptor, 1 << 20, 0))
        return facts(copy)


def test_a_query_that_was_not_read_to_its_end_does_not_keep_the_store_open(path: Path) -> None:
    store = open_writer(path, TOY)
    add(store, "second")
    query = store.each("SELECT text FROM fact")
    next(query)
    store.close()
    assert is_at_rest(path)


@pytest.mark.parametrize(
    ("lost", "copies_made"), [("", 0), ("-shm", 1)], ids=["all files", "no shm"]
)
def test_a_store_left_by_a_death_is_read_and_not_touched(
    path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    lost: str,
    copies_made: int,
) -> None:
    with Child(HOLD_OPEN, path) as child:
        child.expect("open")
        child.tell()
        child.expect("committed")
        child.kill()
    if lost:
        path.with_name(path.name + lost).unlink()
    before = files(path.parent)
    copies = tmp_path_factory.mktemp("copies")
    monkeypatch.setattr(tempfile, "tempdir", str(copies))
    with open_reader(path, TOY) as store:
        read, copied = texts(store), len(list(copies.iterdir()))
        with pytest.raises(StoreUnavailable, match="readonly"):
            add(store, "third")
    assert (read, copied, list(copies.iterdir())) == (["seed", "second"], copies_made, [])
    assert files(path.parent) == before


def test_the_writer_after_a_death_brings_the_store_to_rest(path: Path) -> None:
    with Child(HOLD_OPEN, path) as child:
        child.expect("open")
        child.tell()
        child.expect("committed")
        child.kill()
    open_writer(path, TOY).close()
    assert (facts(path), is_at_rest(path)) == (["seed", "second"], True)


HOLD_SNAPSHOT = """
store = open_reader(path, TOY)
with store.snapshot():
    store.rows("SELECT text FROM fact")
    say("reading")
    hear()
store.close()
say("closed")
"""


def test_a_writer_waits_for_a_reader_that_is_in_the_middle(path: Path) -> None:
    with Child(HOLD_SNAPSHOT, path) as reader:
        reader.expect("reading")
        before = files(path.parent)
        with pytest.raises(StoreUnavailable, match="locked"):
            open_writer(path, TOY, busy_timeout_seconds=0.05)
        assert files(path.parent) == before
        with Child(HOLD_OPEN, path) as writer:
            reader.tell()
            reader.expect("closed")
            writer.expect("open")
            writer.tell()
            writer.expect("committed")
            writer.tell()
            writer.expect("closed")
            assert (reader.end(), writer.end()) == ((0, "", ""),) * 2
    assert (facts(path), is_at_rest(path)) == (["seed", "second"], True)


@pytest.mark.parametrize("opened", [open_writer, open_reader], ids=["writer", "reader"])
def test_who_opens_waits_at_the_gate_no_longer_than_told(
    path: Path, opened: Callable[..., Database]
) -> None:
    with gate(path, "ledger", 1.0) as real, pytest.raises(StoreUnavailable) as refused:
        opened(path, TOY, busy_timeout_seconds=0.05)
    assert (real, refused.value.cause) == (True, "others were opening or closing it for 0.05 s")


def test_a_death_at_the_gate_opens_it(path: Path) -> None:
    code = """
from resumeproof.stores.gate import gate
with gate(path, "ledger", 1.0):
    say("inside")
    hear()
"""
    with Child(code, path) as child:
        child.expect("inside")
        child.kill()
    open_writer(path, TOY, busy_timeout_seconds=0.05).close()


LAST = """
try:
    open_writer(path, TOY, busy_timeout_seconds=0.05).close()
finally:
    say("rest" if path.read_bytes()[18:20] == bytes([1, 1]) else "live")
"""


def test_looking_at_the_bytes_of_an_open_store_does_not_drop_its_locks(path: Path) -> None:
    with open_writer(path, TOY) as writer:
        for _ in range(3):
            open_reader(path, TOY).close()
        with Child(LAST, path) as other:
            # Had the lock been dropped, the other would have thought itself the last.
            assert other.end() == (0, "live", "")
        add(writer, "second")
    assert (facts(path), is_at_rest(path)) == (["seed", "second"], True)


def test_readers_beside_an_open_store_use_up_no_descriptors(path: Path) -> None:
    this = psutil.Process()
    with open_writer(path, TOY):
        open_reader(path, TOY).close()
        before = this.num_fds()
        for _ in range(20):
            open_reader(path, TOY).close()
        after = this.num_fds()
    assert after == before


def test_a_store_that_was_swept_away_is_closed_without_a_word(path: Path) -> None:
    store = open_writer(path, TOY)
    shutil.rmtree(path.parent)
    store.close()
    assert not path.parent.exists()
