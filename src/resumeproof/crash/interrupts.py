"""Ctrl-C, put off for the moment in which a new child is known to nobody yet."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any, Self


class InterruptsHeld:
    """Holds SIGINT and SIGTERM back, from `with` on until `release` or the end of the `with`.

    What came meanwhile is handed to the handlers that were in force. Only the main thread is ever
    interrupted (signal(7), Python's `signal` module), so elsewhere this does nothing.
    """

    def __init__(self) -> None:
        self._handlers: dict[int, Any] = {}
        self._came: list[tuple[int, FrameType | None]] = []

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                handler = signal.getsignal(number)
                # The default and an ignored signal do not interrupt Python code.
                if callable(handler):
                    self._handlers[number] = signal.signal(number, self._note)
        return self

    def release(self) -> None:
        """Let through what came, and what comes from now on."""
        handlers, self._handlers = self._handlers, {}
        for number, handler in handlers.items():
            signal.signal(number, handler)
        came, self._came = self._came, []
        for number, frame in came:
            handlers[number](number, frame)

    def release_in_child(self) -> None:
        """Let through what comes to this fork from now on; what came was meant for its parent."""
        self._came.clear()
        self.release()

    def __exit__(self, *_: object) -> None:
        self.release()

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._came.append((number, frame))
