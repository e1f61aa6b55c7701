"""Waits, derived anew from durable facts whenever somebody looks.

Nothing depends on a notification that a process may have died before sending: a waiter looks its
events up, a sleeper looks at the clock, a parent looks its child up, and starts it where it was
never started.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from resumeproof.domain.command import Sleep, Spawn, Wait
from resumeproof.domain.inspection import inspect
from resumeproof.domain.instant import parse_instant
from resumeproof.domain.status import ENDED
from resumeproof.domain.workflow import Workflow
from resumeproof.errors import JournalDamaged, WorkflowNotFound
from resumeproof.runtime.clock import Clock
from resumeproof.stores.protocols import Journal


@dataclass(frozen=True)
class Over:
    """What a wait came to. `took` names the record of the event that was taken, if it was one."""

    result: Any
    took: str | None = None


def wait_of(workflow: Workflow, command: Wait | Sleep | Spawn) -> dict[str, Any]:
    """What a workflow waits for, as its timeline tells it."""
    match command:
        case Wait(event):
            return {"event": event, "kind": "event"}
        case Sleep(until):
            parse_instant(until)
            return {"kind": "time", "until": until}
        case Spawn():
            return {"child": child_id(workflow), "kind": "child", "program": command.program}


def child_id(workflow: Workflow) -> str:
    """The id of the child that the present step runs: the same, however often it is asked for."""
    return f"{workflow.id}.{workflow.step}.{workflow.revision}"


def over(workflow: Workflow, journal: Journal, clock: Clock) -> Over | None:
    """What the wait came to; None while it goes on. Reads only."""
    wait = workflow.waits_for or {}
    match wait.get("kind"):
        case "event":
            return _event(workflow, journal, wait)
        case "time":
            due = clock.now() >= parse_instant(wait["until"])
            return Over({"until": wait["until"]}) if due else None
        case "child":
            return _child(journal, wait)
    return Over(None)


def described(wait: Mapping[str, Any]) -> tuple[str, str]:
    """Until what a wait lasts, and why, for whoever came too early."""
    match wait["kind"]:
        case "event":
            return f"event {wait['event']!r}", "waiting for an event"
        case "time":
            return str(wait["until"]), "sleeping"
        case _:
            return f"the end of {wait['child']}", "waiting for a child"


def _event(workflow: Workflow, journal: Journal, wait: Mapping[str, Any]) -> Over | None:
    for emission in journal.emissions(wait["event"]):
        name = f"{emission.workflow_id}#{emission.sequence}"
        if name not in workflow.taken:
            return Over({"payload": emission.payload, "source": emission.workflow_id}, name)
    return None


def _child(journal: Journal, wait: Mapping[str, Any]) -> Over | None:
    try:
        stored = journal.load(wait["child"])
    except WorkflowNotFound:
        return None
    inspection = inspect(stored)
    child = inspection.workflow
    if child is None:
        raise JournalDamaged(wait["child"], str(inspection.damage))
    # An end whose save is missing is finished by the child's next driver, and told then.
    if child.status not in ENDED or stored.save_missing:
        return None
    return Over({"child": child.id, "output": child.output, "status": str(child.status)})
