"""Real and virtual time. Nothing else in this package asks what time it is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """Where instants come from. They may repeat or go back; order never comes from them."""

    def now(self) -> datetime:
        """The present instant: aware, UTC."""
        ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)


class SteppedClock:
    """Virtual time: the first reading is `start`, each later one `step_seconds` further on.

    Raises `ValueError` for a start without a zone (RFC 3339, 5.6).
    """

    def __init__(self, start: datetime, step_seconds: float) -> None:
        if start.tzinfo is None:
            raise ValueError("a clock's start needs a zone")
        self._next = start.astimezone(UTC)
        self._step = timedelta(seconds=step_seconds)

    def now(self) -> datetime:
        instant = self._next
        self._next += self._step
        return instant

    def advance(self, seconds: float) -> None:
        """Let `seconds` pass between two readings; a negative number is a clock set back."""
        self._next += timedelta(seconds=seconds)
