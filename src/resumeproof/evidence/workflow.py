"""One workflow as JSON: what the command line prints, wherever it prints a workflow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from resumeproof.domain.action import Action
from resumeproof.domain.canonical import digest_of
from resumeproof.domain.inspection import Stored
from resumeproof.domain.record import Record
from resumeproof.domain.status import Event, Status
from resumeproof.domain.workflow import Workflow
from resumeproof.errors import ActionRefused

_RESOLUTIONS: Mapping[str, str] = {
    Event.RECONCILED_APPLIED: "confirmed_applied",
    Event.RECONCILED_NOT_APPLIED: "confirmed_not_applied",
}


def workflow_json(stored: Stored, workflow: Workflow, *, driver_alive: bool) -> dict[str, Any]:
    """The facts of a sound workflow; `stored` comes with its records.

    `driver_alive` says whether the driver of its open attempt holds the journal's lock now, and is
    told for a `running` workflow only: without it nobody drives, whatever the status says.
    `action` is None where the stored bytes are no action (any more); `found_digest` is of those
    bytes, and another than `action_digest` where somebody changed them by hand.
    """
    return {
        "id": workflow.id,
        "status": str(workflow.status),
        "reason": workflow.reason,
        "mode": workflow.mode,
        "key": workflow.key,
        "action": _action(stored.action),
        "action_digest": workflow.action_digest,
        "found_digest": digest_of(stored.action),
        "approved_digest": workflow.approved_digest,
        "contract": workflow.contract.to_json(),
        "in_doubt": workflow.in_doubt,
        "driver": {"alive": driver_alive} if workflow.status is Status.RUNNING else None,
        "attempts": workflow.attempts,
        "retries": workflow.retries,
        "max_retries": workflow.max_retries,
        "recoveries": workflow.recoveries,
        "max_recoveries": workflow.max_recoveries,
        "retry_base_seconds": workflow.retry_base_seconds,
        "retry_at": workflow.retry_at,
        "receipt": _receipt(stored.records),
        "decision": _decision(stored.records),
        "output": None if workflow.output is None else dict(workflow.output),
        "program": workflow.program,
        "step": workflow.step,
        "ledger_id": workflow.ledger_id,
        "revision": workflow.revision,
        "head_hash": workflow.head_hash,
        "created_at": workflow.created_at,
        "updated_at": workflow.updated_at,
    }


def summary_json(stored: Stored, *, driver_alive: bool) -> dict[str, Any]:
    """What the row alone says of a workflow, without its timeline, and so unverified."""
    row = stored.row
    summary = {
        name: row[name]
        for name in ("id", "status", "reason", "mode", "key", "attempts", "retry_at", "updated_at")
    }
    running = row["status"] == Status.RUNNING
    return summary | {"driver": {"alive": driver_alive} if running else None}


def _action(canonical: bytes) -> dict[str, Any] | None:
    action = Action.from_canonical(canonical)
    try:
        return {"tool": action.tool, "arguments": action.arguments}
    except ActionRefused:
        return None


def _receipt(records: tuple[Record, ...]) -> dict[str, Any] | None:
    """The last acknowledged receipt; `replayed` says that it was the receipt of an earlier call."""
    for record in reversed(records):
        if record.event == Event.EFFECT_ACKNOWLEDGED:
            facts = record.facts
            return {**facts["receipt"], "replayed": facts["replayed"]}
    return None


def _decision(records: tuple[Record, ...]) -> dict[str, Any] | None:
    """An operator's decision on a workflow in doubt, the last one."""
    for record in reversed(records):
        resolution = _resolution(record)
        if resolution is not None:
            facts = record.facts
            return {
                "resolution": resolution,
                "actor": facts["actor"],
                "note": facts["note"],
                "at": record.at,
            }
    return None


def _resolution(record: Record) -> str | None:
    """How a record decided; None for one that decided nothing."""
    if record.event != Event.DECIDED:
        return _RESOLUTIONS.get(record.event)
    applied = record.facts["applied"]
    return _RESOLUTIONS[Event.RECONCILED_APPLIED if applied else Event.RECONCILED_NOT_APPLIED]
