"""Ctrl-C, once: what follows the first one is cleaning up, which a second must not cut short."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def interrupted_once() -> Iterator[None]:
    """Raise `KeyboardInterrupt` at the first SIGINT or SIGTERM, and ignore all others.

    What this process was told to ignore at its start, as with `nohup`, it goes on to ignore.
    """
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    heeded = [number for number, handler in before.items() if handler is not signal.SIG_IGN]

    def interrupt(number: int, frame: FrameType | None) -> NoReturn:
        for each in heeded:
            signal.signal(each, signal.SIG_IGN)
        raise KeyboardInterrupt

    for number in heeded:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number in heeded:
            signal.signal(number, before[number])
