"""Drive workflows: tick until nothing more can be done, holding the journal's lock."""

from __future__ import annotations

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
    held, refusal = _as_far_as_it_goes(hold_of_ledger(engine, workflow_id), engine)
    if refusal is not None:
        raise refusal
    return held.workflow


def _as_far_as_it_goes(held: Held, engine: Engine) -> tuple[Held, Exception | None]:
    """The workflow after its last transition, and what it waits for, if it waits.

    What refuses a transition so has written nothing.
    """
    while True:
        # Bounded: every tick ends, raises, or spends an attempt that is capped.
        try:
            held = tick(held, engine)
        except (NotYet, ApprovalRequired, ReconciliationRequired) as refusal:
            return held, refusal
        if held.settled:
            return held, None


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
    """Those that have not ended: by status, so that who waits comes last, in order of creation.

    All rows are read once, since a journal of files reads each of its workflows for any status.
    """
    found: dict[str, list[str]] = {status: [] for status in Status if status not in ENDED}
    for stored in engine.journal.rows():
        if (ids := found.get(stored.row["status"])) is not None:
            ids.append(str(stored.row["id"]))
    return [workflow_id for ids in found.values() for workflow_id in ids]


def _goes_on(engine: Engine, workflow_id: str) -> bool:
    """Drive one workflow; whether that has changed anything."""
    before = hold_of_ledger(engine, workflow_id)
    after, _ = _as_far_as_it_goes(before, engine)
    return after.workflow.revision != before.workflow.revision
