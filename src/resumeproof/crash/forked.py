"""Lives that are forked from a process which was there before the subject was touched.

A `LifeHost` has each life forked by a process that does nothing else, listens to what the life says
about itself, and hears of its death; whatever outlives the life is found and ended. So closures and
local classes work as subjects, and no life sees another's module globals.
"""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from resumeproof.crash.capture import Capture
from resumeproof.crash.channel import GO
from resumeproof.crash.forker import READ_BYTES, BodyOf, Death, Forker
from resumeproof.crash.framing import Frames
from resumeproof.crash.process import ChildExit
from resumeproof.errors import WorkerDied

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
    """Has lives forked, one at a time, and sees each to its end. Use as a context manager.

    `body_of` tells what a life does that was ordered so: it is asked in the life's own process.
    `private` are descriptors of this process that no life may inherit, such as a pipe whose end
    somebody waits for.
    """

    def __init__(self, body_of: BodyOf, private: Sequence[int] = ()) -> None:
        self._body_of = body_of
        self._private = private

    def __enter__(self) -> LifeHost:
        self._forker = Forker(self._body_of, self._private)
        return self

    def __exit__(self, *_: object) -> None:
        self._forker.close()

    def run(
        self,
        order: object,
        *,
        timeout_seconds: float,
        at_boundary: Callable[[BoundaryNotice], None] | None = None,
        attach: Callable[[int], None] | None = None,
    ) -> ForkedLife:
        """Have a life forked that carries out `order`, and return it when it is dead.

        `order` must be picklable. `at_boundary` is called while the life stands still, and `attach`
        with its pid while it waits to be traced; the time they take does not count. A life that
        does not end within `timeout_seconds` is killed. Raises `WorkerDied` where a life has killed
        or stopped the process that forked it.
        """
        up_read, up_write = os.pipe()
        down_read, down_write = os.pipe()
        out_read, out_write = os.pipe()
        try:
            # The life's ends stay open here, too: it is its forker that tells of its death, and the
            # end of a pipe would only wake us before that.
            number = self._forker.fork(order, (up_write, down_read, out_write))
            stands = _Stands(at_boundary, attach)
            watch = _Watch(self._forker, number, up_read, out_read, down_write, stands)
            try:
                death = watch.until_death(timeout_seconds)
            except BaseException:
                with suppress(EOFError, OSError):
                    self._forker.kill(number)
                    self._forker.wait_for_death(number, _DEATH_SECONDS)
                raise
        except (EOFError, BrokenPipeError, ConnectionResetError) as error:
            died = os.waitstatus_to_exitcode(self._forker.close())
            raise WorkerDied(ChildExit.of(died).text) from error
        finally:
            for descriptor in (up_read, up_write, down_read, down_write, out_read, out_write):
                os.close(descriptor)
        return ForkedLife(
            exit=ChildExit.of(os.waitstatus_to_exitcode(death.status)),
            witness=watch.witness,
            outcome=watch.outcome,
            ended=watch.ended,
            output=watch.output.text(),
            timed_out=watch.timed_out,
            orphans=tuple(sorted(death.left)),
            locked=frozenset().union(*death.left.values()),
        )


@dataclass(frozen=True)
class _Stands:
    """What the host does while a life stands still."""

    at_boundary: Callable[[BoundaryNotice], None] | None
    attach: Callable[[int], None] | None

    def look_around(self, frame: tuple[Any, ...]) -> None:
        match frame:
            case ("boundary", name, occurrence, copy_status) if self.at_boundary is not None:
                self.at_boundary(BoundaryNotice(name, occurrence, copy_status))
            case ("waiting", pid) if self.attach is not None:
                self.attach(pid)


class _Watch:
    """The host's side of one life."""

    def __init__(
        self,
        forker: Forker,
        number: int,
        up: int,
        out: int,
        down: int,
        stands: _Stands,
    ) -> None:
        self._forker, self._number = forker, number
        self._up, self._out, self._down = up, out, down
        self._stands = stands
        self._frames = Frames()
        self.output = Capture()
        self.witness: tuple[str, int] | None = None
        self.outcome: Any = None
        self.ended = False
        self.timed_out = False

    def until_death(self, timeout_seconds: float) -> Death:
        """Listen until the life is dead and buried. Raises `EOFError` where its forker died."""
        poll = select.poll()
        for descriptor in (self._up, self._out):
            os.set_blocking(descriptor, False)
            poll.register(descriptor, select.POLLIN)
        poll.register(self._forker, select.POLLIN)
        deadline = time.monotonic() + timeout_seconds
        while True:
            left_seconds = deadline - time.monotonic()
            if left_seconds <= 0:
                if self.timed_out:
                    self._forker.end()
                self.timed_out = True
                self._forker.kill(self._number)
                deadline = time.monotonic() + _DEATH_SECONDS
            for descriptor, _ in poll.poll(max(0.0, left_seconds) * 1000):
                if descriptor == self._forker.fileno():
                    self._forker.hear()
                else:
                    self._hear(descriptor)
                    deadline += self._answer()
                # Asked after a stand as well: whoever ran meanwhile may have heard of it.
                death = self._forker.death_of(self._number)
                if death is not None:
                    self._hear_out()
                    return death

    def _hear(self, descriptor: int) -> bool:
        """Take what there is to read; False where there is nothing."""
        try:
            piece = os.read(descriptor, READ_BYTES)
        except BlockingIOError:
            return False
        if descriptor == self._out:
            self.output.add(piece)
        else:
            self._frames.add(piece)
        return True

    def _hear_out(self) -> None:
        """Take what a dead life had still said. Bounded: an orphan may go on for ever."""
        for descriptor in (self._up, self._out):
            for _ in range(READ_BYTES):
                if not self._hear(descriptor):
                    break
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
            case ("boundary" | "waiting", *_):
                started = time.monotonic()
                self._stands.look_around(frame)
                os.write(self._down, GO)
                return time.monotonic() - started
            case ("dying", name, occurrence):
                self.witness = (name, occurrence)
            case ("end", outcome):
                self.outcome = outcome
                self.ended = True
        return 0.0
