"""What happens to a driver at its planned call: it dies there, or it gets something else to bear.

A driver that is disturbed in another way goes on, ends as it likes, and dies only then; so every
scenario has its kill, which is verified, and its next driver, which must come to the same.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from typing import NoReturn

from resumeproof.crash.calls import injected_error
from resumeproof.crash.channel import LifeChannel
from resumeproof.crash.faults import PERSISTENCE_BOUNDARIES
from resumeproof.crash.kill import Kill, leave, let_go_on, stop
from resumeproof.errors import ResumeproofError
from resumeproof.proof.boundaries import BoundaryWatch
from resumeproof.proof.living import Order


class Mode(StrEnum):
    """`enospc`, `eio`: the call raises that `OSError`. `rival`: a second driver starts there.

    `stop`: the driver is stopped there, loses its lock file to another driver, which does all
    that is left to do, and goes on: whatever it does then comes too late.
    """

    SIGKILL = "sigkill"
    EXIT86 = "exit86"
    ENOSPC = "enospc"
    EIO = "eio"
    RIVAL = "rival"
    STOP = "stop"

    @property
    def dies_there(self) -> bool:
        return self in DEATHS

    @property
    def boundaries(self) -> tuple[str, ...]:
        """Where it may happen: a driver that stops in a transaction keeps everybody waiting."""
        return _OUTSIDE_TRANSACTIONS if self is Mode.STOP else PERSISTENCE_BOUNDARIES

    @property
    def kill(self) -> Kill:
        """How a driver dies, there or at its end."""
        return Kill.EXIT86 if self is Mode.EXIT86 else Kill.SIGKILL


_OUTSIDE_TRANSACTIONS = (
    "commit:after",
    "register:before",
    "register:after",
    "tool:before",
    "tool:after",
)

DEATHS = (Mode.SIGKILL, Mode.EXIT86)

_ERRORS = {Mode.ENOSPC: errno.ENOSPC, Mode.EIO: errno.EIO}


class Disturbance:
    """What one life has to bear. `other_driver` is the whole life of a second one."""

    def __init__(
        self,
        mode: Mode,
        order: Order,
        channel: LifeChannel,
        other_driver: Callable[[], object],
    ) -> None:
        self._mode = mode
        self._dies_at = order.dies_at
        self._kill = order.kill
        self._channel = channel
        self._other_driver = other_driver
        self._struck = False
        self._other: _OtherDriver | None = None
        own = order if mode.dies_there else replace(order, dies_at=None)
        self.watch = BoundaryWatch(own, channel)

    @contextmanager
    def script(self) -> Iterator[None]:
        """Stand round the life's script, which opens its stores inside. Dies at its end."""
        if self._dies_at is not None and self._mode in (Mode.RIVAL, Mode.STOP):
            # Forked before a store is open: no handle may cross a fork.
            self._other = _OtherDriver(self._other_driver, stops=self._mode is Mode.STOP)
        try:
            yield
        except BaseException as error:
            self._end(error)
            raise
        self._end(None)

    def reach(self, name: str, occurrence: int) -> None:
        """Come to a boundary. Raises `OSError` where that is what the mode has planned there."""
        self.watch.reach(name, occurrence)
        if self._mode.dies_there or self._dies_at != (name, occurrence):
            return
        self._struck = True
        if self._other is None:
            raise injected_error(_ERRORS[self._mode])
        self._other.start()

    def _end(self, error: BaseException | None) -> None:
        """Die, unless something went otherwise than it may; then the scenario is invalid."""
        sound = self._is_sound(error)
        if self._struck and sound and self._dies_at is not None:
            self._channel.die_at(*self._dies_at, self._kill)

    def _is_sound(self, error: BaseException | None) -> bool:
        if self._other is not None:
            refused = self._mode is Mode.STOP and isinstance(error, ResumeproofError)
            return self._other.ended_well() and (error is None or refused)
        # A store's error must be heard; a tool's leaves a doubt that may be settled at once.
        at_tool = self._dies_at is not None and self._dies_at[0].startswith("tool:")
        return error is not None or at_tool


class _OtherDriver:
    """A second driver, in a process of its own, that waits for the word to start."""

    def __init__(self, drive: Callable[[], object], *, stops: bool) -> None:
        self._stops = stops
        first = os.getpid()
        wait, self._go = os.pipe()
        self._done, done = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            os.close(self._go)
            os.close(self._done)
            self._live(drive, first, wait, done)
        os.close(wait)
        os.close(done)

    def start(self) -> None:
        """Say the word. Where it is to stop the present driver, that stands here until it may."""
        os.write(self._go, b"g")
        if self._stops:
            os.read(self._done, 1)

    def ended_well(self) -> bool:
        """Wait for its end; whether it came to that by itself."""
        os.close(self._go)
        os.close(self._done)
        return os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1]) == 0

    def _live(self, drive: Callable[[], object], first: int, wait: int, done: int) -> NoReturn:
        status = 1
        try:
            if os.read(wait, 1):
                if self._stops:
                    stop(first)
                try:
                    drive()
                finally:
                    if self._stops:
                        os.write(done, b"d")
                        let_go_on(first)
            status = 0
        finally:
            leave(status)
