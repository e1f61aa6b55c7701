"""The second recovery table: what a tool's answer makes of the workflow that asked."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from resumeproof.domain.contract import Lookup
from resumeproof.domain.decision import (
    AbsenceProved,
    Acknowledge,
    AttemptFailed,
    Conclusion,
    Doubt,
    Fail,
    LookupFailed,
    MarkUnknown,
    Purpose,
    Refuse,
)
from resumeproof.domain.instant import format_instant, parse_instant
from resumeproof.domain.receipt import Answer, Receipt
from resumeproof.domain.recovery import unsettled
from resumeproof.domain.workflow import Workflow
from resumeproof.errors import (
    AttemptRepeated,
    AttemptSuperseded,
    FailedBeforeEffect,
    Fenced,
    KeyConflict,
    NotYet,
    ResumeproofError,
    ToolUnreachable,
)


@dataclass(frozen=True)
class Found:
    """A lookup's answer: the effect's receipt, or None for "nothing there"."""

    receipt: Receipt | None


def conclude_call(
    workflow: Workflow, *, fingerprint: str, answer: Answer | ResumeproofError
) -> Conclusion:
    """What the answer to a call or a replay makes of the workflow that made it.

    `fingerprint` is the digest of the bytes sent. Whatever is not listed leaves the outcome in
    doubt, and writes nothing.
    """
    match answer:
        case Answer(receipt, replayed):
            if receipt.damage(fingerprint=fingerprint) is not None:
                return MarkUnknown(Doubt.RECEIPT_UNVERIFIABLE)
            return Acknowledge(receipt, replayed, Purpose.CALL)
        case KeyConflict():
            if workflow.doubt_before_attempt:
                return MarkUnknown(Doubt.KEY_CONFLICT)
            return Fail("key_conflict")
        case Fenced(attempt=attempt):
            return Refuse(AttemptSuperseded(workflow.id, attempt))
        case AttemptRepeated():
            return MarkUnknown(Doubt.JOURNAL_REWOUND)
        case FailedBeforeEffect(reason=reason):
            return AttemptFailed(
                reason,
                stays_in_doubt=workflow.doubt_before_attempt,
                exhausted=workflow.failures + 1 >= workflow.max_retries,
            )
        case ToolUnreachable():
            return Refuse(answer)
        case error:
            return Refuse(ToolUnreachable(workflow.id, str(error)))


def conclude_lookup(
    workflow: Workflow, *, fingerprint: str, now: datetime, answer: Found | ResumeproofError
) -> Conclusion:
    """What a lookup's answer makes of the workflow in doubt that asked."""
    match answer:
        case Found(receipt):
            if receipt is None:
                return _nothing_found(workflow, now)
            if receipt.damage(fingerprint=fingerprint) is not None:
                return MarkUnknown(Doubt.RECEIPT_UNVERIFIABLE)
            return Acknowledge(receipt, replayed=True, source=Purpose.LOOKUP)
        case Fenced(attempt=attempt):
            return Refuse(AttemptSuperseded(workflow.id, attempt))
        case AttemptRepeated():
            return MarkUnknown(Doubt.JOURNAL_REWOUND)
        case ToolUnreachable(cause=cause):
            return LookupFailed(cause)
        case error:
            return LookupFailed(str(error))


def _nothing_found(workflow: Workflow, now: datetime) -> Conclusion:
    if workflow.contract.lookup is Lookup.CONSISTENT:
        return AbsenceProved()
    lag = timedelta(seconds=workflow.contract.lookup_lag_seconds)
    if workflow.last_call_at is not None:
        shows_by = parse_instant(workflow.last_call_at) + lag
        if now < shows_by:
            return Refuse(
                NotYet(workflow.id, format_instant(shows_by), "the effect may not show yet")
            )
    return unsettled(workflow, now)
