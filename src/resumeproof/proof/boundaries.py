"""What a life does at a boundary: note it, die there, or stand still while a copy of it dies."""

from __future__ import annotations

import os
import threading

from resumeproof.crash.channel import LifeChannel, send_copy_to_death
from resumeproof.proof.living import Boundary, Order


class BoundaryWatch:
    """The boundaries of one life, in the life's own process."""

    def __init__(self, order: Order, channel: LifeChannel) -> None:
        self._order = order
        self._channel = channel
        self.passed: list[Boundary] = []
        self.shareable = True

    def reach(self, name: str, occurrence: int) -> None:
        """Come to a boundary. Does not return where the order says to die there."""
        self.passed.append((name, occurrence))
        order = self._order
        if order.dies_at == (name, occurrence):
            self._channel.die_at(name, occurrence, order.kill)
        if order.stands((name, occurrence)):
            # A fork copies one thread and no child: then the copy would not be this life.
            if threading.active_count() > 1 or _has_child():
                self.shareable = False
            status = send_copy_to_death(order.kill) if self.shareable else None
            self._channel.stand_at(name, occurrence, status)


def _has_child() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True
