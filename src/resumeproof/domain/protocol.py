"""What each decision writes: the drafts of the records, and the workflow after them.

A claim is one commit of one record; an outcome is one commit of one or two. Nothing here does
I/O; `extend` chains drafts behind a workflow and folds them in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from resumeproof.domain.command import Call
from resumeproof.domain.decision import (
    AbsenceProved,
    Acknowledge,
    AttemptFailed,
    Doubt,
    Fail,
    LookupFailed,
    MarkUnknown,
    Purpose,
)
from resumeproof.domain.folding import apply
from resumeproof.domain.record import GENESIS, Draft, Record, chain
from resumeproof.domain.status import Event
from resumeproof.domain.workflow import Workflow

Outcome = Acknowledge | AttemptFailed | AbsenceProved | LookupFailed | Fail | MarkUnknown


def extend(
    workflow: Workflow | None, drafts: Sequence[Draft], *, workflow_id: str, at: str
) -> tuple[tuple[Record, ...], Workflow]:
    """Chain `drafts` behind the workflow (None: before its first record) and fold them in.

    Raises `InvalidTransition` where the state machine has no such step; then nothing happened.
    """
    records: list[Record] = []
    for draft in drafts:
        record = chain(
            workflow_id,
            sequence=workflow.revision + 1 if workflow else 1,
            previous=workflow.head_hash if workflow else GENESIS,
            at=at,
            draft=draft,
        )
        workflow = apply(workflow, record)
        records.append(record)
    if workflow is None:
        raise ValueError("nothing to extend, and nothing to extend it by")
    return tuple(records), workflow


def dead_attempt(workflow: Workflow) -> int | None:
    """The number of the attempt that a new driver finds dead; None where none is open."""
    return workflow.open_attempt.number if workflow.open_attempt else None


def claim(
    workflow: Workflow, purpose: Purpose, *, driver: str, digest: str, call: Call | None = None
) -> Draft:
    """The record of an attempt, written before anything is sent.

    Where `call` bears another key than the workflow's, or asks for no approval, the record says so:
    whoever audits it knows no programs.
    """
    facts: dict[str, Any] = {
        "attempt": workflow.attempts + 1,
        "digest": digest,
        "driver": driver,
        "purpose": str(purpose),
        "recovered_attempt": dead_attempt(workflow),
        "step": workflow.step,
    }
    if call is not None and call.key != workflow.key:
        facts["key"] = call.key
    if call is not None and not call.needs_approval:
        facts["needs_approval"] = False
    return Draft(Event.ATTEMPT_STARTED, facts)


def outcome(
    workflow: Workflow,
    conclusion: Outcome,
    *,
    claimed: bool,
    then: str | None = None,
    retry_at: str | None = None,
) -> tuple[Draft, ...]:
    """The records of an outcome.

    `claimed` says that the open attempt is the present driver's own, so that nothing dead is
    recovered by this record. `then` names the node after an acknowledged step, and `retry_at` the
    instant before which a failed attempt is not repeated.
    """
    recovered = None if claimed else dead_attempt(workflow)
    match conclusion:
        case Acknowledge():
            return (_acknowledgement(workflow, conclusion, then, recovered),)
        case AttemptFailed(reason, stays_in_doubt, exhausted):
            event = Event.ATTEMPT_FAILED_IN_DOUBT if stays_in_doubt else Event.ATTEMPT_FAILED
            spent = exhausted and not stays_in_doubt
            facts = {
                "attempt": workflow.attempts,
                "reason": reason,
                "retry_at": None if spent else retry_at,
            }
            failed = Draft(event, facts)
            return (failed, _failure("retries_exhausted")) if spent else (failed,)
        case AbsenceProved():
            return (Draft(Event.ABSENCE_PROVED, {"attempt": workflow.attempts}),)
        case LookupFailed(cause):
            return (Draft(Event.LOOKUP_FAILED, {"attempt": workflow.attempts, "reason": cause}),)
        case Fail(reason):
            return (_failure(reason),)
        case MarkUnknown(reason):
            return (_mark_unknown(reason, recovered),)


def _acknowledgement(
    workflow: Workflow, conclusion: Acknowledge, then: str | None, recovered: int | None
) -> Draft:
    facts: Mapping[str, Any] = {
        "attempt": workflow.attempts,
        "receipt": conclusion.receipt.to_json(),
        "recovered_attempt": recovered,
        "replayed": conclusion.replayed,
        "source": str(conclusion.source),
        "step": workflow.step,
        "then": then,
    }
    return Draft(Event.EFFECT_ACKNOWLEDGED, facts)


def _failure(reason: str) -> Draft:
    return Draft(Event.FAILED, {"reason": reason})


def _mark_unknown(reason: Doubt, recovered: int | None) -> Draft:
    return Draft(Event.MARKED_UNKNOWN, {"reason": str(reason), "recovered_attempt": recovered})
