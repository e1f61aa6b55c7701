"""A workflow as its timeline tells it: a fold of records through the state machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from resumeproof.domain.contract import ToolContract
from resumeproof.domain.instant import parse_instant
from resumeproof.domain.record import Record
from resumeproof.domain.status import TRANSITIONS, Event, Status
from resumeproof.domain.workflow import OpenAttempt, Workflow
from resumeproof.errors import InvalidTransition

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
        "called_digest": facts["digest"],
        "called_key": facts.get("key", workflow.key),
    }
    if attempt.purpose != "lookup":
        changes |= {
            "in_doubt": True,
            "first_unsettled_at": workflow.first_unsettled_at or record.at,
            "last_call_at": record.at,
        }
    return changes


def _done(workflow: Workflow, facts: Mapping[str, Any], result: Any) -> Changes:
    """A step is settled: its result is there for the nodes after it."""
    results = MappingProxyType({**workflow.results, facts["step"]: result})
    return {"results": results, "step": facts["then"], "deaths": 0, "failures": 0}


def _acknowledged(workflow: Workflow, _: Record, facts: Mapping[str, Any]) -> Changes:
    changes = _recovered(workflow, facts) | _settled() | _done(workflow, facts, facts["receipt"])
    acknowledged = (workflow.called_digest, facts["receipt"])
    return changes | {"receipts": (*workflow.receipts, acknowledged), "reason": None}


def _decided(workflow: Workflow, _: Record, facts: Mapping[str, Any]) -> Changes:
    decision = {"decided": "applied" if facts["applied"] else "not_applied"}
    return _settled() | _done(workflow, facts, decision) | {"reason": None}


def _started(_: Workflow, __: Record, ___: Mapping[str, Any]) -> Changes:
    return {}


def _emitted(workflow: Workflow, _: Record, facts: Mapping[str, Any]) -> Changes:
    return _done(workflow, facts, None)


def _wait_started(_: Workflow, __: Record, facts: Mapping[str, Any]) -> Changes:
    return {"waits_for": facts["wait"]}


def _wait_over(workflow: Workflow, _: Record, facts: Mapping[str, Any]) -> Changes:
    changes = _done(workflow, facts, facts["result"]) | {"waits_for": None}
    if facts["took"] is not None:
        changes["taken"] = workflow.taken | {facts["took"]}
    return changes


def _message_received(workflow: Workflow, _: Record, facts: Mapping[str, Any]) -> Changes:
    return {"inbox": (*workflow.inbox, facts["payload"])}


def _messages_applied(workflow: Workflow, _: Record, facts: Mapping[str, Any]) -> Changes:
    applied = facts["messages"]
    earlier = workflow.results.get(facts["step"]) or []
    changes = _done(workflow, facts, [*earlier, *applied])
    return changes | {"inbox": workflow.inbox[len(applied) :]}


def _completed(_: Workflow, __: Record, facts: Mapping[str, Any]) -> Changes:
    return {"output": facts["output"]}


def _attempt_failed(workflow: Workflow, _: Record, facts: Mapping[str, Any]) -> Changes:
    return _settled() | {
        "retries": workflow.retries + 1,
        "failures": workflow.failures + 1,
        "retry_at": _instant_or_none(facts["retry_at"]),
        "reason": facts["reason"],
    }


def _attempt_failed_in_doubt(workflow: Workflow, _: Record, facts: Mapping[str, Any]) -> Changes:
    return {
        "open_attempt": None,
        "doubt_before_attempt": False,
        "retries": workflow.retries + 1,
        "failures": workflow.failures + 1,
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
    Event.DECIDED: _decided,
    Event.STARTED: _started,
    Event.EMITTED: _emitted,
    Event.WAIT_STARTED: _wait_started,
    Event.WAIT_OVER: _wait_over,
    Event.MESSAGE_RECEIVED: _message_received,
    Event.MESSAGES_APPLIED: _messages_applied,
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
    return workflow.changed(
        status=status,
        revision=record.sequence,
        head_hash=record.hash,
        updated_at=record.at,
        **changes,
    )
