"""A workflow is what its timeline tells; whatever else its row says is damage, and is named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resumeproof.domain.decision import Purpose
from resumeproof.domain.inspection import Inspection, Stored, fold, found_digest, inspect
from resumeproof.domain.record import GENESIS, Draft, Record, chain
from resumeproof.domain.status import Event, Status
from resumeproof.domain.workflow import OpenAttempt, Workflow
from tests.unit.domain.samples import (
    ACTION,
    APPROVED,
    CALL,
    CANCELLED,
    COMPLETED,
    DIGEST,
    EVERY_EVENT_ON_THE_WAY_TO_COMPLETION,
    FAILED,
    LOOKUP,
    OTHER_DIGEST,
    RECONCILED,
    REPLACED,
    REPLAY,
    WORKFLOW_ID,
    Step,
    absence_proved,
    acknowledged,
    at,
    attempt_failed,
    created,
    history,
    lookup_failed,
    marked_unknown,
    receipt,
    workflow,
)

RECORDS, TOLD = history(*EVERY_EVENT_ON_THE_WAY_TO_COMPLETION)
STORED = Stored(TOLD.row(), ACTION, DIGEST, RECORDS)


def damage(records: Sequence[Record]) -> str | None:
    return inspect(replace(STORED, records=tuple(records))).damage


# -- the chain -------------------------------------------------------------------------------


def test_a_whole_timeline_tells_its_workflow() -> None:
    assert (fold(WORKFLOW_ID, RECORDS), inspect(STORED)) == (Inspection(TOLD, None),) * 2


def changed_byte(text: str, place: int, by: int) -> str:
    data = bytearray(text.encode())
    data[place % len(data)] ^= by
    return data.decode("utf-8", "surrogateescape")


@given(
    index=st.integers(0, len(RECORDS) - 1),
    column=st.sampled_from(["workflow_id", "event", "at", "facts_text", "previous", "hash"]),
    place=st.integers(0, 10_000),
    by=st.integers(1, 255),
)
def test_any_changed_byte_of_any_record_is_named(
    index: int, column: str, place: int, by: int
) -> None:
    changed: dict[str, Any] = {column: changed_byte(getattr(RECORDS[index], column), place, by)}
    records = list(RECORDS)
    records[index] = replace(RECORDS[index], **changed)
    assert str(damage(records)).startswith(f"timeline record {index + 1} ")


@given(index=st.integers(0, len(RECORDS) - 1), sequence=st.integers(-1, 100))
def test_any_changed_sequence_is_named(index: int, sequence: int) -> None:
    records = list(RECORDS)
    records[index] = replace(RECORDS[index], sequence=sequence)
    expected = f"timeline record {sequence} stands where record {index + 1} belongs"
    assert damage(records) == (None if sequence == index + 1 else expected)


@pytest.mark.parametrize("index", range(len(RECORDS) - 1))
def test_a_removed_record_is_named(index: int) -> None:
    assert damage(RECORDS[:index] + RECORDS[index + 1 :]) == (
        f"timeline record {index + 2} stands where record {index + 1} belongs"
    )


@pytest.mark.parametrize("index", range(len(RECORDS) - 1))
def test_a_removed_record_is_named_even_where_the_rest_is_numbered_anew(index: int) -> None:
    rest = RECORDS[:index] + RECORDS[index + 1 :]
    numbered = [replace(record, sequence=place) for place, record in enumerate(rest, start=1)]
    assert damage(numbered) == f"timeline record {index + 1} does not follow the record before it"


@given(pair=st.lists(st.integers(0, len(RECORDS) - 1), min_size=2, max_size=2, unique=True))
def test_two_swapped_records_are_named(pair: list[int]) -> None:
    first, second = sorted(pair)
    records = list(RECORDS)
    records[first], records[second] = RECORDS[second], RECORDS[first]
    assert damage(records) == (
        f"timeline record {second + 1} stands where record {first + 1} belongs"
    )


@pytest.mark.parametrize("kept", range(1, len(RECORDS)))
def test_a_cut_off_tail_shows_in_the_row(kept: int) -> None:
    assert fold(WORKFLOW_ID, RECORDS[:kept]).damage is None
    assert str(damage(RECORDS[:kept])).startswith("column ")


def test_an_empty_timeline_is_named() -> None:
    assert damage(()) == "the timeline is empty"


def test_a_repeated_record_is_named() -> None:
    assert damage((*RECORDS, RECORDS[-1])) == (
        f"timeline record {len(RECORDS)} stands where record {len(RECORDS) + 1} belongs"
    )


def test_a_timeline_of_another_workflow_is_named() -> None:
    assert fold("wf-2", RECORDS).damage == "timeline record 1 stands where record 1 belongs"


def appended(draft: Draft, records: tuple[Record, ...] = RECORDS) -> tuple[Record, ...]:
    """With a forged last record, whose hash is right."""
    previous = records[-1].hash if records else GENESIS
    place = len(records) + 1
    forged = chain(WORKFLOW_ID, sequence=place, previous=previous, at=at(place), draft=draft)
    return (*records, forged)


def test_a_well_hashed_record_that_the_state_machine_has_not_is_named() -> None:
    assert fold(WORKFLOW_ID, appended(APPROVED)).damage == (
        "timeline record 17: approved does not follow completed"
    )


@pytest.mark.parametrize(
    "facts",
    [{}, {"digest": DIGEST}, {"then": "call"}],
    ids=lambda facts: "-".join(facts) or "none",
)
def test_well_hashed_facts_of_another_form_are_named(facts: dict[str, Any]) -> None:
    records, _ = history(created())
    told = fold(WORKFLOW_ID, appended(Draft(Event.APPROVED, facts), records))
    assert str(told.damage).startswith("timeline record 2: malformed facts (KeyError")


@pytest.mark.parametrize(
    "contract",
    [None, "idempotent", {}, {"name": "charge"}],
    ids=repr,
)
def test_a_contract_of_another_form_is_named(contract: Any) -> None:
    facts = dict(created().facts) | {"contract": contract}
    told = fold(WORKFLOW_ID, appended(Draft(Event.CREATED, facts), ()))
    assert str(told.damage).startswith("timeline record 1: malformed facts")


def test_a_damaged_workflow_cannot_be_taken_for_a_sound_one() -> None:
    with pytest.raises(ValueError, match="the timeline is empty"):
        fold(WORKFLOW_ID, ()).sound()


def test_a_sound_workflow_is_returned() -> None:
    assert fold(WORKFLOW_ID, RECORDS).sound() == TOLD


# -- the row ---------------------------------------------------------------------------------


@pytest.mark.parametrize("column", [column for column in TOLD.row() if column != "id"])
def test_a_changed_column_is_named(column: str) -> None:
    row = TOLD.row() | {column: "changed by hand"}
    assert inspect(replace(STORED, row=row)) == Inspection(
        None,
        f"column {column} is 'changed by hand', the timeline says {TOLD.row()[column]!r}",
    )


def test_a_changed_id_is_named() -> None:
    row = TOLD.row() | {"id": "wf-2"}
    assert inspect(replace(STORED, row=row)).damage == (
        "timeline record 1 stands where record 1 belongs"
    )


def test_the_actions_bytes_are_no_damage_of_the_row() -> None:
    stored = replace(STORED, action=b"{}", action_digest=OTHER_DIGEST)
    assert inspect(stored).damage is None


@pytest.mark.parametrize(
    ("action", "column", "found"),
    [
        (ACTION, DIGEST, DIGEST),
        (ACTION, OTHER_DIGEST, OTHER_DIGEST),
        (b"{}", DIGEST, "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"),
        (b"{}", OTHER_DIGEST, "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"),
    ],
    ids=["untouched", "column-changed", "bytes-changed", "both-changed"],
)
def test_the_found_digest_is_the_one_that_was_not_approved(
    action: bytes, column: str, found: str
) -> None:
    assert found_digest(replace(STORED, action=action, action_digest=column), DIGEST) == found


# -- what each event changes -----------------------------------------------------------------

EVERY_RECORD = {"revision", "head_hash", "updated_at"}
CALLED = (created(), APPROVED, CALL)
DOUBTED = (*CALLED, REPLAY)
RETRY_AT = at(60)


def open_attempt(number: int, purpose: Purpose) -> OpenAttempt:
    return OpenAttempt(number, str(purpose), "driver-1")


SETTLED = {"open_attempt": None, "in_doubt": False, "first_unsettled_at": None}

CHANGES: dict[str, tuple[tuple[Step, ...], Step, dict[str, Any]]] = {
    "approved": (
        (created(),),
        APPROVED,
        {"status": Status.APPROVED, "approved_digest": DIGEST, "step": "call"},
    ),
    "replaced": (
        (created(), APPROVED),
        REPLACED,
        {
            "status": Status.PENDING_APPROVAL,
            "action_digest": OTHER_DIGEST,
            "approved_digest": None,
            "step": "approve",
        },
    ),
    "cancelled": (
        (created(), APPROVED),
        CANCELLED,
        {"status": Status.CANCELLED, "approved_digest": None},
    ),
    "call": (
        (created(), APPROVED),
        CALL,
        {
            "status": Status.RUNNING,
            "attempts": 1,
            "called_digest": DIGEST,
            "called_key": "key-1",
            "open_attempt": open_attempt(1, Purpose.CALL),
            "in_doubt": True,
            "first_unsettled_at": at(2),
            "last_call_at": at(2),
        },
    ),
    "replay-of-a-dead-call": (
        CALLED,
        REPLAY,
        {
            "attempts": 2,
            "recoveries": 1,
            "deaths": 1,
            "open_attempt": open_attempt(2, Purpose.REPLAY),
            "doubt_before_attempt": True,
            "last_call_at": at(3),
        },
    ),
    "lookup-after-a-dead-call": (
        CALLED,
        LOOKUP,
        {
            "attempts": 2,
            "recoveries": 1,
            "deaths": 1,
            "open_attempt": open_attempt(2, Purpose.LOOKUP),
            "doubt_before_attempt": True,
        },
    ),
    "acknowledged-after-a-recovery": (
        DOUBTED,
        acknowledged,
        SETTLED
        | {
            "doubt_before_attempt": False,
            "deaths": 0,
            "results": {"call": receipt().to_json()},
            "receipts": ((DIGEST, receipt().to_json()),),
            "step": "finish",
        },
    ),
    "completed": (
        (*CALLED, acknowledged),
        COMPLETED,
        {"status": Status.COMPLETED, "output": {"receipt_id": "receipt-1"}},
    ),
    "attempt-failed": (
        CALLED,
        attempt_failed(retry_at=RETRY_AT),
        SETTLED
        | {
            "status": Status.RETRY_WAIT,
            "retries": 1,
            "failures": 1,
            "retry_at": RETRY_AT,
            "reason": "declined",
        },
    ),
    "attempt-failed-in-doubt": (
        DOUBTED,
        attempt_failed(stays_in_doubt=True, retry_at=RETRY_AT),
        {
            "open_attempt": None,
            "doubt_before_attempt": False,
            "retries": 1,
            "failures": 1,
            "retry_at": RETRY_AT,
            "reason": "declined",
        },
    ),
    "call-after-a-wait": (
        (*CALLED, attempt_failed(retry_at=RETRY_AT)),
        CALL,
        {
            "status": Status.RUNNING,
            "attempts": 2,
            "retry_at": None,
            "open_attempt": open_attempt(2, Purpose.CALL),
            "in_doubt": True,
            "first_unsettled_at": at(4),
            "last_call_at": at(4),
        },
    ),
    "lookup-failed": (
        (*CALLED, LOOKUP),
        lookup_failed,
        {"open_attempt": None, "doubt_before_attempt": False, "reason": "no route"},
    ),
    "absence-proved": (
        (*CALLED, LOOKUP),
        absence_proved,
        SETTLED | {"status": Status.RETRY_WAIT, "doubt_before_attempt": False},
    ),
    "failed": (
        (*CALLED, attempt_failed(retry_at=RETRY_AT)),
        FAILED,
        {"status": Status.FAILED, "reason": "retries_exhausted", "retry_at": None},
    ),
    "marked-unknown": (
        CALLED,
        marked_unknown,
        {
            "status": Status.UNKNOWN,
            "recoveries": 1,
            "deaths": 1,
            "open_attempt": None,
            "reason": "outcome_unknown",
        },
    ),
    "reconciled": (
        (*CALLED, marked_unknown),
        RECONCILED,
        {"status": Status.RECONCILED_APPLIED, "in_doubt": False, "first_unsettled_at": None},
    ),
}


@pytest.mark.parametrize(("before", "step", "expected"), CHANGES.values(), ids=CHANGES)
def test_an_event_changes_this_and_nothing_else(
    before: tuple[Step, ...], step: Step, expected: dict[str, Any]
) -> None:
    was, told = workflow(*before), workflow(*before, step)
    changed = {
        field.name: getattr(told, field.name)
        for field in fields(Workflow)
        if getattr(told, field.name) != getattr(was, field.name)
    }
    assert {name: changed[name] for name in changed if name not in EVERY_RECORD} == expected
    assert (changed.keys() & EVERY_RECORD, told.revision) == (EVERY_RECORD, was.revision + 1)


def test_a_new_workflow() -> None:
    assert workflow(created()) == Workflow(
        id=WORKFLOW_ID,
        program="tool_call",
        program_digest="p" * 64,
        ledger_id="ledger-1",
        contract=TOLD.contract,
        key="key-1",
        max_retries=3,
        max_recoveries=5,
        retry_base_seconds=1.0,
        created_at=at(0),
        action_digest=DIGEST,
        step="approve",
        status=Status.PENDING_APPROVAL,
        revision=1,
        head_hash=RECORDS[0].hash,
        updated_at=at(0),
    )
