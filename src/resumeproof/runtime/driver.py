"""Drive workflows: tick until nothing more can be done, holding the journal's lock."""

from __future__ import annotations

from resumeproof.domain.workflow import Workflow
from resumeproof.errors import WrongLedger
from resumeproof.runtime.kernel import Engine, Held, tick
from resumeproof.runtime.operations import hold


def hold_of_ledger(engine: Engine, workflow_id: str) -> Held:
    """Load a workflow that belongs to the engine's ledger. Raises `WrongLedger` besides."""
    held = hold(engine.journal, workflow_id)
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
