"""Broken: they act twice, or not at all, for what they do round the effect itself."""

from __future__ import annotations

import threading

from resumeproof.domain.verdict import FindingKind
from resumeproof.lab.catalogue.booking import Booking
from resumeproof.lab.catalogue.entry import AFTER, BEFORE, broken
from resumeproof.proof.context import Context


class ActsWithoutKey(Booking):
    """Acts without a key, so that no receiver can tell a repeat from another order."""

    def book(self, job: str) -> None:
        self.ctx.effect("charge", job)
        self.mark(job)


class MarksBeforeItActs(Booking):
    """Marks a job as done before its effect, which a death between the two loses."""

    def book(self, job: str) -> None:
        self.mark(job)
        self.charge(job)


class ExceptsException(Booking):
    """Relies on `except Exception` to see every way in which an effect may end."""

    def book(self, job: str) -> None:
        try:
            self.charge(job)
        except Exception:
            return
        self.mark(job)


class ExceptsEverything(Booking):
    """Relies on a bare `except` to see every way in which an effect may end."""

    def book(self, job: str) -> None:
        try:
            self.charge(job)
        except:  # noqa: E722  the bug
            self.mark(job)
        else:
            self.mark(job)


class ActsInThread(Booking):
    """Acts in a thread whose exception nobody reads, and goes on as if it had returned."""

    def book(self, job: str) -> None:
        thread = threading.Thread(target=self.charge, args=(job,))
        thread.start()
        thread.join()
        self.mark(job)


class RecoversOnlyOnce(Booking):
    """Forgets that it is recovering before it has recovered: a second death repeats the effect."""

    def __init__(self, ctx: Context) -> None:
        super().__init__(ctx)
        self.note = ctx.directory / "in-hand"

    def book(self, job: str) -> None:
        known = None
        if self.note.exists() and self.note.read_text() == job:
            self.note.unlink()
            known = self.ctx.lookup(job)
        else:
            self.note.write_text(job)
        if known is None:
            self.charge(job)
        self.mark(job)
        self.note.unlink(missing_ok=True)


ENTRIES = (
    broken(ActsWithoutKey, FindingKind.EFFECT_REPLAYED, AFTER),
    broken(MarksBeforeItActs, FindingKind.EFFECT_LOST, BEFORE),
    broken(ExceptsException, FindingKind.EFFECT_REPLAYED, AFTER),
    broken(ExceptsEverything, FindingKind.EFFECT_REPLAYED, AFTER),
    broken(ActsInThread, FindingKind.EFFECT_REPLAYED, AFTER),
    broken(
        RecoversOnlyOnce,
        FindingKind.EFFECT_REPLAYED,
        [f"{point};effect:after#1" for point in BEFORE],
        depth=2,
    ),
)
