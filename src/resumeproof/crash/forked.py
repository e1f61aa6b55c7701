"""Lives that are forked from a process which was there before the subject was touched.

A `LifeHost` is the only thread of its process. It forks a child for each life, listens to what the
life says about itself, and waits for its death by SIGCHLD; whatever outlives the life is found and
ended. So closures and local classes work as subjects, and no life sees another's module globals.

A life speaks in frames (a length, then a pickled tuple) on a pipe of its own:

    ("boundary", name, occurrence, wait status of the copy that was killed there, or None)
    ("dying", name, occurrence)      the witness, just before it dies as planned
    ("end", outcome)                 it came to its end

After "boundary" it stands still until the host answers, so that the host may look around.
"""

from __future__ import annotations

import atexit
import gc
import os
import pickle
import select
import signal
import struct
import sys
import threading
import time
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

from resumeproof.crash.adoption import adopting_orphans, die_with_parent, own_children
from resumeproof.crash.capture import Capture
from resumeproof.crash.kill import Kill, die, group_has_members, kill_life, kill_orphan, leave
from resumeproof.crash.locks import locked_files
from resumeproof.crash.process import ChildExit
from resumeproof.crash.tree import GRACE_SECONDS

if TYPE_CHECKING:
    import psutil

_HEADER: Final = struct.Struct("!I")
_READ_BYTES: Final = 1 << 16
_DEATH_SECONDS: Final = 10.0
_ROUNDS: Final = 10  # a killed process may have started another one meanwhile
FAILED_STATUS: Final = 1


@dataclass(frozen=True)
class BoundaryNotice:
    """A life stands at a boundary. `copy_status` is the wait status of the copy it sent to death
    there, as `os.waitpid` gives it; None where it sent none.
    """

    name: str
    occurrence: int
    copy_status: int | None


@dataclass(frozen=True)
class ForkedLife:
    """One life, from its fork to its death.

    `witness` is the boundary and occurrence at which it said that it would die; `outcome` what it
    brought to its end, None where it did not come to it. `output` is what it printed, cut in the
    middle if it was much. `locked` are the files that an orphan held a kernel lock on.
    """

    exit: ChildExit
    witness: tuple[str, int] | None
    outcome: Any
    ended: bool
    output: str
    timed_out: bool
    orphans: tuple[int, ...]
    locked: frozenset[Path] = frozenset()


class LifeChannel:
    """The life's end of the conversation; every thread of the life may use it."""

    def __init__(self, up: int, down: int) -> None:
        self._up = up
        self._down = down
        self._lock = threading.Lock()

    def send(self, *frame: object) -> None:
        """Send one frame. Raises `OSError` where the subject has closed the pipe."""
        body = pickle.dumps(frame)
        view = memoryview(_HEADER.pack(len(body)) + body)
        with self._lock:
            while view:
                view = view[os.write(self._up, view) :]

    def stand_at(self, name: str, occurrence: int, copy_status: int | None) -> None:
        """Tell of a boundary, and stand still until the host says go."""
        self.send("boundary", name, occurrence, copy_status)
        if not os.read(self._down, 1):
            # The host is gone: nobody would ever say go, or hear of the end.
            die(Kill.SIGKILL)

    def die_at(self, name: str, occurrence: int, kill: Kill) -> NoReturn:
        """Say where, and die there."""
        self.send("dying", name, occurrence)
        die(kill)


def send_copy_to_death(kill: Kill) -> int:
    """Fork this process as it stands and kill the copy; return the copy's wait status.

    The copy never runs a line of the subject's: what it leaves is what a death here leaves.
    """
    copy = os.fork()
    if copy == 0:
        die(kill)
    return os.waitpid(copy, 0)[1]


class LifeHost:
    """Forks lives, one at a time, and sees each to its end. Use as a context manager.

    `private` are descriptors of this process that no life may inherit, such as a pipe whose end
    somebody waits for.
    """

    def __init__(self, private: Sequence[int] = ()) -> None:
        self._private = private
        self._adopting = adopting_orphans()
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_read, False)
        os.set_blocking(self._wake_write, False)
        self._living: set[int] = set()

    def __enter__(self) -> LifeHost:
        self._adopting.__enter__()
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._wake_write, warn_on_full_buffer=False)
        # What the lives share with this process stays shared: no collection touches it.
        gc.collect()
        gc.freeze()
        return self

    def __exit__(self, *error: object) -> None:
        signal.set_wakeup_fd(-1)
        os.close(self._wake_read)
        os.close(self._wake_write)
        self._adopting.__exit__(None, None, None)

    def run(
        self,
        body: Callable[[LifeChannel], object],
        *,
        timeout_seconds: float,
        at_boundary: Callable[[BoundaryNotice], None] | None = None,
    ) -> ForkedLife:
        """Fork a life that runs `body`, and return it when it is dead.

        `body` returns the outcome, which must be picklable. `at_boundary` is called while the
        life stands still; the time it takes does not count. A life that does not end within
        `timeout_seconds` is killed.
        """
        up_read, up_write = os.pipe()
        down_read, down_write = os.pipe()
        out_read, out_write = os.pipe()
        pid = os.fork()
        if pid == 0:
            ours = (up_read, down_write, out_read, self._wake_read, self._wake_write)
            for descriptor in (*ours, *self._private):
                os.close(descriptor)
            _live(body, LifeChannel(up_write, down_read), out_write)
        for descriptor in (up_write, down_read, out_write):
            os.close(descriptor)
        watch = _Watch(pid, up_read, out_read, down_write, self._wake_read, at_boundary)
        self._living.add(pid)
        try:
            status = watch.until_death(timeout_seconds)
        except BaseException:
            kill_life(pid)
            os.waitpid(pid, 0)
            raise
        finally:
            self._living.discard(pid)
            for descriptor in (up_read, out_read, down_write):
                os.close(descriptor)
        left = _clear(pid, self._living)
        return ForkedLife(
            exit=ChildExit.of(os.waitstatus_to_exitcode(status)),
            witness=watch.witness,
            outcome=watch.outcome,
            ended=watch.ended,
            output=watch.output.text(),
            timed_out=watch.timed_out,
            orphans=tuple(sorted(left)),
            locked=frozenset().union(*left.values()),
        )


def _clear(leader: int, living: Set[int]) -> dict[int, frozenset[Path]]:
    """End what outlived a life, and return the pids of what had to be killed, with its locks.

    The host has no other children than its lives, so whoever it has adopted is an orphan, unless
    it is a life that stands at a boundary meanwhile. Where nothing is adopted, an orphan shows
    while it keeps to the life's process group.
    """
    if not _adopted(living) and not group_has_members(leader):
        return {}
    import psutil

    left: dict[int, frozenset[Path]] = {}
    patience_seconds = GRACE_SECONDS
    for _ in range(_ROUNDS):
        adopted = [psutil.Process(pid) for pid in _adopted(living)]
        offspring = [child for process in adopted for child in process.children(recursive=True)]
        _, alive = psutil.wait_procs(
            adopted + offspring + _members(leader), timeout=patience_seconds
        )
        patience_seconds = 0.0
        for process in alive:
            left[process.pid] = locked_files(process.pid)
            kill_orphan(process)
        if not alive:
            break
        psutil.wait_procs(alive, timeout=_DEATH_SECONDS)
    return left


def _adopted(living: Set[int]) -> Set[int]:
    """The children of this process that are none of its lives; reaps those that are dead."""
    if not living:
        # Much cheaper than to read /proc, and nearly always true.
        try:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return frozenset()
    return own_children() - living


def _members(group: int) -> list[psutil.Process]:
    import psutil

    if not group_has_members(group):
        return []
    return [process for process in psutil.process_iter() if _group_of(process.pid) == group]


def _group_of(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return None


class _Watch:
    """The host's side of one life."""

    def __init__(
        self,
        pid: int,
        up: int,
        out: int,
        down: int,
        wake: int,
        at_boundary: Callable[[BoundaryNotice], None] | None,
    ) -> None:
        self._pid, self._up, self._out, self._down, self._wake = pid, up, out, down, wake
        self._at_boundary = at_boundary
        self._frames = bytearray()
        self.output = Capture()
        self.witness: tuple[str, int] | None = None
        self.outcome: Any = None
        self.ended = False
        self.timed_out = False

    def until_death(self, timeout_seconds: float) -> int:
        """Listen until the life is dead and reaped; return its wait status."""
        poll = select.poll()
        for descriptor in (self._up, self._out, self._wake):
            os.set_blocking(descriptor, False)
            poll.register(descriptor, select.POLLIN)
        deadline = time.monotonic() + timeout_seconds
        while True:
            left_seconds = deadline - time.monotonic()
            if left_seconds <= 0:
                self.timed_out = True
                kill_life(self._pid)
                deadline = time.monotonic() + _DEATH_SECONDS
            for descriptor, _ in poll.poll(max(0.0, left_seconds) * 1000):
                if descriptor == self._wake:
                    _drain(self._wake)
                    reaped, status = os.waitpid(self._pid, os.WNOHANG)
                    if reaped:
                        self._hear_out()
                        return status
                elif not self._hear(descriptor):
                    poll.unregister(descriptor)
                else:
                    deadline += self._answer()

    def _hear(self, descriptor: int) -> bool:
        """Take what there is to read; False at the pipe's end."""
        try:
            piece = os.read(descriptor, _READ_BYTES)
        except BlockingIOError:
            return True
        if descriptor == self._out:
            self.output.add(piece)
        else:
            self._frames += piece
        return bool(piece)

    def _hear_out(self) -> None:
        """Take what a dead life had still said. Bounded: an orphan may go on for ever."""
        for descriptor in (self._up, self._out):
            for _ in range(_READ_BYTES):
                try:
                    piece = os.read(descriptor, _READ_BYTES)
                except BlockingIOError:
                    break
                if not piece:
                    break
                if descriptor == self._out:
                    self.output.add(piece)
                else:
                    self._frames += piece
                if descriptor == self._out and self.output.left_out_bytes:
                    break
        self._answer()

    def _answer(self) -> float:
        """Act on all whole frames; return the seconds that the life stood still for us."""
        stood_seconds = 0.0
        while len(self._frames) >= _HEADER.size:
            (length,) = _HEADER.unpack_from(self._frames)
            if len(self._frames) < _HEADER.size + length:
                break
            frame = pickle.loads(self._frames[_HEADER.size : _HEADER.size + length])
            del self._frames[: _HEADER.size + length]
            stood_seconds += self._act(frame)
        return stood_seconds

    def _act(self, frame: tuple[Any, ...]) -> float:
        match frame:
            case ("boundary", name, occurrence, copy_status):
                started = time.monotonic()
                if self._at_boundary is not None:
                    self._at_boundary(BoundaryNotice(name, occurrence, copy_status))
                os.write(self._down, b"g")
                return time.monotonic() - started
            case ("dying", name, occurrence):
                self.witness = (name, occurrence)
            case ("end", outcome):
                self.outcome = outcome
                self.ended = True
        return 0.0


def _drain(descriptor: int) -> None:
    try:
        while os.read(descriptor, _READ_BYTES):
            pass
    except BlockingIOError:
        return


def _live(body: Callable[[LifeChannel], object], channel: LifeChannel, out: int) -> NoReturn:
    """What the forked child does: become a process of its own, live, and end as a process ends."""
    status = FAILED_STATUS
    try:
        _become_a_process(out)
        outcome = body(channel)
        channel.send("end", outcome)
        status = 0
        _end_as_processes_do()
    finally:
        # Never back into the code that forked us.
        leave(status)


def _become_a_process(out: int) -> None:
    os.setsid()
    die_with_parent()
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(out, 1)
    os.dup2(out, 2)
    os.close(nothing)
    os.close(out)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, closefd=False)  # noqa: SIM115
    # The parent's handlers are the parent's; those that the subject registers are its own.
    atexit._clear()
    _seed_anew()


def _seed_anew() -> None:
    """A real process starts with randomness of its own; forks of one process would share it."""
    for name in ("random", "numpy.random"):
        module = sys.modules.get(name)
        if module is not None:
            module.seed()


def _end_as_processes_do() -> None:
    """Join threads, run what `atexit` holds, flush: what an interpreter does at its end."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    gc.collect()
    sys.stdout.flush()
    sys.stderr.flush()
