"""Breadth-first through every world that a scope allows, so that a counterexample is shortest."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from functools import cache

from resumeproof.domain.status import ENDED, Status
from resumeproof.domain.workflow import Workflow
from tests.model.invariants import violated
from tests.model.moves import moves
from tests.model.world import Scope, Waiting, World, created


@dataclass(frozen=True, slots=True)
class Walk:
    """`broken` names the invariant that does not hold at the end of `trace`, or is None."""

    states: int
    statuses: frozenset[Status]
    broken: str | None
    trace: tuple[str, ...]

    def __str__(self) -> str:
        lines = (f"{index:3} {line}" for index, line in enumerate(self.trace, start=1))
        return "\n".join((f"{self.states} states, broken: {self.broken}", *lines))


@cache
def _projected(workflow: Workflow) -> Workflow:
    told = workflow.status in ENDED or workflow.status is Status.UNKNOWN
    return replace(workflow, recoveries=0, reason=workflow.reason if told else None)


def canonical(world: World) -> World:
    """One representative of all worlds with the same future.

    The two drivers are alike, so that of two mirrored worlds one is kept. A dead driver's call from
    behind the fence will be refused whenever it lands. An attempt is claimed once and sent once, so
    that the tool need not remember which it has seen.
    """
    drivers = [
        driver and driver._replace(workflow=_projected(driver.workflow)) for driver in world.drivers
    ]
    drivers.sort(key=hash)
    awaited = {driver.flight for driver in drivers if isinstance(driver, Waiting)}
    return world._replace(
        journal=world.journal._replace(workflow=_projected(world.journal.workflow)),
        ledger=world.ledger._replace(invocations=frozenset(), lookups=frozenset()),
        drivers=(drivers[0], drivers[1]),
        flights=frozenset(
            flight
            for flight in world.flights
            if flight in awaited or flight.attempt >= world.ledger.fence
        ),
    )


def walk(scope: Scope) -> Walk:
    """Visit every reachable world once; stop at the first that breaks an invariant."""
    start = created(scope)
    came_from: dict[World, tuple[World, str] | None] = {start: None}
    statuses = {start.journal.workflow.status}
    queue = deque([start])
    while queue:
        world = queue.popleft()
        statuses.add(world.journal.workflow.status)
        broken = violated(scope, world)
        if broken:
            return Walk(len(came_from), frozenset(statuses), broken, _trace(came_from, world))
        for label, moved in moves(scope, world):
            reached = canonical(moved)
            if reached not in came_from:
                came_from[reached] = world, label
                queue.append(reached)
    return Walk(len(came_from), frozenset(statuses), None, ())


def _trace(came_from: dict[World, tuple[World, str] | None], world: World) -> tuple[str, ...]:
    labels: list[str] = []
    while (origin := came_from[world]) is not None:
        world, label = origin
        labels.append(label)
    return tuple(reversed(labels))
