"""What each answer to a call, a replay or a lookup makes of the workflow that asked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from resumeproof.domain.conclusion import Found, conclude_call, conclude_lookup
from resumeproof.domain.contract import Lookup, ToolContract
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
from resumeproof.domain.receipt import Answer
from resumeproof.domain.workflow import Workflow
from resumeproof.errors import (
    AttemptRepeated,
    FailedBeforeEffect,
    Fenced,
    KeyConflict,
    ResumeproofError,
    StoreUnavailable,
    ToolUnreachable,
)
from tests.unit.domain.samples import (
    CONSISTENT,
    DIGEST,
    EVENTUAL,
    IDEMPOTENT,
    LOOKUP,
    OTHER_DIGEST,
    REPLAY,
    SPENT_IN_DOUBT,
    WORKFLOW_ID,
    at,
    called,
    instant,
    outline,
    receipt,
)

# -- what a call's answer comes to -----------------------------------------------------------

FIRST = called(IDEMPOTENT)
AGAIN = called(IDEMPOTENT, REPLAY)
LAST = called(IDEMPOTENT, max_retries=1)
LAST_AGAIN = called(IDEMPOTENT, REPLAY, max_retries=1)
BAD_RECEIPT = replace(receipt(), attempt=7)
OTHER_RECEIPT = receipt(fingerprint=OTHER_DIGEST)
UNREACHABLE = ToolUnreachable(WORKFLOW_ID, "reset by peer")
FULL_DISK = StoreUnavailable("ledger", "ledger.sqlite3", "disk full")
REPEATED = AttemptRepeated(WORKFLOW_ID, "call", 1)
FAILS = FailedBeforeEffect("declined")
CONFLICT = KeyConflict("key-1", OTHER_DIGEST, DIGEST)

CALLS: dict[str, tuple[Workflow, Answer | ResumeproofError, object]] = {
    "receipt": (
        FIRST,
        Answer(receipt(), replayed=False),
        Acknowledge(receipt(), replayed=False, source=Purpose.CALL),
    ),
    "first-receipt-again": (
        AGAIN,
        Answer(receipt(), replayed=True),
        Acknowledge(receipt(), replayed=True, source=Purpose.CALL),
    ),
    "bad-receipt": (
        FIRST,
        Answer(BAD_RECEIPT, replayed=False),
        MarkUnknown(Doubt.RECEIPT_UNVERIFIABLE),
    ),
    "receipt-of-other-bytes": (
        FIRST,
        Answer(OTHER_RECEIPT, replayed=True),
        MarkUnknown(Doubt.RECEIPT_UNVERIFIABLE),
    ),
    "conflict-on-a-first-call": (FIRST, CONFLICT, Fail("key_conflict")),
    "conflict-on-a-replay": (AGAIN, CONFLICT, MarkUnknown(Doubt.KEY_CONFLICT)),
    "fenced": (FIRST, Fenced(WORKFLOW_ID, 1, 2), ("AttemptSuperseded", WORKFLOW_ID, 1)),
    "repeated": (FIRST, REPEATED, MarkUnknown(Doubt.JOURNAL_REWOUND)),
    "failed": (FIRST, FAILS, AttemptFailed("declined", stays_in_doubt=False, exhausted=False)),
    "failed-for-the-last-time": (
        LAST,
        FAILS,
        AttemptFailed("declined", stays_in_doubt=False, exhausted=True),
    ),
    "failed-after-a-doubt": (
        AGAIN,
        FAILS,
        AttemptFailed("declined", stays_in_doubt=True, exhausted=False),
    ),
    "failed-for-the-last-time-after-a-doubt": (
        LAST_AGAIN,
        FAILS,
        AttemptFailed("declined", stays_in_doubt=True, exhausted=True),
    ),
    "unreachable": (FIRST, UNREACHABLE, ("ToolUnreachable", WORKFLOW_ID, "reset by peer")),
    "any-other-error": (FIRST, FULL_DISK, ("ToolUnreachable", WORKFLOW_ID, str(FULL_DISK))),
}


@pytest.mark.parametrize(("told", "answer", "expected"), CALLS.values(), ids=CALLS)
def test_an_answer_to_a_call_comes_to(
    told: Workflow, answer: Answer | ResumeproofError, expected: object
) -> None:
    assert outline(conclude_call(told, fingerprint=DIGEST, answer=answer)) == expected


# -- what a lookup's answer comes to ---------------------------------------------------------

ASKED = called(CONSISTENT, LOOKUP)
PEEKED = called(EVENTUAL)
SPENT = called(
    ToolContract("charge", idempotent=True, lookup=Lookup.EVENTUAL, lookup_lag_seconds=5),
    *SPENT_IN_DOUBT,
    max_retries=1,
)
NOTHING = Found(None)

LOOKUPS: dict[str, tuple[Workflow, float, Found | ResumeproofError, object]] = {
    "found": (
        ASKED,
        4,
        Found(receipt()),
        Acknowledge(receipt(), replayed=True, source=Purpose.LOOKUP),
    ),
    "found-in-time": (
        PEEKED,
        3,
        Found(receipt()),
        Acknowledge(receipt(), replayed=True, source=Purpose.LOOKUP),
    ),
    "found-and-bad": (ASKED, 4, Found(BAD_RECEIPT), MarkUnknown(Doubt.RECEIPT_UNVERIFIABLE)),
    "found-for-other-bytes": (
        ASKED,
        4,
        Found(OTHER_RECEIPT),
        MarkUnknown(Doubt.RECEIPT_UNVERIFIABLE),
    ),
    "nothing-and-fenced": (ASKED, 4, NOTHING, AbsenceProved()),
    "nothing-yet": (
        PEEKED,
        6.999999,
        NOTHING,
        ("NotYet", WORKFLOW_ID, at(7), "the effect may not show yet"),
    ),
    "nothing-and-the-lag-is-over": (PEEKED, 7, NOTHING, MarkUnknown(Doubt.OUTCOME_UNKNOWN)),
    "nothing-and-only-a-retry-is-missing": (
        SPENT,
        60,
        NOTHING,
        MarkUnknown(Doubt.RETRIES_EXHAUSTED),
    ),
    "fenced": (ASKED, 4, Fenced(WORKFLOW_ID, 2, 3), ("AttemptSuperseded", WORKFLOW_ID, 2)),
    "repeated": (ASKED, 4, REPEATED, MarkUnknown(Doubt.JOURNAL_REWOUND)),
    "unreachable": (ASKED, 4, UNREACHABLE, LookupFailed("reset by peer")),
    "any-other-error": (ASKED, 4, FULL_DISK, LookupFailed(str(FULL_DISK))),
}


@pytest.mark.parametrize(
    ("told", "now_seconds", "answer", "expected"), LOOKUPS.values(), ids=LOOKUPS
)
def test_an_answer_to_a_lookup_comes_to(
    told: Workflow, now_seconds: float, answer: Found | ResumeproofError, expected: object
) -> None:
    concluded = conclude_lookup(told, fingerprint=DIGEST, now=instant(now_seconds), answer=answer)
    assert outline(concluded) == expected
