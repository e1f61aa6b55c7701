"""What people do to a workflow: create, approve, replace, cancel, reconcile.

Each is one commit, by compare-and-swap on the revision that was read, so that of two opposite
decisions one wins and the other is told. Actors are labels for the record, not authentication.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from resumeproof.domain.action import Action
from resumeproof.domain.command import Approve, Program
from resumeproof.domain.contract import ToolContract
from resumeproof.domain.folding import next_status
from resumeproof.domain.inspection import Stored, found_digest, inspect
from resumeproof.domain.instant import format_instant
from resumeproof.domain.protocol import extend
from resumeproof.domain.record import Draft
from resumeproof.domain.status import ENDED, TRANSITIONS, Event
from resumeproof.domain.workflow import Workflow
from resumeproof.errors import (
    ApprovalMismatch,
    InvalidTransition,
    JournalDamaged,
    StoreUnavailable,
    UsageRefused,
)
from resumeproof.runtime.clock import Clock
from resumeproof.runtime.health import Counter, Health
from resumeproof.runtime.kernel import Held, write
from resumeproof.runtime.programs import program_of
from resumeproof.stores.protocols import Journal

MAX_RETRIES = 3
MAX_RECOVERIES = 5
RETRY_BASE_SECONDS = 1.0


class Resolution(StrEnum):
    """What an operator found out about an effect in doubt."""

    CONFIRMED_APPLIED = "confirmed_applied"
    CONFIRMED_NOT_APPLIED = "confirmed_not_applied"


_DECIDED = {
    Resolution.CONFIRMED_APPLIED: Event.RECONCILED_APPLIED,
    Resolution.CONFIRMED_NOT_APPLIED: Event.RECONCILED_NOT_APPLIED,
}


@dataclass(frozen=True)
class Terms:
    """On what terms a workflow runs; fixed at its creation.

    `max_retries` caps the attempts that failed before an effect (the first counts);
    `max_recoveries` the attempts in doubt since the last acknowledgement.
    """

    ledger_id: str
    contract: ToolContract
    key: str | None
    max_retries: int = MAX_RETRIES
    max_recoveries: int = MAX_RECOVERIES
    retry_base_seconds: float = RETRY_BASE_SECONDS


def hold(journal: Journal, workflow_id: str) -> Held:
    """Load a workflow. Raises `WorkflowNotFound`, `JournalDamaged` or `ProgramChanged`."""
    stored = journal.load(workflow_id)
    inspection = inspect(stored)
    workflow = inspection.workflow
    if workflow is None:
        raise JournalDamaged(workflow_id, str(inspection.damage))
    return Held(
        workflow, program_of(workflow.id, workflow.program, workflow.program_digest), stored
    )


def create(
    journal: Journal,
    clock: Clock,
    *,
    workflow_id: str,
    program: Program,
    action: Action,
    terms: Terms,
) -> Held:
    """Store an action as a new workflow. Raises `WorkflowExists`."""
    facts = {
        "contract": terms.contract.to_json(),
        "digest": action.digest,
        "key": terms.key,
        "ledger_id": terms.ledger_id,
        "max_recoveries": terms.max_recoveries,
        "max_retries": terms.max_retries,
        "program": program.name,
        "program_digest": program.digest,
        "retry_base_seconds": terms.retry_base_seconds,
        "step": program.start,
    }
    at = format_instant(clock.now())
    records, workflow = extend(None, (Draft(Event.CREATED, facts),), workflow_id=workflow_id, at=at)
    with journal.transaction() as transaction:
        for record in records:
            transaction.append(record)
        transaction.save(workflow, action.canonical, expected_revision=0)
    return Held(workflow, program, Stored(workflow.row(), action.canonical, action.digest, records))


def approve(journal: Journal, clock: Clock, workflow_id: str, *, actor: str) -> Workflow:
    """Approve the stored action, by its digest.

    Raises `InvalidTransition` where nothing waits for an approval, `ApprovalMismatch` where the
    stored bytes are not those that were created.
    """
    held = hold(journal, workflow_id)
    digest = held.workflow.action_digest
    found = found_digest(held.stored, digest)
    if found != digest:
        raise ApprovalMismatch(workflow_id, digest, found)
    # Asked of the table first: an approved workflow's next node is no approval any more.
    next_status(workflow_id, held.workflow.status, Event.APPROVED)
    command = held.command()
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
) -> Workflow:
    """Record an operator's decision on a workflow in doubt; the first decision stands.

    Raises `InvalidTransition` for a workflow that is not `unknown`.
    """
    facts = {"actor": actor, "note": note}
    held = hold(journal, workflow_id)
    return _commit(journal, clock, held, [Draft(_DECIDED[resolution], facts)])


def _commit(journal: Journal, clock: Clock, held: Held, drafts: Sequence[Draft]) -> Workflow:
    """Write one decision; a failure to write one that ends the workflow is counted and raised."""
    try:
        with journal.transaction() as transaction:
            return write(transaction, held, drafts, at=format_instant(clock.now())).workflow
    except StoreUnavailable as error:
        status = held.workflow.status
        if any(TRANSITIONS.get((status, draft.event)) in ENDED for draft in drafts):
            Health(journal.path, clock).count(Counter.TERMINAL_APPEND_FAILED, str(error))
        raise
