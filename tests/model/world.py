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

from resumeproof.domain import decision as decisions
from resumeproof.domain import protocol
from resumeproof.domain.contract import ToolContract
from resumeproof.domain.instant import format_instant
from resumeproof.domain.receipt import Receipt
from resumeproof.domain.record import GENESIS, Draft
from resumeproof.domain.status import Event
from resumeproof.domain.workflow import Workflow
from tests.model.ledger import LEDGER_ID, WORKFLOW_ID, Ledger, instant

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
    decision: decisions.Decision


class Claimed(NamedTuple):
    """The claim is committed, and nothing is sent."""

    workflow: Workflow
    action: str
    purpose: decisions.Purpose


class Waiting(NamedTuple):
    """The call or the lookup is on its way, and its answer awaited."""

    workflow: Workflow
    action: str
    purpose: decisions.Purpose

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
    purpose: decisions.Purpose


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
    return replace(workflow, revision=revision, head_hash=GENESIS, results=_NO_RESULTS, receipts=())


def extended(workflow: Workflow | None, drafts: tuple[Draft, ...], now_seconds: int) -> Workflow:
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
    workflow = extended(None, (Draft(Event.CREATED, facts),), 0)
    return World(Journal(workflow, D1), Ledger(scope.contract, scope.key, fences=scope.fences))


def with_driver(world: World, place: int, driver: Driver, **changes: Any) -> World:
    other = world.drivers[1 - place]
    return world._replace(drivers=(other, driver) if place else (driver, other), **changes)


def committed(world: World, journal: Journal) -> World:
    """The journal moved on: whatever a driver read before is stale from now on."""
    drivers = tuple(
        driver and driver._replace(workflow=replace(driver.workflow, revision=STALE))
        for driver in world.drivers
    )
    return world._replace(journal=journal, drivers=(drivers[0], drivers[1]))
