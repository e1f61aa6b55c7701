"""How a long proof tells of itself: nothing, or a bar on a terminal."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Told when work starts, and how much of it is done."""

    def start(self, expected: int) -> None:
        """So many scenarios are expected, at least."""
        ...

    def advance(self, done: int) -> None:
        """So many more are done."""
        ...


class Silence:
    """Tells nothing."""

    def start(self, expected: int) -> None:
        pass

    def advance(self, done: int) -> None:
        pass
