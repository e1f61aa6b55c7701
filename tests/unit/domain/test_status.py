"""The whole product status x event, against what the design says in words."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from resumeproof.domain.folding import apply
from resumeproof.domain.record import GENESIS, Draft, chain
from resumeproof.domain.status import ENDED, MEANING, TRANSITIONS, Event, Status
from resumeproof.errors import InvalidTransition
from tests.unit.domain.samples import WORKFLOW_ID, at, created, receipt, workflow

EXPECTED = {
    "-": "created > pending_approval",
    "pending_approval": (
        "approved > approved, action_replaced > pending_approval, cancelled > cancelled, "
        "started > running, message_received > pending_approval"
    ),
    "approved": (
        "action_replaced > pending_approval, cancelled > cancelled, attempt_started > running, "
        "started > running, message_received > approved"
    ),
    "running": (
        "attempt_started > running, effect_acknowledged > running, completed > completed, "
        "attempt_failed > retry_wait, attempt_failed_in_doubt > running, lookup_failed > running, "
        "absence_proved > retry_wait, failed > failed, marked_unknown > unknown, "
        "emitted > running, wait_started > waiting, messages_applied > running, "
        "message_received > running"
    ),
    "waiting": "wait_over > running, message_received > waiting",
    "retry_wait": "attempt_started > running, failed > failed, message_received > retry_wait",
    "unknown": (
        "reconciled_applied > reconciled_applied, reconciled_not_applied > reconciled_not_applied, "
        "decided > running, message_received > unknown"
    ),
    "completed": "",
    "failed": "",
    "reconciled_applied": "",
    "reconciled_not_applied": "",
    "cancelled": "",
}

FACTS_OF_ANY_EVENT = dict(created().facts) | {
    "actor": "alice",
    "attempt": 1,
    "driver": "driver-1",
    "note": "",
    "output": None,
    "purpose": "call",
    "reason": "declined",
    "receipt": receipt().to_json(),
    "recovered_attempt": None,
    "retry_at": None,
    "then": "finish",
    "applied": True,
    "event": "paid",
    "messages": [],
    "payload": None,
    "result": None,
    "sender": "alice",
    "took": None,
    "wait": {"kind": "event", "event": "paid"},
}

FROM: tuple[Status | None, ...] = (None, *Status)


def expected(status: Status | None) -> dict[str, str]:
    arrows = [arrow.partition(" > ") for arrow in EXPECTED[status or "-"].split(", ") if arrow]
    return {event: reached for event, _, reached in arrows}


@pytest.mark.parametrize(
    ("status", "event"),
    list(product(FROM, Event)),
    ids=lambda value: str(value or "-"),
)
def test_an_event_leads_where_the_design_says_or_changes_nothing(
    status: Status | None, event: Event
) -> None:
    before = replace(workflow(created()), status=status) if status else None
    untouched = repr(before)
    record = chain(
        WORKFLOW_ID,
        sequence=before.revision + 1 if before else 1,
        previous=before.head_hash if before else GENESIS,
        at=at(1),
        draft=Draft(event, FACTS_OF_ANY_EVENT),
    )
    reached = expected(status).get(event)
    if reached is not None:
        assert apply(before, record).status == reached
        return
    with pytest.raises(InvalidTransition) as refused:
        apply(before, record)
    assert (refused.value.facts, repr(before)) == (
        {"workflow_id": WORKFLOW_ID, "status": status or "not created", "event": event},
        untouched,
    )


def test_the_table_has_no_other_row() -> None:
    told = {(status, event) for status in FROM for event in expected(status)}
    assert set(TRANSITIONS) == told


def test_an_end_is_final_and_the_rest_is_not_an_end() -> None:
    going_on = {status for status, _ in TRANSITIONS if status is not None}
    assert (going_on & ENDED, going_on | ENDED | {Status.WAITING}) == (set(), set(Status))


def test_every_status_has_a_meaning() -> None:
    assert list(MEANING) == list(Status)
