"""Broken: what they know is saved too late, or not at all, if the process really dies."""

from __future__ import annotations

import atexit
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from resumeproof.domain.verdict import FindingKind
from resumeproof.lab.catalogue.booking import Booking
from resumeproof.lab.catalogue.entry import (
    AFTER,
    ANYWHERE,
    FROM_THE_FIRST_EFFECT_ON,
    broken,
)
from resumeproof.proof.context import Context


class SavesInFinally(Booking):
    """Saves its state in `finally`, which a killed process never comes to."""

    def book(self, job: str) -> None:
        try:
            self.charge(job)
        finally:
            self.mark(job)


class SavesInWithExit(Booking):
    """Saves its state when a `with` block is left, which a killed process never does."""

    @contextmanager
    def booking(self, job: str) -> Iterator[None]:
        try:
            yield
        finally:
            self.mark(job)

    def book(self, job: str) -> None:
        with self.booking(job):
            self.charge(job)


_CACHE: dict[Path, list[str]] = {}


class SavesInAtexit(Booking):
    """Keeps a cache that it writes in `atexit`, which a killed process never runs."""

    def __init__(self, ctx: Context) -> None:
        super().__init__(ctx)
        self.booked = _CACHE.setdefault(self.path, self.booked)
        atexit.register(self.save)

    def book(self, job: str) -> None:
        self.booked.append(job)
        self.charge(job)


class SavesInDel(Booking):
    """Saves its state in `__del__`, which nobody calls in a killed process."""

    def book(self, job: str) -> None:
        self.booked.append(job)
        self.charge(job)

    def __del__(self) -> None:
        self.save()


class NeverFlushes(Booking):
    """Writes to a buffered file that is never flushed; the buffer dies with the process."""

    def __init__(self, ctx: Context) -> None:
        super().__init__(ctx)
        self.log = self.path.open("a")

    def load(self) -> list[str]:
        return self.path.read_text().split() if self.path.exists() else []

    def book(self, job: str) -> None:
        self.booked.append(job)
        self.log.write(f"{job}\n")
        self.charge(job)


_POOL: dict[Path, sqlite3.Connection] = {}


class LeavesTransactionOpen(Booking):
    """Leaves its SQLite transaction open until it is asked for its state."""

    def load(self) -> list[str]:
        self.connection = _POOL.setdefault(self.path, sqlite3.connect(self.path))
        self.connection.execute("CREATE TABLE IF NOT EXISTS booked (job TEXT PRIMARY KEY)")
        return [job for (job,) in self.connection.execute("SELECT job FROM booked ORDER BY job")]

    def book(self, job: str) -> None:
        self.connection.execute("INSERT INTO booked VALUES (?)", (job,))
        self.booked.append(job)
        self.charge(job)

    def state(self) -> Any:
        self.connection.commit()
        return super().state()


_BOOKED: dict[Path, list[str]] = {}


class KeepsStateInModule(Booking):
    """Keeps its state in a global of its module, and nowhere else."""

    def load(self) -> list[str]:
        return _BOOKED.setdefault(self.path, [])

    def book(self, job: str) -> None:
        self.booked.append(job)
        self.charge(job)


class TruncatesOnOpening(Booking):
    """Empties its state file whenever it is opened."""

    def load(self) -> list[str]:
        self.path.unlink(missing_ok=True)
        return []


class ForgetsWhatItFinds(Booking):
    """Skips an effect that the receiver has already, and forgets to write it down."""

    def book(self, job: str) -> None:
        if self.ctx.lookup(job) is None:
            self.charge(job)
            self.mark(job)


ENTRIES = (
    broken(SavesInFinally, FindingKind.EFFECT_REPLAYED, AFTER),
    broken(SavesInWithExit, FindingKind.EFFECT_REPLAYED, AFTER),
    broken(SavesInAtexit, FindingKind.EFFECT_REPLAYED, FROM_THE_FIRST_EFFECT_ON),
    broken(SavesInDel, FindingKind.EFFECT_REPLAYED, FROM_THE_FIRST_EFFECT_ON),
    broken(NeverFlushes, FindingKind.EFFECT_REPLAYED, FROM_THE_FIRST_EFFECT_ON),
    broken(LeavesTransactionOpen, FindingKind.EFFECT_REPLAYED, FROM_THE_FIRST_EFFECT_ON),
    broken(
        KeepsStateInModule,
        FindingKind.STATE_LOST,
        ("baseline", *ANYWHERE),
        also=(FindingKind.EFFECT_REPLAYED,),
    ),
    broken(TruncatesOnOpening, FindingKind.STATE_LOST, ("baseline", *ANYWHERE)),
    broken(ForgetsWhatItFinds, FindingKind.STATE_LOST, AFTER[:1], inputs=("job-1",)),
)
