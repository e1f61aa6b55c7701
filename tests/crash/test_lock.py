"""The driver lock among processes that really run, stop, fork and die."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from resumeproof.errors import JournalBusy
from resumeproof.runtime.lock import DriverLock, LockState, lock_path, probe

SINCE = "2026-01-02T03:04:05.000000Z"
CHILD = Path(__file__).parent / "children" / "locks.py"
CONTENDERS = 8
ROUNDS = 30

posix = pytest.mark.skipif(sys.platform == "win32", reason="fork and stop are POSIX's")


class Child:
    """A process that does one thing with the lock for each line it is sent, and answers it."""

    def __init__(self, journal: Path, token: str, directory: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, CHILD, journal, token],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=directory,
        )

    @property
    def pid(self) -> int:
        return self.process.pid

    def tell(self, *words: object) -> None:
        assert self.process.stdin is not None
        print(*words, file=self.process.stdin, flush=True)

    def hear(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().rstrip("\n")

    def ask(self, *words: object) -> str:
        self.tell(*words)
        return self.hear()

    def end(self) -> int:
        """Close its commands, and wait until it *and all it forked* are gone: the pipe ends."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        with self.process.stdout as answers:
            answers.read()
        return self.process.wait(60)


Start = Callable[..., Child]


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "journal.sqlite3"


@pytest.fixture
def start(journal: Path, tmp_path: Path) -> Iterator[Start]:
    children: list[Child] = []

    def started(
        token: str = "driver_child", *, journal: Path = journal, directory: Path = tmp_path
    ) -> Child:
        children.append(Child(journal, token, directory))
        return children[-1]

    yield started
    for child in children:
        child.process.kill()
        child.end()


def lock_of(journal: Path) -> DriverLock:
    return DriverLock(journal, token="driver_test", started_at=SINCE)


def is_free(journal: Path) -> bool:
    """Whether a driver of this process could have the lock now."""
    try:
        lock_of(journal).acquire(0).release()
    except JournalBusy:
        return False
    return True


def claimed(journal: Path, token: str) -> tuple[bool, bool, bool]:
    """What of a claim by `token` shows: its driver drives, the lock is held, the file is there."""
    state = probe(journal)
    return state.driven_by(token), state.held, lock_path(journal).exists()


# -- waiting ---------------------------------------------------------------------------------


def test_a_contender_is_told_who_holds_the_lock(start: Start, journal: Path) -> None:
    child = start()
    assert child.ask("acquire", 0) == "held"
    with pytest.raises(JournalBusy) as caught:
        lock_of(journal).acquire(0)
    assert caught.value.owner == f"pid {child.pid}, since {SINCE}"


def test_a_contender_that_waits_gets_its_turn(start: Start, journal: Path) -> None:
    child = start()
    with lock_of(journal).acquire(0):
        child.tell("acquire", 60)
    assert child.hear() == "held"
    assert claimed(journal, "driver_child") == (True, True, True)


# -- dying and stopping ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("death", "status"),
    [
        pytest.param("exit", 86, id="exit86"),
        pytest.param("kill", -9, id="sigkill", marks=posix),
    ],
)
def test_the_death_of_its_holder_frees_the_lock_at_once(
    start: Start, journal: Path, death: str, status: int
) -> None:
    child = start()
    assert child.ask("acquire", 0) == "held"
    driven = claimed(journal, "driver_child")
    child.tell(death)
    assert child.process.wait(60) == status
    dead = claimed(journal, "driver_child")
    assert (driven, dead, is_free(journal)) == ((True, True, True), (False, False, True), True)


def test_a_waiting_contender_gets_the_lock_of_a_holder_that_dies(
    start: Start, journal: Path
) -> None:
    holder, contender = start("driver_a"), start("driver_b")
    assert holder.ask("acquire", 0) == "held"
    contender.tell("acquire", 60)
    holder.process.kill()
    assert (contender.hear(), claimed(journal, "driver_b")) == ("held", (True, True, True))


def test_a_new_holder_does_not_drive_its_dead_predecessors_claim(
    start: Start, journal: Path
) -> None:
    dead, alive = start("driver_dead"), start("driver_alive")
    assert dead.ask("acquire", 0) == "held"
    dead.process.kill()
    dead.process.wait(60)
    assert alive.ask("acquire", 0) == "held"
    assert claimed(journal, "driver_dead") == (False, True, True)


@posix
def test_a_stopped_holder_keeps_the_lock(start: Start, journal: Path) -> None:
    child = start()
    assert child.ask("acquire", 0) == "held"
    child.process.send_signal(signal.SIGSTOP)
    _, status = os.waitpid(child.pid, os.WUNTRACED)
    stopped = os.WIFSTOPPED(status), is_free(journal), claimed(journal, "driver_child")
    child.process.send_signal(signal.SIGCONT)
    assert (stopped, child.ask("release")) == ((True, False, (True, True, True)), "free")
    assert is_free(journal)


# -- forking ---------------------------------------------------------------------------------


@posix
def test_a_forked_child_can_neither_release_the_lock_nor_use_it(
    start: Start, journal: Path
) -> None:
    child = start()
    assert child.ask("acquire", 0) == "held"
    # What the fork answers after `release`, `with` unwound, `acquire`: never the parent's lock.
    assert child.ask("fork") == "held=False acquire=RuntimeError"
    assert (is_free(journal), claimed(journal, "driver_child")) == (False, (True, True, True))


@posix
def test_a_forked_child_that_ends_takes_no_lock_with_it(start: Start, journal: Path) -> None:
    child = start()
    assert child.ask("acquire", 0) == "held"
    child.ask("fork")
    assert child.ask("join") == "exit 0"
    assert (is_free(journal), claimed(journal, "driver_child")) == (False, (True, True, True))


@posix
def test_a_forked_child_that_outlives_its_parent_holds_nothing(start: Start, journal: Path) -> None:
    child = start()
    assert child.ask("acquire", 0) == "held"
    child.ask("fork")
    child.process.kill()
    child.process.wait(60)
    assert (is_free(journal), probe(journal)) == (True, LockState(False, None))


# -- one lock by every name ------------------------------------------------------------------


@pytest.mark.parametrize(
    "alias",
    [
        pytest.param(Path("journal.sqlite3"), id="relative"),
        pytest.param(Path("link"), id="link_to_the_journal"),
        pytest.param(Path("directory", "journal.sqlite3"), id="link_to_its_directory"),
        pytest.param(Path("other", "..", "journal.sqlite3"), id="dots"),
    ],
)
def test_an_alias_is_the_same_lock(
    start: Start, journal: Path, tmp_path: Path, alias: Path
) -> None:
    (tmp_path / "link").symlink_to(journal)
    (tmp_path / "directory").symlink_to(".")
    (tmp_path / "other").mkdir()
    child = start(journal=alias)
    assert child.ask("acquire", 0) == "held"
    assert (is_free(journal), claimed(journal, "driver_child")) == (False, (True, True, True))
    assert [path.name for path in tmp_path.glob("*.lock")] == ["journal.sqlite3.lock"]


def test_the_working_directory_may_change_while_the_lock_is_held(
    start: Start, journal: Path
) -> None:
    child = start(journal=Path(journal.name))
    assert child.ask("acquire", 0) == "held"
    assert child.ask("chdir", "/") == "done"
    assert not is_free(journal)
    assert (child.ask("release"), is_free(journal), lock_path(journal).exists()) == (
        "free",
        True,
        False,
    )


# -- as an ordinary user in a read-only directory --------------------------------------------


@contextmanager
def read_only_directory() -> Iterator[Path]:
    """Where anybody may look, and nobody may write; not below pytest's, which are private."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        try:
            yield directory
        finally:
            directory.chmod(0o755)


@posix
def test_a_read_only_directory_is_a_named_error_and_can_be_asked(start: Start) -> None:
    with read_only_directory() as directory:
        journal = directory / "journal.sqlite3"
        child = start("driver_ordinary", journal=journal, directory=directory)
        directory.chmod(0o555)
        assert child.ask("ordinary") == "done"
        refused = f"lock file {lock_path(journal)} is not available: Permission denied"
        assert child.ask("acquire", 0) == f"StoreUnavailable: {refused}"
        assert child.ask("probe", "driver_test") == "held=False driven=False"
        assert list(directory.iterdir()) == []


@posix
def test_an_ordinary_user_sees_whether_a_driver_drives_in_a_read_only_directory(
    start: Start,
) -> None:
    with read_only_directory() as directory:
        journal = directory / "journal.sqlite3"
        child = start("driver_ordinary", journal=journal, directory=directory)
        with lock_of(journal).acquire(0):
            directory.chmod(0o555)
            assert child.ask("ordinary") == "done"
            assert child.ask("probe", "driver_test") == "held=True driven=True"
            assert child.ask("probe", "driver_dead") == "held=True driven=False"


# -- many at once ----------------------------------------------------------------------------


def test_many_processes_that_take_and_remove_the_lock_never_overlap(
    start: Start, journal: Path
) -> None:
    """Each release removes the file that the others are waiting at."""
    children = [start(f"driver_{number}") for number in range(CONTENDERS)]
    for child in children:
        assert child.ask("ready") == "done"
    for child in children:
        child.tell("contend", ROUNDS)
    answers = [child.hear() for child in children]
    total = Path(f"{journal}.counter").read_text()
    assert (answers, total) == ([f"{ROUNDS} alone"] * CONTENDERS, str(CONTENDERS * ROUNDS))
    assert not lock_path(journal).exists()


def test_nobody_who_asks_makes_a_driver_fail(start: Start, journal: Path) -> None:
    """A driver that tries only once, at a lock file that a dead one left, among many that ask."""
    askers = [start(f"asker_{number}") for number in range(2)]
    for asker in askers:
        assert asker.ask("storm") == "asking"
    for _ in range(300):
        lock_path(journal).touch()
        lock_of(journal).acquire(0).release()
    for asker in askers:
        assert asker.process.poll() is None
