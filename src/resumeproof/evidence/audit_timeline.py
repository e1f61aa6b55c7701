"""Check that each record of a timeline could follow from what its journal told before it.

The hash chain says that a timeline is as it was written, and the state machine that its events may
follow each other. Here is what their facts owe to what was known: a record is of the step at which
its workflow stood, a claim is of bytes that were approved by then, messages are applied as they
came in, and a wait came to what another workflow has in its own timeline.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from resumeproof.domain.canonical import canonical_bytes
from resumeproof.domain.folding import apply
from resumeproof.domain.record import Record
from resumeproof.domain.status import ENDED, Event
from resumeproof.domain.workflow import Workflow

Facts = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Told:
    """One sound workflow of a journal, and its timeline."""

    workflow: Workflow
    records: tuple[Record, ...]


Journal = Mapping[str, Told]
"""Everything that a journal tells, by workflow."""


def timeline_problem(told: Told, journal: Journal) -> str | None:
    """The first record of a workflow that owes something; None where all hold.

    Raises `KeyError`, `TypeError` or `ValueError` for facts that are not of their event's form.
    """
    workflow: Workflow | None = None
    for record in told.records:
        if workflow is not None:
            for check in _CHECKS.get(record.event, ()):
                if problem := check(workflow, record.facts, journal):
                    return f"timeline record {record.sequence}: {problem}"
        workflow = apply(workflow, record)
    return None


def _step(workflow: Workflow, facts: Facts, _: Journal) -> str | None:
    if facts["step"] == workflow.step:
        return None
    return f"it is of step {facts['step']!r}, and the workflow stood at {workflow.step!r}"


def _approval(workflow: Workflow, facts: Facts, _: Journal) -> str | None:
    # A program's own word: where none is asked for, its claim says so.
    if facts.get("needs_approval", True) and facts["digest"] != workflow.approved_digest:
        return f"attempt {facts['attempt']} claims bytes that bear no live approval"
    return None


def _messages(workflow: Workflow, facts: Facts, _: Journal) -> str | None:
    if _same(facts["messages"], list(workflow.inbox)):
        return None
    return "the messages that it applies are not those that had come in"


def _came_to(workflow: Workflow, facts: Facts, journal: Journal) -> str | None:
    wait = workflow.waits_for or {}
    kind, took = wait["kind"], facts["took"]
    if (kind == "event") is (took is None):
        return f"a wait for {kind} took {took!r}"
    match kind:
        case "event":
            return _event(workflow, wait, facts, journal)
        case "child":
            return _child(wait, facts, journal)
        case _:
            due = {"until": wait["until"]}
            return None if _same(facts["result"], due) else f"it slept until {wait['until']}"


def _event(workflow: Workflow, wait: Facts, facts: Facts, journal: Journal) -> str | None:
    source, _, sequence = facts["took"].rpartition("#")
    records = journal[source].records if source in journal else ()
    emitted = [record for record in records if str(record.sequence) == sequence]
    if not emitted or emitted[0].event != Event.EMITTED:
        return f"it took event {facts['took']}, which nobody emitted"
    if facts["took"] in workflow.taken:
        return f"it took event {facts['took']} before"
    event = emitted[0].facts
    if event["event"] != wait["event"]:
        return f"it took event {event['event']!r}, and waited for {wait['event']!r}"
    if not _same(facts["result"], {"payload": event["payload"], "source": source}):
        return f"what it took is not what {facts['took']} emitted"
    return None


def _child(wait: Facts, facts: Facts, journal: Journal) -> str | None:
    name = wait["child"]
    if name not in journal:
        return f"its child {name} is missing"
    child = journal[name].workflow
    if child.status not in ENDED or child.program != wait["program"]:
        return f"its child {name} is {child.status}, of program {child.program}"
    end = {"child": child.id, "output": child.output, "status": str(child.status)}
    return None if _same(facts["result"], end) else f"its child {name} came to something else"


def _same(one: Any, other: Any) -> bool:
    """As JSON: Python's true equals 1."""
    return canonical_bytes({"it": one}) == canonical_bytes({"it": other})


_Check = Callable[[Workflow, Facts, Journal], str | None]
_CHECKS: Final[Mapping[str, tuple[_Check, ...]]] = {
    Event.ATTEMPT_STARTED: (_step, _approval),
    Event.EFFECT_ACKNOWLEDGED: (_step,),
    Event.DECIDED: (_step,),
    Event.EMITTED: (_step,),
    Event.WAIT_STARTED: (_step,),
    Event.WAIT_OVER: (_step, _came_to),
    Event.MESSAGES_APPLIED: (_step, _messages),
}
