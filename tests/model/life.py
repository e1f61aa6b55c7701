"""What people and processes do to one workflow, one after the other, and what comes of it.

The same operations can be carried out on real stores with real kills; `observed` is what both must
then agree upon. A call lands at once here: nobody takes over before the process is gone.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, NamedTuple

from resumeproof.domain import decision as decisions
from resumeproof.domain.record import Draft
from resumeproof.domain.status import Event, Status
from resumeproof.errors import InvalidTransition
from tests.model.driver import step
from tests.model.moves import land
from tests.model.world import (
    Claimed,
    Concluded,
    Decided,
    Driver,
    Scope,
    Waiting,
    World,
    committed,
    extended,
)


class Boundary(StrEnum):
    """Where a process can die. Source: docs/boundaries.md."""

    CLAIM_BEFORE = "claim:before"
    CLAIM_AFTER = "claim:after"
    TOOL_BEFORE = "tool:before"
    TOOL_AFTER = "tool:after"
    ACK_BEFORE = "ack:before"
    ACK_AFTER = "ack:after"


class Observed(NamedTuple):
    """What a journal and a ledger show of the workflow."""

    status: Status
    reason: str | None
    effects: int
    invocations: int
    attempts: int
    retries: int
    recoveries: int


def observed(world: World) -> Observed:
    workflow = world.journal.workflow
    return Observed(
        workflow.status,
        workflow.reason,
        len(world.ledger.effects),
        len(world.ledger.invocations),
        workflow.attempts,
        workflow.retries,
        workflow.recoveries,
    )


def _crossing(driver: Driver) -> tuple[Boundary, ...]:
    """The two boundaries on either side of a driver's next step; none where it has none."""
    match driver:
        case Decided(decision=decisions.Attempt()):
            return Boundary.CLAIM_BEFORE, Boundary.CLAIM_AFTER
        case Decided(decision=decisions.PeekEventually()) | Claimed() | Waiting():
            return Boundary.TOOL_BEFORE, Boundary.TOOL_AFTER
        case Decided() | Concluded():
            return Boundary.ACK_BEFORE, Boundary.ACK_AFTER
        case None:
            return ()


def resume(
    scope: Scope,
    world: World,
    *,
    crash_at: Boundary | None = None,
    occurrence: int = 1,
    fail_before: int = 0,
) -> tuple[World, bool]:
    """The world after a process has resumed the workflow, and whether it died at `crash_at`.

    It dies when it comes there for the `occurrence`-th time (from 1). The tool fails before the
    effect until it has failed `fail_before` times in all.
    """
    passed = 0
    while True:
        crossing = _crossing(world.drivers[0])
        before, world = world, _advanced(scope, world, fail_before)
        for boundary, there in zip(crossing, (before, world), strict=False):
            passed += boundary == crash_at
            if passed == occurrence:
                return there._replace(drivers=(None, None), deaths=there.deaths + 1), True
        if world.drivers[0] is None and world.journal == before.journal:
            return world, False


def _advanced(scope: Scope, world: World, fail_before: int) -> World:
    """One step further; a call is sent and answered in one."""
    move = step(scope, world, 0)
    if move is None:
        return world
    world = move[1]
    driver = world.drivers[0]
    if not isinstance(driver, Waiting):
        return world
    calls = driver.purpose is not decisions.Purpose.LOOKUP
    return land(world, driver.flight, fails=calls and world.failures < fail_before)


_DECISIONS: dict[Event, dict[str, Any]] = {
    Event.CANCELLED: {},
    Event.RECONCILED_APPLIED: {"actor": "operator", "note": ""},
    Event.RECONCILED_NOT_APPLIED: {"actor": "operator", "note": ""},
}


def operator(world: World, event: Event) -> World | None:
    """The world after an operator's decision; None where the state machine refuses it."""
    try:
        workflow = extended(
            world.journal.workflow, (Draft(event, _DECISIONS[event]),), world.now_seconds
        )
    except InvalidTransition:
        return None
    return committed(world, world.journal._replace(workflow=workflow))
