"""What nobody can know: reported honestly, hidden, and reported where it could be known."""

from __future__ import annotations

import json
from typing import Any

from resumeproof.domain.verdict import FindingKind
from resumeproof.lab.catalogue.entry import (
    AFTER,
    ASKABLE,
    BEFORE,
    NEEDLESS_ESCALATION,
    SILENT,
    broken,
    correct,
)
from resumeproof.proof.context import Context, Unknown

IN_HAND, BOOKED, IN_DOUBT = "in hand", "booked", "in doubt"


class ReportsDoubt:
    """Reports as unknown what a former life had in hand, since its receiver cannot be asked."""

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self.path = ctx.directory / "jobs.json"
        saved = json.loads(self.path.read_text()) if self.path.exists() else {}
        self.jobs: dict[str, str] = {
            job: self.recovered(job) if found == IN_HAND else found for job, found in saved.items()
        }
        self.save()

    def recovered(self, job: str) -> str:
        return IN_DOUBT

    def step(self, job: str) -> None:
        if job not in self.jobs:
            self.mark(job, IN_HAND)
            self.ctx.effect("send", job, key=job)
            self.mark(job, BOOKED)

    def mark(self, job: str, found: str) -> None:
        self.jobs[job] = found
        self.save()

    def save(self) -> None:
        temporary = self.path.with_suffix(".tmp")
        temporary.write_text(json.dumps(self.jobs))
        temporary.replace(self.path)

    def state(self) -> Any:
        return {
            job: Unknown(job) if found == IN_DOUBT else found for job, found in self.jobs.items()
        }


class HidesDoubt(ReportsDoubt):
    """Reports its doubt of a charge, and assumes of a mail that it went out."""

    def recovered(self, job: str) -> str:
        return IN_DOUBT if job.startswith("charge") else BOOKED


class DoubtsNeedlessly(ReportsDoubt):
    """Asks a human about what it could have asked the receiver."""


CORRECT = (correct(ReportsDoubt, SILENT),)
BROKEN = (
    broken(
        HidesDoubt,
        FindingKind.AMBIGUITY_HIDDEN,
        (BEFORE[1], AFTER[1]),
        also=(FindingKind.EFFECT_LOST,),
        contract=SILENT,
        inputs=("charge-1", "mail-1"),
    ),
    broken(DoubtsNeedlessly, NEEDLESS_ESCALATION, (), contract=ASKABLE),
)
