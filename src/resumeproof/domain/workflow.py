"""A workflow as its timeline tells it: a fold of records through the state machine.

The journal's row of a workflow is a cache of this fold, kept so that people and queries need not
fold; `inspect` compares the two, and any difference is damage. The action's bytes and digest are
the exception: they are compared with what was *approved*, when they are about to be sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Any

from resumeproof.domain.canonical import digest_of
from resumeproof.domain.contract import ToolContract
from resumeproof.domain.frozen import frozen, replace
from resumeproof.domain.instant import parse_instant
from resumeproof.domain.record import GENESIS, Record
from resumeproof.domain.status import TRANSITIONS, Event, Status
from resumeproof.errors import InvalidTransition


@frozen
class OpenAttempt:
    """A claim whose outcome was not recorded. Seen without its driver's lock, its driver died."""

    number: int
    purpose: str
    driver: str


@frozen
class Workflow:
    """The facts of one workflow. `revision` is the number of its records.

    `in_doubt`: a call may have reached the tool, and nothing has settled what it did.
    `doubt_before_attempt`: the same, as it was before the open attempt was claimed, since a
    failure before the effect settles its own attempt only.
    `deaths`: dead attempts recovered since the last acknowledgement.
    `first_unsettled_at`, `last_call_at`: instants of the first claim that is still unsettled and
    of the last claim that may have called.
    """

    id: str
    program: str
    program_digest: str
    ledger_id: str
    contract: ToolContract
    key: str | None
    max_retries: int
    max_recoveries: int
    retry_base_seconds: float
    created_at: str
    action_digest: str
    step: str
    status: Status
    revision: int
    head_hash: str
    updated_at: str
    approved_digest: str | None = None
    attempts: int = 0
    retries: int = 0
    recoveries: int = 0
    deaths: int = 0
    open_attempt: OpenAttempt | None = None
    in_doubt: bool = False
    doubt_before_attempt: bool = False
    first_unsettled_at: str | None = None
    last_call_at: str | None = None
    retry_at: str | None = None
    reason: str | None = None
    results: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    output: Any = None

    @property
    def mode(self) -> str:
        return "idempotent" if self.contract.idempotent else "non_idempotent"

    def row(self) -> dict[str, Any]:
        """The columns under which a journal stores this workflow, action and digest aside."""
        return {
            "id": self.id,
            "program": self.program,
            "program_digest": self.program_digest,
            "ledger_id": self.ledger_id,
            "mode": self.mode,
            "key": self.key,
            "status": str(self.status),
            "step": self.step,
            "reason": self.reason,
            "approved_digest": self.approved_digest,
            "in_doubt": int(self.in_doubt),
            "attempts": self.attempts,
            "retries": self.retries,
            "recoveries": self.recoveries,
            "max_retries": self.max_retries,
            "max_recoveries": self.max_recoveries,
            "retry_at": self.retry_at,
            "driver": self.open_attempt.driver if self.open_attempt else None,
            "revision": self.revision,
            "head_hash": self.head_hash,
            "created_at": self.created_at,
            "updated_at": self.updated_at,
        }


Changes = dict[str, Any]


def _settled() -> Changes:
    return {
        "open_attempt": None,
        "in_doubt": False,
        "doubt_before_attempt": False,
        "first_unsettled_at": None,
    }


def _instant_or_none(text: str | None) -> str | None:
    """The text, once it is sure that it can be compared. Raises `ValueError`."""
    if text is not None:
        parse_instant(text)
    return text


def _recovered(workflow: Workflow, facts: Mapping[str, Any]) -> Changes:
    """Count the dead attempt that this record names, if it names one."""
    if facts["recovered_attempt"] is None:
        return {}
    return {"recoveries": workflow.recoveries + 1, "deaths": workflow.deaths + 1}


def _approved(_: Workflow, __: Record, facts: Mapping[str, Any]) -> Changes:
    return {"approved_digest": facts["digest"], "step": facts["then"]}


def _replaced(_: Workflow, __: Record, facts: Mapping[str, Any]) -> Changes:
    return {"action_digest": facts["digest"], "approved_digest": None, "step": facts["step"]}


def _cancelled(_: Workflow, __: Record, ___: Mapping[str, Any]) -> Changes:
    return {"approved_digest": None}


def _attempt_started(workflow: Workflow, record: Record, facts: Mapping[str, Any]) -> Changes:
    attempt = OpenAttempt(facts["attempt"], facts["purpose"], facts["driver"])
    changes = _recovered(workflow, facts) | {
        "attempts": attempt.number,
        "step": facts["step"],
        "open_attempt": attempt,
        "retry_at": None,
        "doubt_before_attempt": workflow.in_doubt,
    }
    if attempt.purpose != "lookup":
        changes |= {
            "in_doubt": True,
            "first_unsettled_at": workflow.first_unsettled_at or record.at,
            "last_call_at": record.at,
        }
    return changes


def _acknowledged(workflow: Workflow, _: Record, facts: Mapping[str, Any]) -> Changes:
    results = MappingProxyType({**workflow.results, facts["step"]: facts["receipt"]})
    changes = _recovered(workflow, facts) | _settled()
    return changes | {"results": results, "step": facts["then"], "deaths": 0, "reason": None}


def _completed(_: Workflow, __: Record, facts: Mapping[str, Any]) -> Changes:
    return {"output": facts["output"]}


def _attempt_failed(workflow: Workflow, _: Record, facts: Mapping[str, Any]) -> Changes:
    return _settled() | {
        "retries": workflow.retries + 1,
        "retry_at": _instant_or_none(facts["retry_at"]),
        "reason": facts["reason"],
    }


def _attempt_failed_in_doubt(workflow: Workflow, _: Record, facts: Mapping[str, Any]) -> Changes:
    return {
        "open_attempt": None,
        "doubt_before_attempt": False,
        "retries": workflow.retries + 1,
        "retry_at": _instant_or_none(facts["retry_at"]),
        "reason": facts["reason"],
    }


def _lookup_failed(_: Workflow, __: Record, facts: Mapping[str, Any]) -> Changes:
    return {"open_attempt": None, "doubt_before_attempt": False, "reason": facts["reason"]}


def _absence_proved(_: Workflow, __: Record, ___: Mapping[str, Any]) -> Changes:
    return _settled()


def _failed(_: Workflow, __: Record, facts: Mapping[str, Any]) -> Changes:
    return _settled() | {"reason": facts["reason"], "retry_at": None}


def _marked_unknown(workflow: Workflow, _: Record, facts: Mapping[str, Any]) -> Changes:
    return _recovered(workflow, facts) | {
        "open_attempt": None,
        "doubt_before_attempt": False,
        "reason": facts["reason"],
        "retry_at": None,
    }


def _reconciled(_: Workflow, __: Record, ___: Mapping[str, Any]) -> Changes:
    return _settled()


_CHANGES: Mapping[str, Callable[[Workflow, Record, Mapping[str, Any]], Changes]] = {
    Event.APPROVED: _approved,
    Event.ACTION_REPLACED: _replaced,
    Event.CANCELLED: _cancelled,
    Event.ATTEMPT_STARTED: _attempt_started,
    Event.EFFECT_ACKNOWLEDGED: _acknowledged,
    Event.COMPLETED: _completed,
    Event.ATTEMPT_FAILED: _attempt_failed,
    Event.ATTEMPT_FAILED_IN_DOUBT: _attempt_failed_in_doubt,
    Event.LOOKUP_FAILED: _lookup_failed,
    Event.ABSENCE_PROVED: _absence_proved,
    Event.FAILED: _failed,
    Event.MARKED_UNKNOWN: _marked_unknown,
    Event.RECONCILED_APPLIED: _reconciled,
    Event.RECONCILED_NOT_APPLIED: _reconciled,
}


def _created(record: Record, status: Status) -> Workflow:
    facts = record.facts
    return Workflow(
        id=record.workflow_id,
        program=facts["program"],
        program_digest=facts["program_digest"],
        ledger_id=facts["ledger_id"],
        contract=ToolContract.from_json(facts["contract"]),
        key=facts["key"],
        max_retries=facts["max_retries"],
        max_recoveries=facts["max_recoveries"],
        retry_base_seconds=facts["retry_base_seconds"],
        created_at=record.at,
        action_digest=facts["digest"],
        step=facts["step"],
        status=status,
        revision=record.sequence,
        head_hash=record.hash,
        updated_at=record.at,
    )


def next_status(workflow_id: str, status: Status | None, event: str) -> Status:
    """The status that `event` leads to. Raises `InvalidTransition` where the table has none."""
    try:
        return TRANSITIONS[status, event]  # type: ignore[index]
    except KeyError:
        raise InvalidTransition(workflow_id, str(status or "not created"), str(event)) from None


def apply(workflow: Workflow | None, record: Record) -> Workflow:
    """The workflow after `record`. Raises `InvalidTransition`, or `KeyError`, `TypeError` or
    `ValueError` for facts that are not of their event's form.
    """
    status = next_status(record.workflow_id, workflow.status if workflow else None, record.event)
    if workflow is None:
        return _created(record, status)
    changes = _CHANGES[record.event](workflow, record, record.facts)
    return replace(
        workflow,
        status=status,
        revision=record.sequence,
        head_hash=record.hash,
        updated_at=record.at,
        **changes,
    )


@frozen
class Stored:
    """One workflow as a journal holds it: the row's columns, and its records in order.

    `row` has the columns of `Workflow.row()`; the action and its digest stand beside it.
    `save_missing`: a journal that appends before it saves found records ahead of the row, which a
    death in between leaves; one that commits both at once never does.
    """

    row: Mapping[str, Any]
    action: bytes
    action_digest: str
    records: tuple[Record, ...]
    save_missing: bool = False


@frozen
class Inspection:
    """What a stored workflow comes to: the workflow its timeline tells, or what is damaged."""

    workflow: Workflow | None
    damage: str | None

    def sound(self) -> Workflow:
        """The workflow. Raises `ValueError` where it is damaged; ask `damage` first."""
        if self.workflow is None:
            raise ValueError(self.damage)
        return self.workflow


def fold(workflow_id: str, records: Iterable[Record]) -> Inspection:
    """Check the chain and fold it; name the first record that does not hold."""
    workflow: Workflow | None = None
    previous = GENESIS
    for sequence, record in enumerate(records, start=1):
        place = f"timeline record {record.sequence}"
        if record.workflow_id != workflow_id or record.sequence != sequence:
            return Inspection(None, f"{place} stands where record {sequence} belongs")
        if record.previous != previous:
            return Inspection(None, f"{place} does not follow the record before it")
        if record.hash != record.recomputed_hash():
            return Inspection(None, f"{place} does not match its hash")
        try:
            parse_instant(record.at)
            workflow = apply(workflow, record)
        except InvalidTransition as error:
            return Inspection(None, f"{place}: {error.event} does not follow {error.status}")
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            return Inspection(None, f"{place}: malformed facts ({error!r})")
        previous = record.hash
    if workflow is None:
        return Inspection(None, "the timeline is empty")
    return Inspection(workflow, None)


def inspect(stored: Stored) -> Inspection:
    """Fold the timeline and hold the row against it."""
    inspection = fold(str(stored.row["id"]), stored.records)
    if inspection.workflow is None or stored.save_missing:
        return inspection
    for column, told in inspection.workflow.row().items():
        if stored.row[column] != told:
            return Inspection(
                None, f"column {column} is {stored.row[column]!r}, the timeline says {told!r}"
            )
    return inspection


def found_digest(stored: Stored, approved: str | None) -> str:
    """The digest that the stored action bears: of its bytes, and as its column claims.

    Where the two differ, the one that was not approved is returned, so that a change of either by
    hand shows.
    """
    of_bytes = digest_of(stored.action)
    return of_bytes if of_bytes != approved else stored.action_digest
