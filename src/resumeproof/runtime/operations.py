"""What people do to a workflow: approve, replace, cancel, reconcile, send.

Each is one commit, by compare-and-swap on the revision that was read, so that of two opposite
decisions one wins and the other is told. Actors are labels for the record, not authentication.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any

from resumeproof.domain.action import Action
from resumeproof.domain.command import Approve, Call
from resumeproof.domain.folding import next_status
from resumeproof.domain.inspection import found_digest, inspect
from resumeproof.domain.instant import format_instant
from resumeproof.domain.record import Draft
from resumeproof.domain.status import Event
from resumeproof.domain.workflow import Workflow
from resumeproof.errors import (
    ApprovalMismatch,
    InvalidTransition,
    JournalDamaged,
    StoreUnavailable,
    UsageRefused,
)
from resumeproof.runtime.clock import Clock
from resumeproof.runtime.engine import Held
from resumeproof.runtime.health import Counter, Health
from resumeproof.runtime.kernel import ends, write
from resumeproof.runtime.programs import PROGRAMS, Programs, program_of
from resumeproof.stores.protocols import Journal


class Resolution(StrEnum):
    """What an operator found out about an effect in doubt."""

    CONFIRMED_APPLIED = "confirmed_applied"
    CONFIRMED_NOT_APPLIED = "confirmed_not_applied"


_DECIDED = {
    Resolution.CONFIRMED_APPLIED: Event.RECONCILED_APPLIED,
    Resolution.CONFIRMED_NOT_APPLIED: Event.RECONCILED_NOT_APPLIED,
}


def hold(journal: Journal, workflow_id: str, programs: Programs = PROGRAMS) -> Held:
    """Load a workflow. Raises `WorkflowNotFound`, `JournalDamaged` or `ProgramChanged`."""
    stored = journal.load(workflow_id)
    inspection = inspect(stored)
    workflow = inspection.workflow
    if workflow is None:
        raise JournalDamaged(workflow_id, str(inspection.damage))
    program = program_of(workflow.id, workflow.program, workflow.program_digest, programs)
    return Held(workflow, program, stored)


def approve(
    journal: Journal,
    clock: Clock,
    workflow_id: str,
    *,
    actor: str,
    programs: Programs = PROGRAMS,
) -> Workflow:
    """Approve the stored action, by its digest.

    Raises `InvalidTransition` where nothing waits for an approval, `ApprovalMismatch` where the
    stored bytes are not those that were created.
    """
    held = hold(journal, workflow_id, programs)
    digest = held.workflow.action_digest
    found = found_digest(held.stored, digest)
    if found != digest:
        raise ApprovalMismatch(workflow_id, digest, found)
    # Asked of the table first: an approved workflow's next node is no approval any more.
    next_status(workflow_id, held.workflow.status, Event.APPROVED)
    command = held.command
    if not isinstance(command, Approve):
        raise InvalidTransition(workflow_id, held.workflow.status, Event.APPROVED)
    facts = {"actor": actor, "digest": command.action.digest, "then": command.then}
    return _commit(journal, clock, held, [Draft(Event.APPROVED, facts)])


def replace_action(journal: Journal, clock: Clock, workflow_id: str, *, action: Action) -> Workflow:
    """Swap the action and void its approval.

    Raises `InvalidTransition` once an attempt started, `UsageRefused` for an action of another
    tool, whose promises nobody knows.
    """
    held = hold(journal, workflow_id)
    tool = held.workflow.contract.name
    if action.tool != tool:
        raise UsageRefused(
            f"workflow {workflow_id} calls {tool}, and {action.tool} is another tool, "
            "whose promises nobody knows"
        )
    facts = {"digest": action.digest, "step": held.program.start}
    swapped = replace(
        held,
        stored=replace(held.stored, action=action.canonical, action_digest=action.digest),
    )
    return _commit(journal, clock, swapped, [Draft(Event.ACTION_REPLACED, facts)])


def cancel(journal: Journal, clock: Clock, workflow_id: str) -> Workflow:
    """Withdraw a workflow. Raises `InvalidTransition` once an attempt started."""
    return _commit(journal, clock, hold(journal, workflow_id), [Draft(Event.CANCELLED, {})])


def reconcile(
    journal: Journal,
    clock: Clock,
    workflow_id: str,
    *,
    resolution: Resolution,
    actor: str,
    note: str,
    programs: Programs = PROGRAMS,
) -> Workflow:
    """Record an operator's decision on a workflow in doubt; the first decision stands.

    It ends a workflow whose program is one call, and lets any other go on from the decided step.
    Raises `InvalidTransition` for a workflow that is not `unknown`.
    """
    facts: dict[str, Any] = {"actor": actor, "note": note}
    held = hold(journal, workflow_id, programs)
    command = held.command if held.workflow.in_doubt else None
    if held.program.ends_when_decided or not isinstance(command, Call):
        return _commit(journal, clock, held, [Draft(_DECIDED[resolution], facts)])
    facts |= {
        "applied": resolution is Resolution.CONFIRMED_APPLIED,
        "step": held.workflow.step,
        "then": command.then,
    }
    return _commit(journal, clock, held, [Draft(Event.DECIDED, facts)])


def send(
    journal: Journal,
    clock: Clock,
    workflow_id: str,
    *,
    payload: Any,
    sender: str,
    programs: Programs = PROGRAMS,
) -> Workflow:
    """Leave a message (JSON) in a workflow's inbox; it is applied once, in order, by a `Drain`.

    Raises `InvalidTransition` for a workflow that has ended.
    """
    held = hold(journal, workflow_id, programs)
    facts = {"payload": payload, "sender": sender}
    return _commit(journal, clock, held, [Draft(Event.MESSAGE_RECEIVED, facts)])


def _commit(journal: Journal, clock: Clock, held: Held, drafts: Sequence[Draft]) -> Workflow:
    """Write one decision; a failure to write one that ends the workflow is counted and raised."""
    try:
        with journal.transaction() as transaction:
            return write(transaction, held, drafts, at=format_instant(clock.now())).workflow
    except (StoreUnavailable, OSError) as error:
        if ends(held, drafts, at=format_instant(clock.now())):
            Health(journal.path, clock).count(Counter.TERMINAL_APPEND_FAILED, str(error))
        raise
