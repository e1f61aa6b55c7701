"""What most agents of the catalogue have in common."""

from __future__ import annotations

import json
from typing import Any

from resumeproof.proof.context import Context


class Booking:
    """Books each job once. This one is correct; others differ in what their first line says."""

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self.path = ctx.directory / "booked.json"
        self.booked: list[str] = self.load()

    def load(self) -> list[str]:
        return list(json.loads(self.path.read_text())) if self.path.exists() else []

    def step(self, job: str) -> None:
        if job not in self.booked:
            self.book(job)

    def book(self, job: str) -> None:
        if self.ctx.lookup(job) is None:
            self.charge(job)
        self.mark(job)

    def charge(self, job: str) -> None:
        self.ctx.effect("charge", job, key=job)

    def mark(self, job: str) -> None:
        self.booked.append(job)
        self.save()

    def save(self) -> None:
        temporary = self.path.with_suffix(".tmp")
        temporary.write_text(json.dumps(self.booked))
        temporary.replace(self.path)

    def state(self) -> Any:
        return {"booked": self.booked}
