"""Journals and tools that are wrong in one way each, as a kernel with that bug would use them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from resumeproof.domain.inspection import Stored, fold
from resumeproof.domain.receipt import Answer, Receipt, ToolCall
from resumeproof.domain.record import Record
from resumeproof.domain.status import Event, Status
from resumeproof.domain.workflow import Workflow
from resumeproof.proof.shapes.judge import TERMINAL
from resumeproof.proof.shapes.world import World
from resumeproof.stores.protocols import (
    Emission,
    Journal,
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
