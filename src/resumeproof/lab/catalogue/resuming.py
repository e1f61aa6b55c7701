"""Broken: what a death leaves behind stops the resume, or leads it elsewhere."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from resumeproof.domain.verdict import FindingKind
from resumeproof.lab.catalogue.booking import Booking
from resumeproof.lab.catalogue.entry import AFTER, ANYWHERE, BEFORE, broken
from resumeproof.proof.context import Context

TIMEOUT_SECONDS = 1.5
ONE_JOB = ("job-1",)


class _LocksByFile(Booking):
    def __init__(self, ctx: Context) -> None:
        super().__init__(ctx)
        self.lock_file = ctx.directory / "lock"

    @contextmanager
    def locked(self) -> Iterator[None]:
        self.lock_file.touch(exist_ok=False)
        try:
            yield
        finally:
            self.lock_file.unlink()

    def book(self, job: str) -> None:
        with self.locked():
            super().book(job)


class RefusesStaleLock(_LocksByFile):
    """Removes its lock file in `finally`, and refuses to run where there is one."""


class WaitsForStaleLock(_LocksByFile):
    """Removes its lock file in `finally`, and waits for whoever holds it."""

    def book(self, job: str) -> None:
        while self.lock_file.exists():
            time.sleep(0.01)
        super().book(job)


class RaisesOnOwnTraces(Booking):
    """Makes a directory for each job, and raises where a former life has made it."""

    def book(self, job: str) -> None:
        (self.ctx.directory / job).mkdir()
        super().book(job)


class WaitsForDeadLife(Booking):
    """Waits for the life that has a job in hand to finish it, though it is dead."""

    def book(self, job: str) -> None:
        in_hand = self.ctx.directory / f"{job}.in-hand"
        if in_hand.exists():
            while job not in self.load():
                time.sleep(0.01)
        in_hand.touch()
        super().book(job)


class CountsTwice(Booking):
    """Adds to a durable total before it knows whether it will have to do so again."""

    def __init__(self, ctx: Context) -> None:
        super().__init__(ctx)
        self.total_file = ctx.directory / "total.json"

    def total(self) -> int:
        return int(json.loads(self.total_file.read_text())) if self.total_file.exists() else 0

    def book(self, job: str) -> None:
        self.total_file.write_text(json.dumps(self.total() + 1))
        super().book(job)

    def state(self) -> Any:
        return {"booked": self.booked, "total": self.total()}


ENTRIES = (
    broken(RefusesStaleLock, FindingKind.RESUME_CRASHED, ANYWHERE),
    broken(RaisesOnOwnTraces, FindingKind.RESUME_CRASHED, ANYWHERE),
    *(
        broken(
            factory,
            FindingKind.RESUME_HUNG,
            (BEFORE[0], AFTER[0]),
            inputs=ONE_JOB,
            timeout_seconds=TIMEOUT_SECONDS,
        )
        for factory in (WaitsForStaleLock, WaitsForDeadLife)
    ),
    broken(CountsTwice, FindingKind.RESUME_DIVERGED, ANYWHERE),
)
