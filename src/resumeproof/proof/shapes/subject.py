"""A shape on two stores as a subject: its drivers die at every persistence call and tool call."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from resumeproof.crash.calls import AtBoundary, CountedCalls
from resumeproof.crash.channel import LifeChannel
from resumeproof.crash.faults import crashing_tool, persistence_journal
from resumeproof.crash.faulty import faulty
from resumeproof.domain.contract import ToolContract
from resumeproof.domain.instant import format_instant
from resumeproof.domain.verdict import Violation
from resumeproof.errors import JournalBusy
from resumeproof.proof.agent import described
from resumeproof.proof.ledgered import LedgeredRemains
from resumeproof.proof.living import Body, Boundary, LifeOutcome, Order
from resumeproof.proof.payload import pack
from resumeproof.proof.shapes.disturbance import Disturbance, Mode
from resumeproof.proof.shapes.judge import absorbed, at_any_prefix, name_of, when_done
from resumeproof.proof.shapes.shape import Shape
from resumeproof.proof.shapes.world import World
from resumeproof.runtime.clock import SteppedClock
from resumeproof.runtime.engine import Engine
from resumeproof.runtime.identity import SeededIdentity
from resumeproof.runtime.lock import lock_path
from resumeproof.runtime.operations import hold
from resumeproof.runtime.session import Site, driving
from resumeproof.stores.journals import create_journal, open_journal
from resumeproof.stores.protocols import Journal, JournalFormat, Tool
from resumeproof.stores.sqlite_ledger import SqliteLedger

JOURNAL_NAME: Final = "journal"
LEDGER_NAME: Final = "ledger"
START: Final = datetime(2026, 1, 1, tzinfo=UTC)
BETWEEN_LIVES: Final = timedelta(minutes=1)
STEP_SECONDS: Final = 0.001
RIVAL_LIFE: Final = 1_000
LOCK_TIMEOUT_SECONDS: Final = 10.0

MakeWorld = Callable[[Engine, SteppedClock, ToolContract], World]
"""What a life is given; a broken kernel is a world whose engine or whose people do something else.
"""

_DURABLE: Final = MappingProxyType(
    {
        JournalFormat.SQLITE: ("commit:after", "register:after", "tool:after"),
        JournalFormat.JSON: ("append:after", "save:after", "register:after", "tool:after"),
    }
)
"""After which calls a death leaves other files than before them."""

_UNREAD: Final = (".lock", ".health", "-shm")
"""What no resume reads: who held the lock is never believed, the counters are for people, and
SQLite builds its memory map anew (sqlite.org/walformat.html, section 2.2)."""


Stores = tuple[Journal, SqliteLedger]
"""As they are, with nothing in between: what a broken kernel says of them is not asked."""


@dataclass(frozen=True)
class Driver:
    """What a life drives with, and in."""

    world: World
    stores: Stores


def _unheeded(_: str, __: int) -> None:
    """A boundary at which nothing happens."""


class ShapeSubject:
    """One shape on one kind of journal, driven by forked lives."""

    def __init__(
        self,
        shape: Shape,
        journal_format: JournalFormat,
        make_world: MakeWorld = World,
        mode: Mode = Mode.SIGKILL,
    ) -> None:
        self._shape = shape
        self._format = journal_format
        self._make_world = make_world
        self._mode = mode

    @property
    def contract(self) -> ToolContract:
        return self._shape.contract

    def lay_out(self, root: Path) -> None:
        site = self._site(root, 0)
        at = format_instant(START)
        SqliteLedger.create(site.ledger, ledger_id="ledger", created_at=at)
        create_journal(site.journal, self._format, journal_id="journal", created_at=at)
        with driving(site) as engine:
            self._shape.lay_out(World(engine, _clock(0), self.contract))

    def body(self, order: Order) -> Body:
        return lambda channel: self._live(order, channel)

    def remains(self, root: Path) -> LedgeredRemains:
        return LedgeredRemains(root, LEDGER_NAME, unread=_UNREAD)

    def share_of(self, boundary: Boundary) -> int:
        """Deaths between two durable calls leave the same, and the durable calls are counted."""
        return self._shares.get(boundary, 0)

    @cached_property
    def _shares(self) -> Mapping[Boundary, int]:
        """What an undisturbed life comes through, dealt out by what it has made durable."""
        shares: dict[Boundary, int] = {}
        share = 0

        def note(name: str, occurrence: int) -> None:
            nonlocal share
            share += name in _DURABLE[self._format]
            shares[name, occurrence] = share

        with tempfile.TemporaryDirectory() as scratch:
            self.lay_out(Path(scratch))
            with self.driving(Path(scratch), 1, note) as driver:
                self._shape.live(driver.world)
        return shares

    # -- one life ------------------------------------------------------------------------------

    def _live(self, order: Order, channel: LifeChannel) -> LifeOutcome:
        disturbance = Disturbance(self._mode, order, channel, partial(self._drive_beside, order))
        raised, state, replays = None, None, 0
        violations: list[Violation] = []
        try:
            with ExitStack() as stack:
                if order.only_reread:
                    stores = self._reread(order.root, stack)
                    violations += when_done(*stores, self._shape.endings)
                else:
                    stack.enter_context(disturbance.script())
                    driver = stack.enter_context(
                        self.driving(order.root, order.life, disturbance.reach)
                    )
                    stores = driver.stores
                    violations += at_any_prefix(stores[0])
                    self._shape.live(driver.world)
                state, replays = self._read(*stores)
        except BaseException as error:
            raised = described(error)
        return LifeOutcome(
            raised=raised,
            refused=None,
            state=None if raised else pack(state, "state"),
            passed=tuple(disturbance.watch.passed),
            shareable=disturbance.watch.shareable,
            violations=tuple(violations),
            absorbed=replays,
        )

    def _drive_beside(self, order: Order) -> None:
        """A second driver's life: it waits for its turn, or takes it where it is to be taken."""
        life = RIVAL_LIFE + order.life
        if self._mode is Mode.STOP:
            self._take_the_lock(self._site(order.root, life))
        with self.driving(order.root, life) as driver:
            self._shape.live(driver.world)

    def _take_the_lock(self, site: Site) -> None:
        """See that a stopped driver keeps everybody out, and remove its lock file all the same."""
        with suppress(JournalBusy), driving(replace(site, lock_timeout_seconds=0.0)):
            raise AssertionError("a stopped driver holds its lock")
        lock_path(site.journal).unlink()

    @contextmanager
    def driving(
        self, root: Path, life: int, at_boundary: AtBoundary = _unheeded
    ) -> Iterator[Driver]:
        """One life's driver, which comes to a boundary at each of its calls of a store."""
        counted = CountedCalls(at_boundary)
        site = self._site(root, life)
        opened: list[Stores] = []

        def wrap(journal: Journal, ledger: SqliteLedger) -> tuple[Journal, Tool]:
            opened.append((journal, ledger))
            return persistence_journal(journal, counted), crashing_tool(ledger, counted)

        with driving(site, wrap) as engine:
            register = faulty(engine.register, {"__call__": "register"}, counted)
            clock = site.clock
            assert isinstance(clock, SteppedClock)
            world = self._make_world(replace(engine, register=register), clock, self.contract)
            yield Driver(world, opened[0])

    def _reread(self, root: Path, stack: ExitStack) -> Stores:
        return (
            stack.enter_context(open_journal(root / JOURNAL_NAME)),
            stack.enter_context(SqliteLedger.open_reader(root / LEDGER_NAME)),
        )

    def _read(
        self, journal: Journal, ledger: SqliteLedger
    ) -> tuple[list[tuple[str, str, Any]], int]:
        """What every workflow came to, and how many replays its tool absorbed."""
        workflows = [
            hold(journal, str(row.row["id"]), self._programs).workflow for row in journal.rows()
        ]
        state = [(name_of(each.id), str(each.status), each.output) for each in workflows]
        return sorted(state, key=lambda each: each[0]), absorbed(ledger)

    def _site(self, root: Path, life: int) -> Site:
        return Site(
            journal=root / JOURNAL_NAME,
            ledger=root / LEDGER_NAME,
            clock=_clock(life),
            identity=SeededIdentity(f"{self._shape.name}:{life}"),
            lock_timeout_seconds=LOCK_TIMEOUT_SECONDS,
            programs=self._programs,
        )

    @cached_property
    def _programs(self) -> Mapping[str, Any]:
        return {program.name: program for program in self._shape.programs}


def _clock(life: int) -> SteppedClock:
    return SteppedClock(START + life * BETWEEN_LIVES, STEP_SECONDS)
