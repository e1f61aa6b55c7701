"""A small world around the real decision functions: one journal, one tool, two drivers.

Every state is plain data and every move is one thing that can happen: a driver takes its next step
or dies, a call lands or fails, time passes, an operator decides. What a driver does is asked of
the real `decide`, `conclude_call`, `conclude_lookup` and `protocol`; the rest is as small as it
can be.

Three assumptions bound the world, and the promise rests on them:

- A life is short: time passes only while no driver is at work. A driver stopped between its claim
  and its call for longer than the margin of a key's lifetime is beyond what a key can promise.
- `calls_land_in_time`: a call under a key with a lifetime arrives within that margin, or never.
- An unanswered call and a death look the same to a journal, so `deaths` bounds both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

from resumeproof.domain import protocol, recovery
from resumeproof.domain.contract import ToolContract
from resumeproof.domain.instant import format_instant
from resumeproof.domain.receipt import Receipt
from resumeproof.domain.record import GENESIS, Draft
from resumeproof.domain.status import Event, Status
from resumeproof.domain.workflow import Workflow
from resumeproof.errors import InvalidTransition
from tests.model import ledger as tool
from tests.model.ledger import LEDGER_ID, STEP, WORKFLOW_ID, Ledger, instant

D1, D2 = "1" * 64, "2" * 64
TICK_SECONDS = 5
CURRENT, STALE = 2, 1


class _Projected(Mapping[str, Any]):
    """Results of earlier steps, of which there are none: hashable, unlike a mapping proxy."""

    def __getitem__(self, key: str) -> Any:
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __hash__(self) -> int:
        return 0


_NO_RESULTS = _Projected()


class Scope(NamedTuple):
    """The bounds of one walk. `failures` counts calls and lookups that say that they failed."""

    contract: ToolContract
    key: str | None
    locked: bool
    deaths: int = 3
    failures: int = 1
    ticks: int = 0
    replacements: int = 1
    max_retries: int = 2
    max_recoveries: int = 5
    calls_land_in_time: bool = True
    swap_on: str = "revision"
    fences: bool = True


class Journal(NamedTuple):
    """`action` is the digest of the stored bytes, and stands for them."""

    workflow: Workflow
    action: str
    acknowledged: tuple[Receipt, ...] = ()


class Decided(NamedTuple):
    """The driver read the journal and made up its mind; it has written nothing."""

    workflow: Workflow
    action: str
    decision: recovery.Decision


class Claimed(NamedTuple):
    """The claim is committed, and nothing is sent."""

    workflow: Workflow
    action: str
    purpose: recovery.Purpose


class Waiting(NamedTuple):
    """The call or the lookup is on its way, and its answer awaited."""

    workflow: Workflow
    action: str
    purpose: recovery.Purpose

    @property
    def flight(self) -> Flight:
        return Flight(self.workflow.attempts, self.action, self.purpose)


class Concluded(NamedTuple):
    """An outcome is known to the driver alone, and about to be committed."""

    workflow: Workflow
    conclusion: protocol.Outcome
    claimed: bool


Driver: TypeAlias = Decided | Claimed | Waiting | Concluded | None
"""None is a driver that does nothing, or a new process after a death."""


class Flight(NamedTuple):
    """A call or lookup between its driver and the tool; it may outlive its driver."""

    attempt: int
    action: str
    purpose: recovery.Purpose


class World(NamedTuple):
    journal: Journal
    ledger: Ledger
    drivers: tuple[Driver, Driver] = (None, None)
    flights: frozenset[Flight] = frozenset()
    now_seconds: int = 0
    deaths: int = 0
    failures: int = 0
    replacements: int = 0


Move: TypeAlias = tuple[str, World]


def _projected(workflow: Workflow, revision: int = CURRENT) -> Workflow:
    return replace(workflow, revision=revision, head_hash=GENESIS, results=_NO_RESULTS)


def _extended(workflow: Workflow | None, drafts: tuple[Draft, ...], now_seconds: int) -> Workflow:
    at = format_instant(instant(now_seconds))
    _, extended = protocol.extend(workflow, drafts, workflow_id=WORKFLOW_ID, at=at)
    return _projected(extended)


def created(scope: Scope) -> World:
    """The world in which a workflow with the action `D1` waits for its approval."""
    facts = {
        "contract": scope.contract.to_json(),
        "digest": D1,
        "key": scope.key,
        "ledger_id": LEDGER_ID,
        "max_recoveries": scope.max_recoveries,
        "max_retries": scope.max_retries,
        "program": "tool_call",
        "program_digest": "0" * 64,
        "retry_base_seconds": 0,
        "step": "approve",
    }
    workflow = _extended(None, (Draft(Event.CREATED, facts),), 0)
    return World(Journal(workflow, D1), Ledger(scope.contract, scope.key, fences=scope.fences))


def _with_driver(world: World, place: int, driver: Driver, **changes: Any) -> World:
    other = world.drivers[1 - place]
    return world._replace(drivers=(other, driver) if place else (driver, other), **changes)


def _committed(world: World, journal: Journal) -> World:
    """The journal moved on: whatever a driver read before is stale from now on."""
    drivers = tuple(
        driver and driver._replace(workflow=replace(driver.workflow, revision=STALE))
        for driver in world.drivers
    )
    return world._replace(journal=journal, drivers=(drivers[0], drivers[1]))


def _unchanged_since(scope: Scope, read: Workflow, stored: Workflow) -> bool:
    """The compare of the journal's compare-and-swap."""
    return bool(getattr(read, scope.swap_on) == getattr(stored, scope.swap_on))


# -- one driver's steps ----------------------------------------------------------------------


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
    if isinstance(decision, recovery.Refuse | recovery.Return):
        return None
    return f"decides {decision}", _with_driver(world, place, Decided(workflow, action, decision))


def _act(scope: Scope, world: World, place: int, driver: Decided) -> Move:
    match driver.decision:
        case recovery.Attempt(purpose):
            return _claim(scope, world, place, driver, purpose)
        case recovery.PeekEventually():
            return _look(world, place, driver)
        case recovery.Fail() | recovery.MarkUnknown() as conclusion:
            return _commit(scope, world, place, Concluded(driver.workflow, conclusion, False))
        case other:
            raise AssertionError(f"nothing to do for {other}")


def _claim(
    scope: Scope, world: World, place: int, driver: Decided, purpose: recovery.Purpose
) -> Move:
    stored = world.journal.workflow
    if not _unchanged_since(scope, driver.workflow, stored):
        return "is refused: Conflict", _with_driver(world, place, None)
    draft = protocol.claim(stored, purpose, driver="driver", digest=driver.action)
    try:
        workflow = _extended(stored, (draft,), world.now_seconds)
    except InvalidTransition:
        return "is refused: InvalidTransition", _with_driver(world, place, None)
    world = _committed(world, world.journal._replace(workflow=workflow))
    claimed = Claimed(workflow, driver.action, purpose)
    return f"claims attempt {workflow.attempts} ({purpose})", _with_driver(world, place, claimed)


def _send(world: World, place: int, driver: Claimed) -> Move:
    waiting = Waiting(*driver)
    sent = _with_driver(world, place, waiting, flights=world.flights | {waiting.flight})
    return f"sends attempt {driver.workflow.attempts}", sent


def _look(world: World, place: int, driver: Decided) -> Move:
    """Ask an eventual lookup: a mere read, with nothing to arrive late."""
    _, answer = tool.look_up(
        world.ledger,
        attempt=driver.workflow.attempts,
        now_seconds=world.now_seconds,
        fails=False,
    )
    conclusion = recovery.conclude_lookup(
        driver.workflow,
        fingerprint=driver.action,
        now=instant(world.now_seconds),
        answer=answer,
    )
    return f"looks, {_outline(conclusion)}", _conclude(
        world, place, driver.workflow, conclusion, claimed=False
    )


def _conclude(
    world: World,
    place: int,
    workflow: Workflow,
    conclusion: recovery.Conclusion,
    *,
    claimed: bool,
) -> World:
    if isinstance(conclusion, recovery.Refuse):
        return _with_driver(world, place, None)
    return _with_driver(world, place, Concluded(workflow, conclusion, claimed))


def _commit(scope: Scope, world: World, place: int, driver: Concluded) -> Move:
    stored, conclusion = world.journal.workflow, driver.conclusion
    if not _unchanged_since(scope, driver.workflow, stored):
        return "is refused: Conflict", _with_driver(world, place, None)
    drafts = protocol.outcome(stored, conclusion, claimed=driver.claimed, then="finish")
    acknowledged = world.journal.acknowledged
    if isinstance(conclusion, recovery.Acknowledge):
        # The pure command after a call folds into the commit of its outcome.
        drafts += (Draft(Event.COMPLETED, {"output": None}),)
        acknowledged += (conclusion.receipt,)
    try:
        workflow = _extended(stored, drafts, world.now_seconds)
    except InvalidTransition:
        return "is refused: InvalidTransition", _with_driver(world, place, None)
    journal = world.journal._replace(workflow=workflow, acknowledged=acknowledged)
    return f"commits {_outline(conclusion)}", _with_driver(_committed(world, journal), place, None)


def _outline(conclusion: recovery.Conclusion) -> str:
    return type(conclusion).__name__


# -- what else may happen --------------------------------------------------------------------


def land(world: World, flight: Flight, *, fails: bool) -> World:
    """A call or lookup reaches the tool; its driver has the answer, if it still waits for it."""
    ask = tool.look_up if flight.purpose is recovery.Purpose.LOOKUP else tool.call
    told = {} if flight.purpose is recovery.Purpose.LOOKUP else {"digest": flight.action}
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
            return _conclude(
                world, place, driver.workflow, _heard(world, driver, answer), claimed=True
            )
    return world


def _heard(world: World, driver: Waiting, answer: Any) -> recovery.Conclusion:
    if driver.purpose is recovery.Purpose.LOOKUP:
        return recovery.conclude_lookup(
            driver.workflow,
            fingerprint=driver.action,
            now=instant(world.now_seconds),
            answer=answer,
        )
    return recovery.conclude_call(driver.workflow, fingerprint=driver.action, answer=answer)


def _dies(scope: Scope, world: World, place: int) -> Iterator[Move]:
    """A death before the claim changes nothing, and is not worth a move."""
    driver = world.drivers[place]
    mattered = isinstance(driver, Claimed | Waiting) or (
        isinstance(driver, Concluded) and driver.claimed
    )
    if mattered and world.deaths < scope.deaths:
        yield "dies", _with_driver(world, place, None, deaths=world.deaths + 1)


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
    workflow = _extended(world.journal.workflow, (draft,), world.now_seconds)
    return _committed(world, world.journal._replace(workflow=workflow, action=action))


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
