"""Drive workflows: tick until nothing more can be done, holding the journal's lock."""

from __future__ import annotations

from contextlib import suppress

from resumeproof.domain.status import ENDED, Status
from resumeproof.domain.workflow import Workflow
from resumeproof.errors import ApprovalRequired, NotYet, ReconciliationRequired, WrongLedger
from resumeproof.runtime.engine import Engine, Held
from resumeproof.runtime.kernel import tick
from resumeproof.runtime.operations import hold


def hold_of_ledger(engine: Engine, workflow_id: str) -> Held:
    """Load a workflow that belongs to the engine's ledger. Raises `WrongLedger` besides."""
    held = hold(engine.journal, workflow_id, engine.programs)
    if held.workflow.ledger_id != engine.ledger_id:
        raise WrongLedger(workflow_id, held.workflow.ledger_id, engine.ledger_id)
    return held


def drive(engine: Engine, workflow_id: str) -> Workflow:
    """Resume one workflow as far as it goes, and return it.

    A workflow that ended is returned as it is; nothing is written. Whatever is refused raises the
    refusal's error (`NotYet`, `ReconciliationRequired`, `ApprovalMismatch`, ...), and what the
    journal says then is what is true.
    """
    held = hold_of_ledger(engine, workflow_id)
    while True:
        # Bounded: every tick ends, raises, or spends an attempt that is capped.
        held = tick(held, engine)
        if held.settled:
            return held.workflow


def drive_all(engine: Engine) -> None:
    """Drive every workflow that has not ended, again and again, until none goes any further.

    One waits for another: a pass that changes something makes another pass worth while. What is
    left waits for a time, an approval, a message or an operator.
    """
    while True:
        unfinished = _unfinished(engine)
        changed = [_goes_on(engine, workflow_id) for workflow_id in unfinished]
        # A parent that starts a child anew is no further for it, but there is more to drive.
        if not any(changed) and _unfinished(engine) == unfinished:
            return


def _unfinished(engine: Engine) -> list[str]:
    return [
        str(stored.row["id"])
        for status in Status
        if status not in ENDED
        for stored in engine.journal.rows(status)
    ]


def _goes_on(engine: Engine, workflow_id: str) -> bool:
    """Drive one workflow; whether that has changed anything."""
    before = hold_of_ledger(engine, workflow_id).workflow.revision
    with suppress(NotYet, ApprovalRequired, ReconciliationRequired):
        drive(engine, workflow_id)
    return hold_of_ledger(engine, workflow_id).workflow.revision != before
