"""Workflows to test with, told as histories: what happened, one second apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from resumeproof.domain import protocol
from resumeproof.domain.canonical import digest_of
from resumeproof.domain.contract import Lookup, ToolContract
from resumeproof.domain.decision import Acknowledge, Conclusion, Decision, Purpose, Refuse
from resumeproof.domain.instant import format_instant, parse_instant
from resumeproof.domain.receipt import Receipt
from resumeproof.domain.record import Draft, Record
from resumeproof.domain.status import Event
from resumeproof.domain.workflow import Workflow

ACTION = b'{"arguments":{"amount":7},"tool":"charge"}'
DIGEST = digest_of(ACTION)
OTHER_DIGEST = "0" * 64
WORKFLOW_ID, LEDGER_ID = "wf-1", "ledger-1"
START = parse_instant("2026-01-01T00:00:00.000000Z")

Step = Draft | Callable[[Workflow], Draft]


def instant(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def at(seconds: float) -> str:
    return format_instant(instant(seconds))


def created(contract: ToolContract | None = None, **terms: Any) -> Draft:
    contract = contract or ToolContract("charge", idempotent=True)
    facts = {
        "contract": contract.to_json(),
        "digest": DIGEST,
        "key": "key-1",
        "ledger_id": LEDGER_ID,
        "max_recoveries": 5,
        "max_retries": 3,
        "program": "tool_call",
        "program_digest": "p" * 64,
        "retry_base_seconds": 1.0,
        "step": "approve",
    }
    return Draft(Event.CREATED, facts | terms)


APPROVED = Draft(Event.APPROVED, {"actor": "alice", "digest": DIGEST, "then": "call"})
REPLACED = Draft(Event.ACTION_REPLACED, {"digest": OTHER_DIGEST, "step": "approve"})
CANCELLED = Draft(Event.CANCELLED, {})
FAILED = Draft(Event.FAILED, {"reason": "retries_exhausted"})
COMPLETED = Draft(Event.COMPLETED, {"output": {"receipt_id": "receipt-1"}})
RECONCILED = Draft(Event.RECONCILED_APPLIED, {"actor": "alice", "note": ""})


def claims(purpose: Purpose) -> Step:
    return lambda told: protocol.claim(told, purpose, driver="driver-1", digest=DIGEST)


def attempt_failed(*, stays_in_doubt: bool = False, retry_at: str | None = None) -> Step:
    event = Event.ATTEMPT_FAILED_IN_DOUBT if stays_in_doubt else Event.ATTEMPT_FAILED
    facts = {"reason": "declined", "retry_at": retry_at}
    return lambda told: Draft(event, {"attempt": told.attempts, **facts})


def lookup_failed(told: Workflow) -> Draft:
    return Draft(Event.LOOKUP_FAILED, {"attempt": told.attempts, "reason": "no route"})


def absence_proved(told: Workflow) -> Draft:
    return Draft(Event.ABSENCE_PROVED, {"attempt": told.attempts})


def marked_unknown(told: Workflow) -> Draft:
    recovered = protocol.dead_attempt(told)
    facts = {"reason": "outcome_unknown", "recovered_attempt": recovered}
    return Draft(Event.MARKED_UNKNOWN, facts)


def receipt(**columns: Any) -> Receipt:
    facts: dict[str, Any] = {
        "sequence": 1,
        "receipt_id": "receipt-1",
        "ledger_id": LEDGER_ID,
        "workflow_id": WORKFLOW_ID,
        "step": "call",
        "attempt": 1,
        "tool": "charge",
        "key": "key-1",
        "fingerprint": DIGEST,
        "applied_at": at(2),
    }
    unhashed = Receipt(**(facts | columns))
    return replace(unhashed, hash=unhashed.recomputed_hash())


def acknowledged(told: Workflow) -> Draft:
    conclusion = Acknowledge(receipt(), replayed=False, source=Purpose.CALL)
    (draft,) = protocol.outcome(told, conclusion, claimed=True, then="finish")
    return draft


def history(*steps: Step) -> tuple[tuple[Record, ...], Workflow]:
    """The timeline in which the n-th step (from 0) happened n seconds after `START`."""
    records: tuple[Record, ...] = ()
    told: Workflow | None = None
    for seconds, step in enumerate(steps):
        if not isinstance(step, Draft):
            assert told is not None
            step = step(told)
        more, told = protocol.extend(told, (step,), workflow_id=WORKFLOW_ID, at=at(seconds))
        records += more
    assert told is not None
    return records, told


def workflow(*steps: Step) -> Workflow:
    return history(*steps)[1]


CALL, REPLAY, LOOKUP = (claims(purpose) for purpose in Purpose)
EVERY_EVENT_ON_THE_WAY_TO_COMPLETION: tuple[Step, ...] = (
    created(),
    REPLACED,
    Draft(Event.ACTION_REPLACED, {"digest": DIGEST, "step": "approve"}),
    APPROVED,
    CALL,
    attempt_failed(retry_at=at(5)),
    CALL,
    REPLAY,
    attempt_failed(stays_in_doubt=True),
    LOOKUP,
    lookup_failed,
    LOOKUP,
    absence_proved,
    CALL,
    acknowledged,
    COMPLETED,
)

NONE = ToolContract("charge")
IDEMPOTENT = ToolContract("charge", idempotent=True)
CONSISTENT = ToolContract("charge", lookup=Lookup.CONSISTENT)
EVENTUAL = ToolContract("charge", lookup=Lookup.EVENTUAL, lookup_lag_seconds=5)
BRIEF = ToolContract("charge", idempotent=True, key_lifetime_seconds=10)
BOTH = ToolContract("charge", idempotent=True, lookup=Lookup.CONSISTENT)
SPENT_IN_DOUBT = (REPLAY, attempt_failed(stays_in_doubt=True))


def called(contract: ToolContract, *more: Step, **terms: Any) -> Workflow:
    """Claimed for its first call 2 s after the start, and then what `more` says."""
    return workflow(created(contract, **terms), APPROVED, CALL, *more)


def outline(decided: Decision | Conclusion) -> object:
    """Decisions compare by value, errors by their facts."""
    if isinstance(decided, Refuse):
        return type(decided.error).__name__, *decided.error.facts.values()
    return decided
