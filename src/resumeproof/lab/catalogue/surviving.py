"""Correct: they survive a death anywhere, each by other means."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import subprocess
from typing import Any

from resumeproof.lab.catalogue.booking import Booking
from resumeproof.lab.catalogue.entry import DEDUPLICATING, correct
from resumeproof.proof.context import Context


class AsksReceiver(Booking):
    """Asks the receiver before it acts, and replaces its JSON file in one rename."""


class ShowsNoState(Booking):
    """Offers no `state()`, and is compared by its effects alone."""

    state = None  # type: ignore[assignment]


class RetriesUnderOneKey(Booking):
    """Repeats a call whose answer was lost, under one key, at a receiver that deduplicates."""

    def book(self, job: str) -> None:
        for answer_arrives in (False, True):
            self.charge(job)
            if answer_arrives:
                self.mark(job)


class LetsReceiverDeduplicate(Booking):
    """Simply acts again after a death: its receiver deduplicates by key."""

    def book(self, job: str) -> None:
        self.charge(job)
        self.mark(job)


class RepeatsKeyByDesign(Booking):
    """Sends many reminders under one key, and counts at the receiver how many there are."""

    def book(self, job: str) -> None:
        sent = self.ctx.effects.keys().count("reminder")
        if sent == len(self.booked):
            self.ctx.effect("remind", job, key="reminder")
        self.mark(job)


class BooksInDatabase(Booking):
    """Commits what it knows to SQLite, after it asked the receiver."""

    def load(self) -> list[str]:
        self.database = sqlite3.connect(self.path, timeout=1, isolation_level=None)
        self.database.execute("CREATE TABLE IF NOT EXISTS booked (job TEXT PRIMARY KEY)")
        return [job for (job,) in self.database.execute("SELECT job FROM booked ORDER BY job")]

    def mark(self, job: str) -> None:
        self.database.execute("INSERT INTO booked VALUES (?)", (job,))
        self.booked.append(job)


class DiesInTransaction(BooksInDatabase):
    """Holds its own write transaction open round the effect; a death rolls it back."""

    def __init__(self, ctx: Context) -> None:
        super().__init__(ctx)
        self.handlers = {"book": self.book}  # a cycle: only a death lets go of the connection

    def book(self, job: str) -> None:
        self.database.execute("BEGIN IMMEDIATE")
        super().book(job)
        self.database.execute("COMMIT")


class HoldsKernelLock(Booking):
    """Holds a kernel lock as long as it lives, which ends with its process."""

    def __init__(self, ctx: Context) -> None:
        import fcntl  # POSIX only

        super().__init__(ctx)
        self.handlers = {"book": self.book}  # a cycle: only a death lets go of the lock
        self.lock = (ctx.directory / "lock").open("w")
        fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


class EndsChildByPipe(Booking):
    """Starts a child that ends when the pipe to its parent does."""

    def book(self, job: str) -> None:
        with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as child:
            super().book(job)
            assert child.stdin is not None
            child.stdin.write(job.encode())


class AppendsToLog(Booking):
    """Appends a line for each job to a log, and cuts off a last line that a death tore."""

    def load(self) -> list[str]:
        with self.path.open("a+b") as log:
            log.seek(0)
            lines = log.read()
            whole = lines[: lines.rfind(b"\n") + 1]
            log.truncate(len(whole))
        return [str(json.loads(line)) for line in whole.splitlines()]

    def save(self) -> None:
        with self.path.open("a") as log:
            log.write(json.dumps(self.booked[-1]) + "\n")


class AwaitsItsSteps(Booking):
    """Has an async `step` and an async `state`."""

    async def step(self, job: str) -> None:  # type: ignore[override]
        await asyncio.sleep(0)
        super().step(job)

    async def state(self) -> Any:
        await asyncio.sleep(0)
        return super().state()


ENTRIES = (
    correct(AsksReceiver),
    correct(ShowsNoState),
    correct(LetsReceiverDeduplicate, DEDUPLICATING),
    correct(RetriesUnderOneKey, DEDUPLICATING),
    correct(RepeatsKeyByDesign),
    correct(BooksInDatabase),
    correct(DiesInTransaction),
    correct(HoldsKernelLock),
    correct(EndsChildByPipe),
    correct(AppendsToLog),
    correct(AwaitsItsSteps),
)
