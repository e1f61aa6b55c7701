"""Kernels with one bug each, and the shape that must find it, for its own reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from resumeproof.domain.conformance import ConformanceReport
from resumeproof.domain.verdict import FindingKind
from resumeproof.proof.progress import Silence
from resumeproof.proof.shapes import SHAPES
from resumeproof.proof.shapes.disturbance import Mode
from resumeproof.proof.shapes.run import Cell, prove_cell
from resumeproof.proof.shapes.subject import MakeWorld
from resumeproof.proof.shapes.world import World
from resumeproof.stores.protocols import (
    Journal,
    JournalFormat,
)
from tests.subjects.broken_journals import (
    AcknowledgedFirst,
    AppliedFirst,
    FreshKeys,
    ListenersToldOnce,
    MemoryAfterLease,
    ParentToldOnce,
    RecordAlone,
    StateFirst,
    TimerInMemory,
    UnfencedCalls,
)


def _with_journal(broken: Callable[[Journal], Journal]) -> MakeWorld:
    return lambda engine, clock, contract: World(
        replace(engine, journal=broken(engine.journal)), clock, contract
    )


def _with_fresh_keys(engine: Any, clock: Any, contract: Any) -> World:
    return World(replace(engine, tool=FreshKeys(engine.tool, engine.journal)), clock, contract)


def _with_unfenced_calls(engine: Any, clock: Any, contract: Any) -> World:
    return World(replace(engine, tool=UnfencedCalls(engine.tool)), clock, contract)


@dataclass(frozen=True)
class BrokenKernel:
    """A kernel with one bug, the shape meant for it, and what that must find.

    `expects` is its own reason; `brings` are the other findings that it brings with it, and
    `brings_on_json` those that it brings besides on a JSON journal. `no_json` says why it cannot be
    expressed on one.
    """

    about: str
    shape: str
    expects: FindingKind
    make_world: MakeWorld
    brings: frozenset[FindingKind] = frozenset()
    mode: Mode = Mode.SIGKILL
    brings_on_json: frozenset[FindingKind] = frozenset()
    no_json: str | None = None

    @property
    def formats(self) -> Sequence[JournalFormat]:
        return [JournalFormat.SQLITE] if self.no_json else list(JournalFormat)

    def findings(self, journal_format: JournalFormat) -> frozenset[FindingKind]:
        """What must be found on a journal of this format, and nothing else."""
        besides = self.brings_on_json if journal_format is JournalFormat.JSON else frozenset()
        return frozenset({self.expects}) | self.brings | besides

    def prove(self, journal_format: JournalFormat, *, jobs: int | None) -> ConformanceReport:
        """Kill its drivers at every call of their stores."""
        return prove_cell(
            Cell(SHAPES[self.shape], journal_format, self.mode),
            depth=1,
            jobs=jobs,
            progress=Silence(),
            make_world=self.make_world,
        )


_REFUSED = frozenset({FindingKind.RESUME_CRASHED})
_WAITING_FOR_EVER = frozenset({FindingKind.EFFECT_LOST, FindingKind.RESUME_DIVERGED})

BROKEN_KERNELS: Mapping[str, BrokenKernel] = {
    "completion inversion": BrokenKernel(
        "the terminal state is saved before its record is appended",
        "effect_chain",
        FindingKind.STATE_AHEAD,
        _with_journal(StateFirst),
        _REFUSED,
    ),
    "resume inversion": BrokenKernel(
        "a record is committed by itself, and its save later",
        "effect_chain",
        FindingKind.RECORD_AHEAD,
        _with_journal(RecordAlone),
        _REFUSED,
        no_json="that is how it writes: the next driver makes the save",
    ),
    "fresh key": BrokenKernel(
        "a retry takes a fresh key",
        "effect_chain",
        FindingKind.EFFECT_REPLAYED,
        _with_fresh_keys,
        frozenset({FindingKind.EFFECT_LOST, FindingKind.RESUME_DIVERGED}),
    ),
    "unfenced call": BrokenKernel(
        "a stopped driver's late call is not refused",
        "tool_approval",
        FindingKind.EFFECT_REPLAYED,
        _with_unfenced_calls,
        mode=Mode.STOP,
    ),
    "listeners told once": BrokenKernel(
        "the emitter is recorded before the last listener is told",
        "event_fanout",
        FindingKind.TERMINAL_MISSING,
        _with_journal(ListenersToldOnce),
        _WAITING_FOR_EVER,
    ),
    "parent told once": BrokenKernel(
        "a parent is told once of its child's end",
        "subworkflow",
        FindingKind.TERMINAL_MISSING,
        _with_journal(ParentToldOnce),
        _WAITING_FOR_EVER,
    ),
    "timer in memory": BrokenKernel(
        "a timer is armed in memory",
        "wait_until",
        FindingKind.TERMINAL_MISSING,
        _with_journal(TimerInMemory),
        _WAITING_FOR_EVER,
        # Who never looks at a sleeper does not finish its record either.
        brings_on_json=frozenset({FindingKind.RECORD_AHEAD}),
    ),
    "acknowledged first": BrokenKernel(
        "a message is acknowledged before it is applied",
        "steer_drain",
        FindingKind.RESUME_DIVERGED,
        AcknowledgedFirst,
    ),
    "applied first": BrokenKernel(
        "a message is applied before it is acknowledged",
        "steer_drain",
        FindingKind.RESUME_DIVERGED,
        AppliedFirst,
    ),
    "memory after lease": BrokenKernel(
        "an entity's memory is saved after its lease is given back",
        "entity_visit",
        FindingKind.RESUME_DIVERGED,
        _with_journal(MemoryAfterLease),
    ),
}
