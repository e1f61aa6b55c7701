"""The world of one life of a shape: its driver, its clock, and what people do outside it.

Whatever happens here once asks the journal first whether it has happened: each life starts its
script anew, and none knows how far the one before it came.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from typing import Any

from resumeproof.domain.action import Action
from resumeproof.domain.contract import ToolContract
from resumeproof.domain.status import ENDED, Event
from resumeproof.errors import ApprovalRequired, NotYet, WorkflowNotFound
from resumeproof.runtime.clock import SteppedClock
from resumeproof.runtime.creation import Terms, create
from resumeproof.runtime.driver import drive, drive_all
from resumeproof.runtime.engine import Engine, Held
from resumeproof.runtime.operations import approve, hold, send


class World:
    """One life's engine and its virtual clock. Every workflow has its own id as its key."""

    def __init__(self, engine: Engine, clock: SteppedClock, contract: ToolContract) -> None:
        self.engine = engine
        self.clock = clock
        self._contract = contract

    def create(self, workflow_id: str, program: str, action: Action) -> None:
        """Create a workflow, unless it is there already; its contract first."""
        engine = self.engine
        with suppress(WorkflowNotFound):
            engine.journal.load(workflow_id)
            return
        engine.register(workflow_id, self._contract)
        create(
            engine.journal,
            engine.clock,
            workflow_id=workflow_id,
            program=engine.programs[program],
            action=action,
            terms=Terms(engine.ledger_id, self._contract, workflow_id, retry_base_seconds=0.0),
        )

    def drive(self) -> None:
        """Drive every workflow as far as it goes."""
        drive_all(self.engine)

    def drive_one(self, workflow_id: str) -> None:
        """Drive one workflow as far as it goes, and no other."""
        with suppress(NotYet, ApprovalRequired):
            drive(self.engine, workflow_id)

    def approve(self, workflow_id: str) -> None:
        """Approve what is stored, unless it is approved already."""
        engine = self.engine
        if self.held(workflow_id).workflow.approved_digest is None:
            approve(
                engine.journal,
                engine.clock,
                workflow_id,
                actor="operator",
                programs=engine.programs,
            )

    def send(self, workflow_id: str, payload: Any) -> None:
        """Send a message, unless the workflow has received it already, or has ended."""
        held = self.held(workflow_id)
        if payload not in received(held) and held.workflow.status not in ENDED:
            self.apply(workflow_id, payload)

    def apply(self, workflow_id: str, payload: Any) -> None:
        """Leave a message in a workflow's inbox."""
        engine = self.engine
        send(
            engine.journal,
            engine.clock,
            workflow_id,
            payload=payload,
            sender="operator",
            programs=engine.programs,
        )

    def pass_until(self, instant: datetime) -> None:
        """Let time pass, unless it has."""
        self.clock.advance(max(0.0, (instant - self.clock.now()).total_seconds()))

    def held(self, workflow_id: str) -> Held:
        return hold(self.engine.journal, workflow_id, self.engine.programs)


def received(held: Held) -> list[Any]:
    """The messages that a workflow has received, applied or not, in order."""
    return [
        record.facts["payload"]
        for record in held.stored.records
        if record.event == Event.MESSAGE_RECEIVED
    ]
