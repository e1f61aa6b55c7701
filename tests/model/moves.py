"""Everything that can happen next in a world: steps, deaths, landings, time and the operator."""

from __future__ import annotations

from collections.abc import Iterator

from resumeproof.domain import decision as decisions
from resumeproof.domain.record import Draft
from resumeproof.domain.status import Event, Status
from tests.model import ledger as tool
from tests.model.driver import conclude, heard, step
from tests.model.ledger import STEP
from tests.model.world import (
    D1,
    D2,
    TICK_SECONDS,
    Claimed,
    Concluded,
    Flight,
    Move,
    Scope,
    Waiting,
    World,
    committed,
    extended,
    with_driver,
)


def land(world: World, flight: Flight, *, fails: bool) -> World:
    """A call or lookup reaches the tool; its driver has the answer, if it still waits for it."""
    ask = tool.look_up if flight.purpose is decisions.Purpose.LOOKUP else tool.call
    told = {} if flight.purpose is decisions.Purpose.LOOKUP else {"digest": flight.action}
    ledger, answer = ask(
        world.ledger,
        attempt=flight.attempt,
        now_seconds=world.now_seconds,
        fails=fails,
        **told,
    )
    world = world._replace(
        ledger=ledger, flights=world.flights - {flight}, failures=world.failures + fails
    )
    for place, driver in enumerate(world.drivers):
        if isinstance(driver, Waiting) and driver.flight == flight:
            return conclude(
                world, place, driver.workflow, heard(world, driver, answer), claimed=True
            )
    return world


def _dies(scope: Scope, world: World, place: int) -> Iterator[Move]:
    """A death before the claim changes nothing, and is not worth a move."""
    driver = world.drivers[place]
    mattered = isinstance(driver, Claimed | Waiting) or (
        isinstance(driver, Concluded) and driver.claimed
    )
    if mattered and world.deaths < scope.deaths:
        yield "dies", with_driver(world, place, None, deaths=world.deaths + 1)


def _lands(scope: Scope, world: World) -> Iterator[Move]:
    for flight in world.flights:
        yield f"attempt {flight.attempt} lands", land(world, flight, fails=False)
        if world.failures < scope.failures:
            yield f"attempt {flight.attempt} fails", land(world, flight, fails=True)


def tick(scope: Scope, world: World) -> World:
    """Time passes. What had to land in time, and did not, never will."""
    lost = scope.calls_land_in_time and scope.contract.key_lifetime_seconds is not None
    return world._replace(
        now_seconds=world.now_seconds + TICK_SECONDS,
        flights=frozenset() if lost else world.flights,
    )


def approve(world: World) -> World:
    facts = {"actor": "operator", "digest": world.journal.action, "then": STEP}
    return _decided(world, Draft(Event.APPROVED, facts), world.journal.action)


def replace_action(world: World, action: str) -> World:
    return _decided(
        world, Draft(Event.ACTION_REPLACED, {"digest": action, "step": "approve"}), action
    )


def _decided(world: World, draft: Draft, action: str) -> World:
    workflow = extended(world.journal.workflow, (draft,), world.now_seconds)
    return committed(world, world.journal._replace(workflow=workflow, action=action))


def _operator(scope: Scope, world: World) -> Iterator[Move]:
    status = world.journal.workflow.status
    if status is Status.PENDING_APPROVAL:
        yield f"operator approves {world.journal.action[0]}", approve(world)
    replaceable = status in (Status.PENDING_APPROVAL, Status.APPROVED)
    if replaceable and world.replacements < scope.replacements:
        other = D2 if world.journal.action == D1 else D1
        yield (
            "operator replaces the action",
            replace_action(world, other)._replace(replacements=world.replacements + 1),
        )


def moves(scope: Scope, world: World) -> Iterator[Move]:
    """Everything that can happen next."""
    idle = world.drivers == (None, None)
    for place, driver in enumerate(world.drivers):
        if driver is None and scope.locked and not idle:
            continue
        move = step(scope, world, place)
        if move:
            yield move
        yield from _dies(scope, world, place)
    yield from _lands(scope, world)
    if idle or not scope.locked:
        yield from _operator(scope, world)
    if idle and world.now_seconds < scope.ticks * TICK_SECONDS:
        yield "time passes", tick(scope, world)
