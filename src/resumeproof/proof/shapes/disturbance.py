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

from resumeproof.crash.calls import injected_error
from resumeproof.crash.channel import LifeChannel
from resumeproof.crash.kill import Kill, leave
from resumeproof.proof.boundaries import BoundaryWatch
from resumeproof.proof.living import Order


class Mode(StrEnum):
    """`enospc`, `eio`: the call raises that `OSError`. `rival`: a second driver starts there."""

    SIGKILL = "sigkill"
    EXIT86 = "exit86"
    ENOSPC = "enospc"
    EIO = "eio"
    RIVAL = "rival"

    @property
    def dies_there(self) -> bool:
        return self in DEATHS

    @property
    def kill(self) -> Kill:
        """How a driver dies, there or at its end."""
        return Kill.EXIT86 if self is Mode.EXIT86 else Kill.SIGKILL


DEATHS = (Mode.SIGKILL, Mode.EXIT86)

_ERRORS = {Mode.ENOSPC: errno.ENOSPC, Mode.EIO: errno.EIO}

_RIVAL_DONE, _RIVAL_FAILED = 0, 1


class Disturbance:
    """What one life has to bear. `drive_as_rival` is the whole life of a second driver."""

    def __init__(
        self,
        mode: Mode,
        order: Order,
        channel: LifeChannel,
        drive_as_rival: Callable[[], object],
    ) -> None:
        self._mode = mode
        self._dies_at = order.dies_at
        self._kill = order.kill
        self._channel = channel
        self._drive_as_rival = drive_as_rival
        self._struck = False
        self._go: int | None = None
        own = order if mode.dies_there else replace(order, dies_at=None)
        self.watch = BoundaryWatch(own, channel)

    @contextmanager
    def script(self) -> Iterator[None]:
        """Stand round the life's script, which opens its stores inside. Dies at its end."""
        rival = None
        if self._mode is Mode.RIVAL and self._dies_at is not None:
            # Forked before a store is open: no handle may cross a fork.
            rival = self._fork_rival()
        raised = True
        try:
            yield
            raised = False
        finally:
            self._end(raised, rival)

    def reach(self, name: str, occurrence: int) -> None:
        """Come to a boundary. Raises `OSError` where that is what the mode has planned there."""
        self.watch.reach(name, occurrence)
        if self._mode.dies_there or self._dies_at != (name, occurrence):
            return
        self._struck = True
        if self._go is not None:
            os.write(self._go, b"g")
        else:
            raise injected_error(_ERRORS[self._mode])

    def _end(self, raised: bool, rival: int | None) -> None:
        """Die, unless something went otherwise than it may; then the scenario is invalid."""
        if self._go is not None:
            os.close(self._go)
        sound = True
        if rival is not None:
            status = os.waitpid(rival, 0)[1]
            sound = not raised and os.waitstatus_to_exitcode(status) == _RIVAL_DONE
        elif self._dies_at is not None and not self._dies_at[0].startswith("tool:"):
            # A store's error must be heard; a tool's leaves a doubt that may be settled at once.
            sound = raised
        if self._struck and sound and self._dies_at is not None:
            self._channel.die_at(*self._dies_at, self._kill)

    def _fork_rival(self) -> int:
        wait, self._go = os.pipe()
        pid = os.fork()
        if pid:
            os.close(wait)
            return pid
        status = _RIVAL_FAILED
        try:
            os.close(self._go)
            if os.read(wait, 1):
                self._drive_as_rival()
            status = _RIVAL_DONE
        finally:
            leave(status)
