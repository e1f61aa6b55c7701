"""One driver's steps, each decided by the real tables and written by the real protocol."""

from __future__ import annotations

from typing import Any

from resumeproof.domain import conclusion as conclusions
from resumeproof.domain import decision as decisions
from resumeproof.domain import protocol, recovery
from resumeproof.domain.record import Draft
from resumeproof.domain.status import Event
from resumeproof.domain.workflow import Workflow
from resumeproof.errors import InvalidTransition
from tests.model import ledger as tool
from tests.model.ledger import WORKFLOW_ID, instant
from tests.model.world import (
    Claimed,
    Concluded,
    Decided,
    Move,
    Scope,
    Waiting,
    World,
    committed,
    extended,
    with_driver,
)


def step(scope: Scope, world: World, place: int) -> Move | None:
    """The next step of one driver; None where it has none to take, or waits for an answer."""
    match world.drivers[place]:
        case None:
            return _read(world, place)
        case Decided() as driver:
            return _act(scope, world, place, driver)
        case Claimed() as driver:
            return _send(world, place, driver)
        case Concluded() as driver:
            return _commit(scope, world, place, driver)
        case Waiting():
            return None


def _read(world: World, place: int) -> Move | None:
    workflow, action, _ = world.journal
    decision = recovery.decide(
        recovery.Facts(WORKFLOW_ID, workflow, None, action, instant(world.now_seconds))
    )
    if isinstance(decision, decisions.Refuse | decisions.Return):
        return None
    return f"decides {decision}", with_driver(world, place, Decided(workflow, action, decision))


def _act(scope: Scope, world: World, place: int, driver: Decided) -> Move:
    match driver.decision:
        case decisions.Attempt(purpose):
            return _claim(scope, world, place, driver, purpose)
        case decisions.PeekEventually():
            return _look(world, place, driver)
        case decisions.Fail() | decisions.MarkUnknown() as conclusion:
            return _commit(scope, world, place, Concluded(driver.workflow, conclusion, False))
        case other:
            raise AssertionError(f"nothing to do for {other}")


def _claim(
    scope: Scope, world: World, place: int, driver: Decided, purpose: decisions.Purpose
) -> Move:
    stored = world.journal.workflow
    if not _unchanged_since(scope, driver.workflow, stored):
        return "is refused: Conflict", with_driver(world, place, None)
    draft = protocol.claim(stored, purpose, driver="driver", digest=driver.action)
    try:
        workflow = extended(stored, (draft,), world.now_seconds)
    except InvalidTransition:
        return "is refused: InvalidTransition", with_driver(world, place, None)
    world = committed(world, world.journal._replace(workflow=workflow))
    claimed = Claimed(workflow, driver.action, purpose)
    return f"claims attempt {workflow.attempts} ({purpose})", with_driver(world, place, claimed)


def _send(world: World, place: int, driver: Claimed) -> Move:
    waiting = Waiting(*driver)
    sent = with_driver(world, place, waiting, flights=world.flights | {waiting.flight})
    return f"sends attempt {driver.workflow.attempts}", sent


def _look(world: World, place: int, driver: Decided) -> Move:
    """Ask an eventual lookup: a mere read, with nothing to arrive late."""
    _, answer = tool.look_up(
        world.ledger,
        attempt=driver.workflow.attempts,
        now_seconds=world.now_seconds,
        fails=False,
    )
    conclusion = conclusions.conclude_lookup(
        driver.workflow,
        fingerprint=driver.action,
        now=instant(world.now_seconds),
        answer=answer,
    )
    return f"looks, {_outline(conclusion)}", conclude(
        world, place, driver.workflow, conclusion, claimed=False
    )


def conclude(
    world: World,
    place: int,
    workflow: Workflow,
    conclusion: decisions.Conclusion,
    *,
    claimed: bool,
) -> World:
    if isinstance(conclusion, decisions.Refuse):
        return with_driver(world, place, None)
    return with_driver(world, place, Concluded(workflow, conclusion, claimed))


def _commit(scope: Scope, world: World, place: int, driver: Concluded) -> Move:
    stored, conclusion = world.journal.workflow, driver.conclusion
    if not _unchanged_since(scope, driver.workflow, stored):
        return "is refused: Conflict", with_driver(world, place, None)
    drafts = protocol.outcome(stored, conclusion, claimed=driver.claimed, then="finish")
    acknowledged = world.journal.acknowledged
    if isinstance(conclusion, decisions.Acknowledge):
        # The pure command after a call folds into the commit of its outcome.
        drafts += (Draft(Event.COMPLETED, {"output": None}),)
        acknowledged += (conclusion.receipt,)
    try:
        workflow = extended(stored, drafts, world.now_seconds)
    except InvalidTransition:
        return "is refused: InvalidTransition", with_driver(world, place, None)
    journal = world.journal._replace(workflow=workflow, acknowledged=acknowledged)
    return f"commits {_outline(conclusion)}", with_driver(committed(world, journal), place, None)


def _outline(conclusion: decisions.Conclusion) -> str:
    return type(conclusion).__name__


def heard(world: World, driver: Waiting, answer: Any) -> decisions.Conclusion:
    if driver.purpose is decisions.Purpose.LOOKUP:
        return conclusions.conclude_lookup(
            driver.workflow,
            fingerprint=driver.action,
            now=instant(world.now_seconds),
            answer=answer,
        )
    return conclusions.conclude_call(driver.workflow, fingerprint=driver.action, answer=answer)


def _unchanged_since(scope: Scope, read: Workflow, stored: Workflow) -> bool:
    """The compare of the journal's compare-and-swap."""
    return bool(getattr(read, scope.swap_on) == getattr(stored, scope.swap_on))
