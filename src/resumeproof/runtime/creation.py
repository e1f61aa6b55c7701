"""How a workflow comes to be: one record, one row, one commit."""

from __future__ import annotations

from dataclasses import dataclass

from resumeproof.domain.action import Action
from resumeproof.domain.command import Program
from resumeproof.domain.contract import ToolContract
from resumeproof.domain.instant import format_instant
from resumeproof.domain.protocol import extend
from resumeproof.domain.record import Draft
from resumeproof.domain.status import Event
from resumeproof.domain.workflow import Workflow
from resumeproof.runtime.clock import Clock
from resumeproof.stores.protocols import Journal

MAX_RETRIES = 3
MAX_RECOVERIES = 5
RETRY_BASE_SECONDS = 1.0


@dataclass(frozen=True)
class Terms:
    """On what terms a workflow runs; fixed at its creation.

    `max_retries` caps the attempts that failed before an effect (the first counts), and
    `max_recoveries` the attempts in doubt; both since the last settled step.
    """

    ledger_id: str
    contract: ToolContract
    key: str | None
    max_retries: int = MAX_RETRIES
    max_recoveries: int = MAX_RECOVERIES
    retry_base_seconds: float = RETRY_BASE_SECONDS


def create(
    journal: Journal,
    clock: Clock,
    *,
    workflow_id: str,
    program: Program,
    action: Action,
    terms: Terms,
) -> Workflow:
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
    return workflow
