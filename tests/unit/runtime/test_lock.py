from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from resumeproof.errors import (
    JournalBusy,
    ResumeproofError,
    StoreNotFound,
    StoreRefused,
    StoreUnavailable,
)
from resumeproof.runtime.lock import (
    DriverLock,
    LockState,
    Owner,
    lock_path,
    probe,
)

SINCE = "2026-01-02T03:04:05.000000Z"
FREE = LockState(held=False, owner=None)


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "journal.sqlite3"


def lock_of(journal: Path, token: str = "driver_a") -> DriverLock:
    return DriverLock(journal, token=token, started_at=SINCE)


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def leave_lock_file(journal: Path, owner: Owner) -> None:
    """What a dead driver leaves: its record, and no lock."""
    record = {"pid": owner.pid, "started_at": owner.started_at, "token": owner.token}
    lock_path(journal).write_bytes(f" {json.dumps(record)}".encode().ljust(511) + b"\n")


# -- taking and giving back ------------------------------------------------------------------


def test_a_lock_is_held_from_acquire_to_the_end_of_its_block(journal: Path) -> None:
    lock = lock_of(journal)
    with lock.acquire(0) as entered:
        inside = (entered is lock, lock.held, probe(journal))
    owner = Owner(os.getpid(), SINCE, "driver_a")
    assert inside == (True, True, LockState(held=True, owner=owner))
    assert (lock.held, probe(journal), names(journal.parent)) == (False, FREE, [])


def test_a_block_that_raises_gives_the_lock_back(journal: Path) -> None:
    with pytest.raises(KeyError), lock_of(journal).acquire(0):
        raise KeyError
    assert (probe(journal), names(journal.parent)) == (FREE, [])


def test_a_lock_can_be_taken_again_after_its_release(journal: Path) -> None:
    lock = lock_of(journal)
    for _ in range(2):
        with lock.acquire(0):
            assert probe(journal).held
    assert not probe(journal).held


def test_release_of_what_is_not_held_takes_nothing_away(journal: Path) -> None:
    other = lock_of(journal, "driver_b")
    with lock_of(journal).acquire(0):
        other.release()
        with pytest.raises(JournalBusy):
            other.acquire(0)
        other.release()
        assert probe(journal).driven_by("driver_a")


def test_busy_names_the_owner_for_people_to_read(journal: Path) -> None:
    with lock_of(journal).acquire(0), pytest.raises(JournalBusy) as caught:
        lock_of(journal, "driver_b").acquire(0)
    waited_seconds = caught.value.waited_seconds
    assert caught.value.facts == {
        "path": str(journal),
        "owner": f"pid {os.getpid()}, since {SINCE}",
        "waited_seconds": waited_seconds,
    }
    assert waited_seconds < 5


def test_busy_waits_for_as_long_as_it_was_told(journal: Path) -> None:
    with lock_of(journal).acquire(0), pytest.raises(JournalBusy) as caught:
        lock_of(journal, "driver_b").acquire(0.2)
    assert 0.2 <= caught.value.waited_seconds < 5


@pytest.mark.parametrize("timeout_seconds", [-1, float("inf"), float("nan")])
def test_every_wait_is_bounded(journal: Path, timeout_seconds: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        lock_of(journal).acquire(timeout_seconds)
    assert names(journal.parent) == []


def test_an_owner_record_is_bounded(journal: Path) -> None:
    lock = lock_of(journal, "x" * 512)
    with pytest.raises(ValueError, match="512 bytes"):
        lock.acquire(0)
    assert (lock.held, probe(journal)) == (False, FREE)


# -- what lies where the lock file should ----------------------------------------------------


def test_a_missing_directory_is_refused_and_not_made(tmp_path: Path) -> None:
    with pytest.raises(StoreNotFound) as caught:
        lock_of(tmp_path / "mistyped" / "journal").acquire(0)
    assert caught.value.facts == {"kind": "directory", "path": str(tmp_path / "mistyped")}
    assert names(tmp_path) == []


def test_a_file_of_somebody_else_is_neither_overwritten_nor_removed(tmp_path: Path) -> None:
    """`--journal uv` in a directory with a `uv.lock`."""
    stranger = tmp_path / "uv.lock"
    stranger.write_text("version = 1\n")
    with pytest.raises(StoreRefused) as caught:
        lock_of(tmp_path / "uv").acquire(0)
    assert caught.value.facts == {
        "kind": "lock file",
        "path": str(stranger),
        "reason": "it is not one of ours",
    }
    assert (stranger.read_text(), probe(tmp_path / "uv")) == ("version = 1\n", FREE)


def make_directory(path: Path) -> None:
    path.mkdir()


def make_dangling_link(path: Path) -> None:
    path.symlink_to("nowhere")


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


@pytest.mark.skipif(sys.platform == "win32", reason="kinds of file that only POSIX has")
@pytest.mark.parametrize(
    ("make", "expected"),
    [
        pytest.param(make_directory, (StoreUnavailable, "Is a directory"), id="directory"),
        pytest.param(make_dangling_link, (StoreUnavailable, "symbolic link"), id="dangling_link"),
        pytest.param(make_pipe, (StoreUnavailable, "Illegal seek"), id="pipe"),
    ],
)
def test_what_cannot_be_a_lock_file_is_a_named_error(
    journal: Path, make: Callable[[Path], None], expected: tuple[type[ResumeproofError], str]
) -> None:
    make(lock_path(journal))
    with pytest.raises(expected[0], match=expected[1]):
        lock_of(journal).acquire(0)
    assert names(journal.parent) == ["journal.sqlite3.lock"]


def test_a_strangers_live_pid_in_the_record_changes_nothing(journal: Path) -> None:
    leave_lock_file(journal, Owner(os.getppid(), SINCE, "driver_dead"))
    assert probe(journal) == LockState(False, Owner(os.getppid(), SINCE, "driver_dead"))
    with lock_of(journal).acquire(0):
        assert probe(journal) == LockState(True, Owner(os.getpid(), SINCE, "driver_a"))


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"\0" * 512, id="nul"),
        pytest.param(b" []".ljust(512), id="no_object"),
        pytest.param(b' {"pid": 1}'.ljust(512), id="no_token"),
        pytest.param(b"\xff" * 512, id="no_text"),
    ],
)
def test_a_record_that_says_nothing_locks_nobody_out(journal: Path, content: bytes) -> None:
    lock_path(journal).write_bytes(content)
    assert probe(journal) == FREE
    with lock_of(journal).acquire(0):
        assert probe(journal).driven_by("driver_a")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows deletes no open file")
def test_release_leaves_the_file_of_a_driver_that_took_over(journal: Path) -> None:
    """Somebody deleted the lock file, and with it the lock: the next driver has another."""
    zombie, successor = lock_of(journal), lock_of(journal, "driver_b")
    zombie.acquire(0)
    lock_path(journal).unlink()
    with successor.acquire(0):
        zombie.release()
        with pytest.raises(JournalBusy):
            lock_of(journal, "driver_c").acquire(0)
        assert probe(journal).driven_by("driver_b")
    assert probe(journal) == FREE


# -- asking ----------------------------------------------------------------------------------


def test_probe_creates_nothing(journal: Path) -> None:
    assert (probe(journal), probe(journal / "deeper"), names(journal.parent)) == (FREE, FREE, [])


def test_probe_alters_nothing(journal: Path) -> None:
    leave_lock_file(journal, Owner(1, SINCE, "driver_dead"))
    before = lock_path(journal).read_bytes(), lock_path(journal).stat().st_mtime_ns
    probe(journal)
    assert (lock_path(journal).read_bytes(), lock_path(journal).stat().st_mtime_ns) == before


@pytest.mark.skipif(sys.platform == "win32", reason="Windows deletes no open file")
def test_probe_sees_the_driver_that_took_over_while_it_looked(
    journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between opening the file and asking the kernel, the lock changes hands, and its file."""
    first, second = lock_of(journal).acquire(0), lock_of(journal, "driver_b")
    open_file = os.open

    def open_then_hand_over(path: Path, flags: int) -> int:
        descriptor = open_file(path, flags)
        monkeypatch.undo()
        first.release()
        second.acquire(0)
        return descriptor

    monkeypatch.setattr(os, "open", open_then_hand_over)
    state = probe(journal)
    second.release()
    assert state == LockState(held=True, owner=Owner(os.getpid(), SINCE, "driver_b"))


@pytest.mark.skipif(sys.platform == "win32", reason="kinds of file that only POSIX has")
def test_probe_does_not_hang_on_a_pipe(journal: Path) -> None:
    os.mkfifo(lock_path(journal))
    with pytest.raises(StoreUnavailable, match="Illegal seek"):
        probe(journal)


OURS = Owner(1, SINCE, "driver_a")


@pytest.mark.parametrize(
    ("state", "driven"),
    [
        pytest.param(LockState(True, OURS), True, id="held_by_the_token"),
        pytest.param(LockState(True, Owner(1, SINCE, "driver_b")), False, id="held_by_another"),
        pytest.param(LockState(False, OURS), False, id="free"),
        pytest.param(LockState(True, None), False, id="held_by_nobody_known"),
    ],
)
def test_driving_takes_the_lock_and_the_token(state: LockState, driven: bool) -> None:
    assert state.driven_by("driver_a") is driven
