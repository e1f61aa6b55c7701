"""Kernels with one bug each, and the shape that must find it, for its own reason."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from resumeproof.domain.conformance import ConformanceReport
from resumeproof.domain.inspection import Stored, fold
from resumeproof.domain.receipt import Answer, Receipt, ToolCall
from resumeproof.domain.record import Record
from resumeproof.domain.status import Event, Status
from resumeproof.domain.verdict import FindingKind
from resumeproof.domain.workflow import Workflow
from resumeproof.proof.progress import Silence
from resumeproof.proof.shapes import SHAPES
from resumeproof.proof.shapes.disturbance import Mode
from resumeproof.proof.shapes.judge import TERMINAL
from resumeproof.proof.shapes.run import Cell, prove_cell
from resumeproof.proof.shapes.subject import MakeWorld
from resumeproof.proof.shapes.world import World
from resumeproof.stores.protocols import (
    Emission,
    Journal,
    JournalFormat,
    JournalTransaction,
    Tool,
)


class NotedTransaction:
    """A transaction that is seen by whoever made it; a held-back record or save goes nowhere."""

    def __init__(self, inner: JournalTransaction, holds_back: Callable[[Record], bool]) -> None:
        self._inner = inner
        self._holds_back = holds_back
        self.appended: list[Record] = []
        self.held_back: list[Record] = []

    def load(self, workflow_id: str) -> Stored:
        return self._inner.load(workflow_id)

    def append(self, record: Record) -> None:
        self.appended.append(record)
        if self._holds_back(record):
            self.held_back.append(record)
        else:
            self._inner.append(record)

    def catch_up(self, transaction: JournalTransaction) -> None:
        """Append what was held back."""
        while self.held_back:
            transaction.append(self.held_back.pop(0))

    def save(self, workflow: Workflow, action: bytes, *, expected_revision: int) -> None:
        self._inner.save(workflow, action, expected_revision=expected_revision)


def _nothing(_: Record) -> bool:
    return False


class NotedJournal:
    """A journal whose commits are seen. The one to derive a bug from."""

    def __init__(self, inner: Journal) -> None:
        self.inner = inner

    @property
    def path(self) -> Path:
        return self.inner.path

    @contextmanager
    def transaction(self) -> Iterator[JournalTransaction]:
        with self.inner.transaction() as inner:
            transaction = NotedTransaction(inner, _nothing)
            yield transaction
        for record in transaction.appended:
            self.committed(record)

    def committed(self, record: Record) -> None:
        """Told of each record once it is durable."""

    def load(self, workflow_id: str) -> Stored:
        return self.inner.load(workflow_id)

    def rows(self, status: Status | None = None) -> Iterator[Stored]:
        return self.inner.rows(status)

    def emissions(self, event: str) -> Iterator[Emission]:
        return self.inner.emissions(event)

    def close(self) -> None:
        self.inner.close()


# -- the two inversions ------------------------------------------------------------------------


class StateFirst(NotedJournal):
    """Saves the terminal state, and appends the terminal record afterwards."""

    @contextmanager
    def transaction(self) -> Iterator[JournalTransaction]:
        with self.inner.transaction() as inner:
            transaction = NotedTransaction(inner, lambda record: record.event in TERMINAL)
            yield transaction
            if self.path.is_dir():  # of files, each of which is durable when its call returns
                transaction.catch_up(inner)
        if transaction.held_back:
            with self.inner.transaction() as later:
                transaction.catch_up(later)


class _SaveLater(NotedTransaction):
    def __init__(self, inner: JournalTransaction) -> None:
        super().__init__(inner, _nothing)
        self.owed: Callable[[JournalTransaction], None] | None = None

    def save(self, workflow: Workflow, action: bytes, *, expected_revision: int) -> None:
        if expected_revision == 0:
            super().save(workflow, action, expected_revision=expected_revision)
            return
        self.owed = lambda later: later.save(workflow, action, expected_revision=expected_revision)


class RecordAlone(NotedJournal):
    """Commits a record by itself, and its save afterwards, where one commit was to hold both."""

    @contextmanager
    def transaction(self) -> Iterator[JournalTransaction]:
        with self.inner.transaction() as inner:
            transaction = _SaveLater(inner)
            yield transaction
        if transaction.owed is not None:
            with self.inner.transaction() as later:
                transaction.owed(later)


# -- notifications that nobody derives anew ----------------------------------------------------


class ListenersToldOnce(NotedJournal):
    """Records the emitter, and then tells the listeners: those of a dead driver never hear."""

    def __init__(self, inner: Journal) -> None:
        super().__init__(inner)
        self._told: set[tuple[str, int]] = set()

    def committed(self, record: Record) -> None:
        if record.event == Event.EMITTED:
            self._told.add((record.workflow_id, record.sequence))

    def emissions(self, event: str) -> Iterator[Emission]:
        for emission in super().emissions(event):
            if (emission.workflow_id, emission.sequence) in self._told:
                yield emission


class ParentToldOnce(NotedJournal):
    """Tells a parent of its child's end when that is committed, and never again."""

    def __init__(self, inner: Journal) -> None:
        super().__init__(inner)
        self._told: set[str] = set()

    def committed(self, record: Record) -> None:
        if record.event in TERMINAL:
            self._told.add(record.workflow_id)

    def load(self, workflow_id: str) -> Stored:
        stored = super().load(workflow_id)
        ended = stored.records[-1].event in TERMINAL and not stored.save_missing
        if not ended or workflow_id in self._told or "." not in workflow_id:
            return stored
        before = stored.records[:-1]
        return replace(stored, records=before, row=fold(workflow_id, before).sound().row())


class TimerInMemory(NotedJournal):
    """Wakes the sleepers that this process has put to bed."""

    def __init__(self, inner: Journal) -> None:
        super().__init__(inner)
        self._armed: set[str] = set()

    def committed(self, record: Record) -> None:
        if record.event == Event.WAIT_STARTED:
            self._armed.add(record.workflow_id)

    def rows(self, status: Status | None = None) -> Iterator[Stored]:
        for stored in super().rows(status):
            if stored.row["status"] != Status.WAITING or stored.row["id"] in self._armed:
                yield stored


# -- things kept beside the journal ------------------------------------------------------------


class MemoryAfterLease(NotedJournal):
    """Keeps an entity's memory in a file, and writes it once the lease has been given back."""

    @property
    def _memory(self) -> Path:
        return self.path.parent / "memory.json"

    def committed(self, record: Record) -> None:
        if record.event == Event.EMITTED and record.facts["event"].startswith("leave:"):
            self._memory.write_text(json.dumps(record.facts["payload"]))

    def emissions(self, event: str) -> Iterator[Emission]:
        for emission in super().emissions(event):
            if event.startswith("leave:"):
                text = self._memory.read_text() if self._memory.exists() else "[]"
                emission = replace(emission, payload=json.loads(text))
            yield emission


class _Inbox(World):
    """An inbox outside the journal, with a list of what was acknowledged."""

    def send(self, workflow_id: str, payload: Any) -> None:
        acknowledged = self.engine.journal.path.parent / "acknowledged.json"
        done = json.loads(acknowledged.read_text()) if acknowledged.exists() else []
        if payload in done:
            return

        def acknowledge() -> None:
            acknowledged.write_text(json.dumps([*done, payload]))

        self.hand_over(lambda: self.apply(workflow_id, payload), acknowledge)

    def hand_over(self, apply: Callable[[], None], acknowledge: Callable[[], None]) -> None:
        raise NotImplementedError


class AcknowledgedFirst(_Inbox):
    """Acknowledges a message before it is applied."""

    def hand_over(self, apply: Callable[[], None], acknowledge: Callable[[], None]) -> None:
        acknowledge()
        apply()


class AppliedFirst(_Inbox):
    """Applies a message before it is acknowledged, and does not look whether it was."""

    def hand_over(self, apply: Callable[[], None], acknowledge: Callable[[], None]) -> None:
        apply()
        acknowledge()


class FreshKeys:
    """A tool whose caller takes another key for each attempt at a step."""

    def __init__(self, inner: Tool, journal: Journal) -> None:
        self._inner = inner
        self._journal = journal

    def call(self, call: ToolCall) -> Answer:
        attempts = sum(
            record.event == Event.ATTEMPT_STARTED and record.facts["step"] == call.step
            for record in self._journal.load(call.workflow_id).records
        )
        return self._inner.call(
            call if attempts == 1 else replace(call, key=f"{call.key}~{attempts}")
        )

    def lookup(self, call: ToolCall) -> Receipt | None:
        return self._inner.lookup(call)


class UnfencedCalls:
    """A tool whose caller numbers its attempts so that no fence is ever ahead of them."""

    def __init__(self, inner: Tool) -> None:
        self._inner = inner

    def call(self, call: ToolCall) -> Answer:
        return self._inner.call(replace(call, attempt=call.attempt + 100))

    def lookup(self, call: ToolCall) -> Receipt | None:
        return self._inner.lookup(call)


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
