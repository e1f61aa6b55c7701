"""The recovery table, row by row; each row is reached, in order, and needed."""

from __future__ import annotations

from typing import Any

import pytest

from resumeproof.domain import recovery
from resumeproof.domain.decision import (
    AcknowledgeRecorded,
    Advance,
    Attempt,
    Doubt,
    Fail,
    MarkUnknown,
    PeekEventually,
    Purpose,
    Return,
)
from resumeproof.domain.recovery import RULES, Facts, decide, key_alive
from resumeproof.domain.workflow import Workflow
from tests.unit.domain.samples import (
    APPROVED,
    BOTH,
    BRIEF,
    CALL,
    CANCELLED,
    COMPLETED,
    CONSISTENT,
    DIGEST,
    EVENTUAL,
    IDEMPOTENT,
    LOOKUP,
    NONE,
    OTHER_DIGEST,
    REPLACED,
    REPLAY,
    SPENT_IN_DOUBT,
    WORKFLOW_ID,
    absence_proved,
    acknowledged,
    at,
    attempt_failed,
    called,
    created,
    instant,
    marked_unknown,
    outline,
    workflow,
)


def facts(told: Workflow | None, **known: Any) -> Facts:
    defaults: dict[str, Any] = {"damage": None, "found_digest": DIGEST, "now": instant(3)}
    return Facts(WORKFLOW_ID, told, **(defaults | known))


COMPLETE = called(IDEMPOTENT, acknowledged, COMPLETED)
UNKNOWN = called(NONE, marked_unknown)
WAITING = called(NONE, attempt_failed(retry_at=at(60)))

CASES: dict[str, tuple[int, Facts, object]] = {
    "damaged": (
        0,
        facts(None, damage="timeline record 2 does not match its hash"),
        ("JournalDamaged", WORKFLOW_ID, "timeline record 2 does not match its hash"),
    ),
    "recorded-and-not-saved": (
        1,
        facts(called(IDEMPOTENT, acknowledged), save_missing=True),
        AcknowledgeRecorded(),
    ),
    "ended-and-not-saved": (1, facts(COMPLETE, save_missing=True), AcknowledgeRecorded()),
    "unknown-and-not-saved": (1, facts(UNKNOWN, save_missing=True), AcknowledgeRecorded()),
    "ended-with-a-bad-receipt": (
        2,
        facts(COMPLETE, receipt_damage="its hash"),
        ("ReceiptDamaged", WORKFLOW_ID, "its hash"),
    ),
    "ended-with-a-bad-receipt-and-not-saved": (
        2,
        facts(COMPLETE, receipt_damage="its hash", save_missing=True),
        ("ReceiptDamaged", WORKFLOW_ID, "its hash"),
    ),
    "completed": (3, facts(COMPLETE), Return()),
    "completed-and-the-action-changed-by-hand": (
        3,
        facts(COMPLETE, found_digest=OTHER_DIGEST),
        Return(),
    ),
    "cancelled": (3, facts(workflow(created(), CANCELLED)), Return()),
    "unknown": (
        4,
        facts(UNKNOWN),
        ("ReconciliationRequired", WORKFLOW_ID, "outcome_unknown"),
    ),
    "too-early": (
        5,
        facts(WAITING, now=instant(59.999999)),
        ("NotYet", WORKFLOW_ID, at(60), "waiting to try again"),
    ),
    "too-early-and-the-action-changed-by-hand": (
        5,
        facts(WAITING, found_digest=OTHER_DIGEST),
        ("NotYet", WORKFLOW_ID, at(60), "waiting to try again"),
    ),
    "waiting": (
        6,
        facts(called(NONE), waits_for=("event 'paid'", "waiting for an event")),
        ("NotYet", WORKFLOW_ID, "event 'paid'", "waiting for an event"),
    ),
    "calls-nobody": (7, facts(workflow(created()), calls=False), Advance()),
    "calls-nobody-and-unapproved": (
        7,
        facts(workflow(created()), calls=False, found_digest=OTHER_DIGEST),
        Advance(),
    ),
    "needs-no-approval": (
        10,
        facts(workflow(created()), needs_approval=False, found_digest=OTHER_DIGEST),
        Attempt(Purpose.CALL),
    ),
    "in-doubt-and-the-action-changed-by-hand": (
        8,
        facts(called(IDEMPOTENT), found_digest=OTHER_DIGEST),
        MarkUnknown(Doubt.APPROVAL_UNVERIFIABLE),
    ),
    "never-approved": (
        9,
        facts(workflow(created())),
        ("ApprovalRequired", WORKFLOW_ID, DIGEST),
    ),
    "approval-voided": (
        9,
        facts(workflow(created(), APPROVED, REPLACED), found_digest=OTHER_DIGEST),
        ("ApprovalRequired", WORKFLOW_ID, OTHER_DIGEST),
    ),
    "approved-and-changed-by-hand": (
        9,
        facts(workflow(created(), APPROVED), found_digest=OTHER_DIGEST),
        ("ApprovalMismatch", WORKFLOW_ID, DIGEST, OTHER_DIGEST),
    ),
    "approved": (10, facts(workflow(created(), APPROVED)), Attempt(Purpose.CALL)),
    "retry-at-reached": (10, facts(WAITING, now=instant(60)), Attempt(Purpose.CALL)),
    "absence-proved": (
        10,
        facts(called(CONSISTENT, LOOKUP, absence_proved)),
        Attempt(Purpose.CALL),
    ),
    "absence-proved-and-no-retry-left": (
        11,
        facts(
            called(
                BOTH,
                REPLAY,
                attempt_failed(stays_in_doubt=True),
                LOOKUP,
                absence_proved,
                max_retries=1,
            )
        ),
        Fail("retries_exhausted"),
    ),
    "died-too-often": (
        12,
        facts(called(IDEMPOTENT, REPLAY, max_recoveries=2)),
        MarkUnknown(Doubt.RECOVERY_LIMIT),
    ),
    "died-once-less": (
        13,
        facts(called(IDEMPOTENT, REPLAY, max_recoveries=3)),
        Attempt(Purpose.REPLAY),
    ),
    "idempotent": (13, facts(called(IDEMPOTENT)), Attempt(Purpose.REPLAY)),
    "idempotent-and-key-alive": (
        13,
        facts(called(BRIEF), now=instant(10.9)),
        Attempt(Purpose.REPLAY),
    ),
    "idempotent-and-consistent": (13, facts(called(BOTH)), Attempt(Purpose.REPLAY)),
    "consistent": (14, facts(called(CONSISTENT)), Attempt(Purpose.LOOKUP)),
    "idempotent-and-consistent-without-retries": (
        14,
        facts(called(BOTH, *SPENT_IN_DOUBT, max_retries=1)),
        Attempt(Purpose.LOOKUP),
    ),
    "eventual": (15, facts(called(EVENTUAL)), PeekEventually()),
    "neither-key-nor-lookup": (
        16,
        facts(called(NONE, key=None)),
        MarkUnknown(Doubt.OUTCOME_UNKNOWN),
    ),
    "consistent-without-a-key": (
        16,
        facts(called(CONSISTENT, key=None)),
        MarkUnknown(Doubt.OUTCOME_UNKNOWN),
    ),
    "eventual-without-a-key": (
        16,
        facts(called(EVENTUAL, key=None)),
        MarkUnknown(Doubt.OUTCOME_UNKNOWN),
    ),
    "idempotent-without-a-key": (
        16,
        facts(called(IDEMPOTENT, key=None)),
        MarkUnknown(Doubt.OUTCOME_UNKNOWN),
    ),
    "key-expired": (
        16,
        facts(called(BRIEF), now=instant(11)),
        MarkUnknown(Doubt.OUTCOME_UNKNOWN),
    ),
    "only-a-retry-is-missing": (
        16,
        facts(called(IDEMPOTENT, *SPENT_IN_DOUBT, max_retries=1)),
        MarkUnknown(Doubt.RETRIES_EXHAUSTED),
    ),
}


@pytest.mark.parametrize(("row", "known", "expected"), CASES.values(), ids=CASES)
def test_the_first_row_that_applies_decides(row: int, known: Facts, expected: object) -> None:
    applies = next(index for index, rule in enumerate(RULES) if rule.applies(known))
    assert (applies, outline(decide(known))) == (row, expected)


def test_every_row_is_reached() -> None:
    assert {row for row, _, _ in CASES.values()} == set(range(len(RULES)))


@pytest.mark.parametrize(
    ("row", "known", "expected"),
    [next(case for case in CASES.values() if case[0] == row) for row in range(len(RULES))],
    ids=[f"{rule.journal}-{rule.tool}" for rule in RULES],
)
def test_every_row_is_needed(
    row: int, known: Facts, expected: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recovery, "RULES", RULES[:row] + RULES[row + 1 :])
    try:
        decided = outline(decide(known))
    except (ValueError, StopIteration):
        return
    assert decided != expected


def test_facts_of_a_damaged_workflow_are_not_taken_for_sound() -> None:
    with pytest.raises(ValueError, match="no sound workflow: head"):
        _ = facts(None, damage="head").sound


# -- the life of a key -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("told", "now_seconds", "alive"),
    [
        (called(IDEMPOTENT), 1e9, True),
        (called(IDEMPOTENT, key=None), 3, False),
        (called(BRIEF), 2, True),
        (called(BRIEF), 10.999999, True),
        (called(BRIEF), 11, False),
        (called(BRIEF), 1.999999, False),
        (called(BRIEF, REPLAY), 10.999999, True),
        (called(BRIEF, REPLAY), 11, False),
        (called(BRIEF, REPLAY), 2.5, False),
        (called(BRIEF, attempt_failed()), 11, True),
        (called(BRIEF, attempt_failed(), CALL), 12.999999, True),
        (called(BRIEF, attempt_failed(), CALL), 13, False),
    ],
    ids=[
        "for-ever",
        "no-key",
        "at-the-claim",
        "just-within-the-margin",
        "at-the-margin",
        "clock-went-back",
        "replayed-and-within",
        "replayed-and-expired-by-the-first-claim",
        "clock-went-back-behind-the-replay",
        "settled",
        "settled-and-called-again",
        "settled-and-called-again-and-expired",
    ],
)
def test_a_key_lives_from_its_first_unsettled_claim(
    told: Workflow, now_seconds: float, alive: bool
) -> None:
    assert key_alive(told, instant(now_seconds)) is alive
