"""What each decision writes, record by record."""

from __future__ import annotations

from typing import Any

import pytest

from resumeproof.domain import protocol
from resumeproof.domain.action import parse_action
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
from resumeproof.domain.record import GENESIS, Draft
from resumeproof.domain.status import Event, Status
from resumeproof.domain.workflow import Workflow
from resumeproof.errors import InvalidTransition
from tests.unit.domain.samples import (
    APPROVED,
    CALL,
    DIGEST,
    FAILED,
    LOOKUP,
    REPLAY,
    WORKFLOW_ID,
    at,
    attempt_failed,
    created,
    receipt,
    workflow,
)

FRESH = workflow(created(), APPROVED)
CALLED = workflow(created(), APPROVED, CALL)
REPLAYED = workflow(created(), APPROVED, CALL, REPLAY)
LOOKED_UP = workflow(created(), APPROVED, CALL, LOOKUP)
LAST_TRY = workflow(created(max_retries=1), APPROVED, CALL)


# -- extend ----------------------------------------------------------------------------------


def test_a_first_record_stands_on_genesis() -> None:
    (record,), told = protocol.extend(None, (created(),), workflow_id=WORKFLOW_ID, at=at(0))
    assert (record.sequence, record.previous, told.head_hash) == (1, GENESIS, record.hash)


def test_drafts_are_chained_behind_the_workflow_and_folded_in() -> None:
    drafts = (attempt_draft(retry_at=None), FAILED)
    records, told = protocol.extend(CALLED, drafts, workflow_id=WORKFLOW_ID, at=at(9))
    assert [(r.sequence, r.event, r.at, r.previous) for r in records] == [
        (4, "attempt_failed", at(9), CALLED.head_hash),
        (5, "failed", at(9), records[0].hash),
    ]
    assert (told.status, told.revision, told.head_hash) == (Status.FAILED, 5, records[1].hash)


def attempt_draft(*, retry_at: str | None) -> Draft:
    facts = {"attempt": 1, "reason": "declined", "retry_at": retry_at}
    return Draft(Event.ATTEMPT_FAILED, facts)


def test_a_step_that_the_state_machine_has_not_changes_nothing() -> None:
    before = repr(CALLED)
    with pytest.raises(InvalidTransition):
        protocol.extend(CALLED, (APPROVED,), workflow_id=WORKFLOW_ID, at=at(9))
    assert repr(CALLED) == before


def test_nothing_behind_nothing_is_misuse() -> None:
    with pytest.raises(ValueError, match="nothing to extend"):
        protocol.extend(None, (), workflow_id=WORKFLOW_ID, at=at(0))


def test_nothing_behind_a_workflow_leaves_it() -> None:
    assert protocol.extend(CALLED, (), workflow_id=WORKFLOW_ID, at=at(9)) == ((), CALLED)


# -- claim -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "purpose", "attempt", "recovered"),
    [
        (FRESH, Purpose.CALL, 1, None),
        (CALLED, Purpose.REPLAY, 2, 1),
        (CALLED, Purpose.LOOKUP, 2, 1),
        (REPLAYED, Purpose.REPLAY, 3, 2),
        (
            workflow(created(), APPROVED, CALL, REPLAY, attempt_failed(stays_in_doubt=True)),
            Purpose.REPLAY,
            3,
            None,
        ),
    ],
    ids=["first", "replay-of-a-dead", "lookup-of-a-dead", "second-replay", "after-a-failure"],
)
def test_a_claim_names_its_attempt_and_the_dead_one_it_recovers(
    before: Workflow, purpose: Purpose, attempt: int, recovered: int | None
) -> None:
    assert protocol.claim(before, purpose, driver="driver-2", digest=DIGEST) == Draft(
        Event.ATTEMPT_STARTED,
        {
            "attempt": attempt,
            "digest": DIGEST,
            "driver": "driver-2",
            "purpose": str(purpose),
            "recovered_attempt": recovered,
            "step": "call",
        },
    )


@pytest.mark.parametrize(
    ("key", "needs_approval", "told"),
    [
        (FRESH.key, True, {}),
        ("its own", True, {"key": "its own"}),
        (None, False, {"key": None, "needs_approval": False}),
    ],
    ids=["as-the-workflow", "a-key-of-its-own", "no-key-and-no-approval"],
)
def test_a_claim_tells_how_its_call_differs(
    key: str | None, needs_approval: bool, told: dict[str, Any]
) -> None:
    call = Call(parse_action(b"{}"), key, "finish", needs_approval)
    plain = protocol.claim(FRESH, Purpose.CALL, driver="driver-2", digest=DIGEST)
    draft = protocol.claim(FRESH, Purpose.CALL, driver="driver-2", digest=DIGEST, call=call)
    assert draft.facts == {**plain.facts, **told}


# -- outcome ---------------------------------------------------------------------------------

RETRY_AT = at(60)
FOUND = Acknowledge(receipt(), replayed=True, source=Purpose.LOOKUP)


def acknowledgement(**facts: Any) -> Draft:
    told = {
        "attempt": 1,
        "receipt": receipt().to_json(),
        "recovered_attempt": None,
        "replayed": True,
        "source": "lookup",
        "step": "call",
        "then": "finish",
    }
    return Draft(Event.EFFECT_ACKNOWLEDGED, told | facts)


OUTCOMES: dict[str, tuple[Workflow, protocol.Outcome, bool, tuple[Draft, ...]]] = {
    "acknowledged-by-its-own-attempt": (CALLED, FOUND, True, (acknowledgement(),)),
    "acknowledged-without-a-claim": (
        CALLED,
        FOUND,
        False,
        (acknowledgement(recovered_attempt=1),),
    ),
    "failed-and-retried": (
        CALLED,
        AttemptFailed("declined", stays_in_doubt=False, exhausted=False),
        True,
        (attempt_draft(retry_at=RETRY_AT),),
    ),
    "failed-for-the-last-time": (
        LAST_TRY,
        AttemptFailed("declined", stays_in_doubt=False, exhausted=True),
        True,
        (attempt_draft(retry_at=None), FAILED),
    ),
    "failed-in-doubt": (
        REPLAYED,
        AttemptFailed("declined", stays_in_doubt=True, exhausted=False),
        True,
        (
            Draft(
                Event.ATTEMPT_FAILED_IN_DOUBT,
                {"attempt": 2, "reason": "declined", "retry_at": RETRY_AT},
            ),
        ),
    ),
    "failed-for-the-last-time-in-doubt": (
        REPLAYED,
        AttemptFailed("declined", stays_in_doubt=True, exhausted=True),
        True,
        (
            Draft(
                Event.ATTEMPT_FAILED_IN_DOUBT,
                {"attempt": 2, "reason": "declined", "retry_at": RETRY_AT},
            ),
        ),
    ),
    "absence-proved": (
        LOOKED_UP,
        AbsenceProved(),
        True,
        (Draft(Event.ABSENCE_PROVED, {"attempt": 2}),),
    ),
    "lookup-failed": (
        LOOKED_UP,
        LookupFailed("no route"),
        True,
        (Draft(Event.LOOKUP_FAILED, {"attempt": 2, "reason": "no route"}),),
    ),
    "failed-for-good": (
        CALLED,
        Fail("key_conflict"),
        True,
        (Draft(Event.FAILED, {"reason": "key_conflict"}),),
    ),
    "unknown-by-its-own-attempt": (
        CALLED,
        MarkUnknown(Doubt.RECEIPT_UNVERIFIABLE),
        True,
        (
            Draft(
                Event.MARKED_UNKNOWN,
                {"reason": "receipt_unverifiable", "recovered_attempt": None},
            ),
        ),
    ),
    "unknown-after-a-death": (
        CALLED,
        MarkUnknown(Doubt.OUTCOME_UNKNOWN),
        False,
        (Draft(Event.MARKED_UNKNOWN, {"reason": "outcome_unknown", "recovered_attempt": 1}),),
    ),
}


@pytest.mark.parametrize(
    ("before", "conclusion", "claimed", "drafts"), OUTCOMES.values(), ids=OUTCOMES
)
def test_an_outcome_writes_these_records(
    before: Workflow, conclusion: protocol.Outcome, claimed: bool, drafts: tuple[Draft, ...]
) -> None:
    written = protocol.outcome(
        before, conclusion, claimed=claimed, then="finish", retry_at=RETRY_AT
    )
    assert written == drafts


@pytest.mark.parametrize(
    ("before", "conclusion", "claimed", "drafts"), OUTCOMES.values(), ids=OUTCOMES
)
def test_the_state_machine_takes_every_outcome(
    before: Workflow, conclusion: protocol.Outcome, claimed: bool, drafts: tuple[Draft, ...]
) -> None:
    records, told = protocol.extend(before, drafts, workflow_id=WORKFLOW_ID, at=at(9))
    assert (told.open_attempt, len(records)) == (None, len(drafts))
