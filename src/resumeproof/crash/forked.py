"""Lives that are forked from a process which was there before the subject was touched.

A `LifeHost` is the only thread of its process. It forks a child for each life, listens to what the
life says about itself, and waits for its death by SIGCHLD; whatever outlives the life is found and
ended. So closures and local classes work as subjects, and no life sees another's module globals.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from resumeproof.crash.adoption import adopting_orphans
from resumeproof.crash.becoming import StandardStreams, live
from resumeproof.crash.capture import Capture
from resumeproof.crash.channel import GO, Frames, LifeChannel
from resumeproof.crash.kill import kill_life
from resumeproof.crash.leftovers import end_leftovers
from resumeproof.crash.process import ChildExit

_READ_BYTES: Final = 1 << 16
_DEATH_SECONDS: Final = 10.0


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
        self._streams = StandardStreams()
        self._living: set[int] = set()

    def __enter__(self) -> LifeHost:
        self._adopting.__enter__()
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._wake_write, warn_on_full_buffer=False)
        # What the lives share with this process stays shared: no collection touches it.
        gc.collect()
        gc.freeze()
        gc.disable()
        return self

    def __exit__(self, *error: object) -> None:
        gc.enable()
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
            live(body, LifeChannel(up_write, down_read), out_write, self._streams)
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
        left = end_leftovers(pid, self._living)
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
        self._frames = Frames()
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
                elif not self._hear(descriptor):
                    poll.unregister(descriptor)
                    continue
                else:
                    stood_seconds = self._answer()
                    if not stood_seconds:
                        continue
                    deadline += stood_seconds
                # Asked after a stand as well: whoever ran meanwhile has heard the wake-up call.
                reaped, status = os.waitpid(self._pid, os.WNOHANG)
                if reaped:
                    self._hear_out()
                    return status

    def _hear(self, descriptor: int) -> bool:
        """Take what there is to read; False at the pipe's end."""
        try:
            piece = os.read(descriptor, _READ_BYTES)
        except BlockingIOError:
            return True
        if descriptor == self._out:
            self.output.add(piece)
        else:
            self._frames.add(piece)
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
                    self._frames.add(piece)
                if descriptor == self._out and self.output.left_out_bytes:
                    break
        self._answer()

    def _answer(self) -> float:
        """Act on all whole frames; return the seconds that the life stood still for us."""
        stood_seconds = 0.0
        for frame in self._frames.whole():
            stood_seconds += self._act(frame)
        return stood_seconds

    def _act(self, frame: tuple[Any, ...]) -> float:
        match frame:
            case ("boundary", name, occurrence, copy_status):
                started = time.monotonic()
                if self._at_boundary is not None:
                    self._at_boundary(BoundaryNotice(name, occurrence, copy_status))
                os.write(self._down, GO)
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
