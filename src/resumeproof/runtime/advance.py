"""Commands that call nobody: each is one commit, and needs no claim."""

from __future__ import annotations

from resumeproof.domain.command import Drain, Emit, Fail, Finish, Sleep, Spawn, Wait
from resumeproof.domain.record import Draft
from resumeproof.domain.status import Event, Status
from resumeproof.domain.workflow import Workflow
from resumeproof.errors import WorkflowNotFound
from resumeproof.runtime.creation import Terms, create
from resumeproof.runtime.engine import Engine, Held
from resumeproof.runtime.waits import over, wait_of


def drafts_of(held: Held, engine: Engine) -> tuple[Draft, ...]:
    """The records of the present command. A wait that is over is recorded with what it came to."""
    workflow, command = held.workflow, held.command
    idle = workflow.status in (Status.PENDING_APPROVAL, Status.APPROVED)
    started = (Draft(Event.STARTED, {}),) if idle else ()
    step = {"step": workflow.step}
    match command:
        case Emit(event, payload, then):
            return (*started, Draft(Event.EMITTED, step | _emitted(event, payload, then)))
        case Drain(then):
            applied = {"messages": list(workflow.inbox), "then": then}
            return (*started, Draft(Event.MESSAGES_APPLIED, step | applied))
        case Wait() | Sleep() | Spawn():
            if workflow.status is Status.WAITING:
                return (_wait_over(held, engine, command.then),)
            waits = {"wait": wait_of(workflow, command)}
            return (*started, Draft(Event.WAIT_STARTED, step | waits))
        case Finish() | Fail():
            return (*started, *ending(held))
    raise AssertionError(f"{command} is no command that calls nobody")


def ending(held: Held) -> tuple[Draft, ...]:
    """What ends a workflow folds into the commit that led to it; nothing, for other commands."""
    command = held.command
    if isinstance(command, Finish):
        return (Draft(Event.COMPLETED, {"output": dict(command.output)}),)
    if isinstance(command, Fail):
        return (Draft(Event.FAILED, {"reason": command.error}),)
    return ()


def start_child(held: Held, engine: Engine) -> None:
    """Create the child that a workflow waits for, unless it is there already."""
    workflow, command = held.workflow, held.command
    wait = workflow.waits_for or {}
    if wait.get("kind") != "child" or not isinstance(command, Spawn):
        return
    if held.stored.save_missing:
        # It does not wait before that is saved: nothing may rest on a record alone.
        return
    child = str(wait["child"])
    try:
        engine.journal.load(child)
    except WorkflowNotFound:
        # The contract first: a workflow whose tool nobody knows must not exist.
        engine.register(child, workflow.contract)
        create(
            engine.journal,
            engine.clock,
            workflow_id=child,
            program=engine.programs[command.program],
            action=command.action,
            terms=_inherited(workflow),
        )


def _inherited(workflow: Workflow) -> Terms:
    return Terms(
        ledger_id=workflow.ledger_id,
        contract=workflow.contract,
        key=f"{workflow.key}.{workflow.step}" if workflow.key else None,
        max_retries=workflow.max_retries,
        max_recoveries=workflow.max_recoveries,
        retry_base_seconds=workflow.retry_base_seconds,
    )


def _emitted(event: str, payload: object, then: str) -> dict[str, object]:
    return {"event": event, "payload": payload, "then": then}


def _wait_over(held: Held, engine: Engine, then: str) -> Draft:
    came_to = over(held.workflow, engine.journal, engine.clock)
    assert came_to is not None, "the table lets nobody past a wait that is not over"
    facts = {
        "result": came_to.result,
        "step": held.workflow.step,
        "then": then,
        "took": came_to.took,
    }
    return Draft(Event.WAIT_OVER, facts)
