"""Broken between two of their own writes, where no death at an effect finds them; and mended."""

from __future__ import annotations

import json
from typing import Any

from resumeproof.domain.verdict import FindingKind
from resumeproof.lab.catalogue.booking import Booking
from resumeproof.lab.catalogue.entry import broken_at_calls, correct_at_calls
from resumeproof.proof.context import Context

ONE_JOB = ("job-1",)


class CountsInOtherFile(Booking):
    """Replaces its count in one file, and then what it has counted in another."""

    def __init__(self, ctx: Context) -> None:
        super().__init__(ctx)
        self.counter = ctx.directory / "count"
        self.count = int(self.counter.read_text()) if self.counter.exists() else 0

    def save(self) -> None:
        self.count += 1
        temporary = self.counter.with_suffix(".tmp")
        temporary.write_text(str(self.count))
        temporary.replace(self.counter)
        super().save()

    def state(self) -> Any:
        return {"booked": self.booked, "count": self.count}


class CountsWhatItHolds(Booking):
    """Replaces one file that holds what it has counted, and counts that."""

    def state(self) -> Any:
        return {"booked": self.booked, "count": len(self.booked)}


class RewritesInPlace(Booking):
    """Cuts its checkpoint to nothing before it writes it again."""

    def save(self) -> None:
        self.path.write_text(json.dumps(self.booked))


class RewritesBeside(Booking):
    """Writes its checkpoint anew beside the old one, and then takes its name."""


class PaysFromFile(Booking):
    """Pays by a line in a ledger of its own, of which its receiver knows nothing."""

    def __init__(self, ctx: Context) -> None:
        super().__init__(ctx)
        self.ledger = ctx.directory / "ledger.txt"

    def mark(self, job: str) -> None:
        self.pay(job)
        super().mark(job)

    def pay(self, job: str) -> None:
        with self.ledger.open("a") as ledger:
            ledger.write(f"paid {job}\n")


class LooksIntoItsLedger(PaysFromFile):
    """Looks into its own ledger before it pays by a line in it."""

    def pay(self, job: str) -> None:
        if not self.ledger.exists() or f"paid {job}" not in self.ledger.read_text().splitlines():
            super().pay(job)


BROKEN = (
    broken_at_calls(
        CountsInOtherFile,
        FindingKind.RESUME_DIVERGED,
        "to count, and call ",
        "to booked.",
        inputs=ONE_JOB,
    ),
    broken_at_calls(RewritesInPlace, FindingKind.RESUME_CRASHED, "booked.json"),
    broken_at_calls(
        PaysFromFile,
        FindingKind.RESUME_DIVERGED,
        "ledger.txt holds the line 'paid job-1' 2 time(s), 1 without a crash",
        inputs=ONE_JOB,
    ),
)
CORRECT = (
    correct_at_calls(CountsWhatItHolds, inputs=ONE_JOB),
    correct_at_calls(RewritesBeside),
    correct_at_calls(LooksIntoItsLedger, inputs=ONE_JOB),
)
