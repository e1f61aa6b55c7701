"""A journal and a tool that die where a crash plan says so.

The wrappers name a boundary from what passes through them: a transaction that appends
`attempt_started` is a claim, one that appends an outcome is an acknowledgement, and every call and
lookup of the tool is the tool's. What they wrap does not know of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from resumeproof.crash.plan import CrashPoint
from resumeproof.crash.witness import write_witness
from resumeproof.domain.inspection import Stored
from resumeproof.domain.receipt import Answer, Receipt, ToolCall
from resumeproof.domain.record import Record
from resumeproof.domain.status import Event, Status
from resumeproof.domain.workflow import Workflow
from resumeproof.stores.protocols import Emission, Journal, JournalTransaction, Tool

_COMMIT_OF = {
    Event.ATTEMPT_STARTED: "claim",
    Event.EFFECT_ACKNOWLEDGED: "ack",
    Event.ATTEMPT_FAILED: "ack",
    Event.ATTEMPT_FAILED_IN_DOUBT: "ack",
    Event.LOOKUP_FAILED: "ack",
    Event.ABSENCE_PROVED: "ack",
    Event.FAILED: "ack",
    Event.MARKED_UNKNOWN: "ack",
}


class Passage:
    """Counts the boundaries that one life comes to, and tells `at_boundary` of each.

    It is told the boundary's name, and for the how many-th time the life comes to it, from 1.
    """

    def __init__(self, at_boundary: Callable[[str, int], None]) -> None:
        self._at_boundary = at_boundary
        self._passed: Counter[str] = Counter()

    def reach(self, boundary: str) -> None:
        self._passed[boundary] += 1
        self._at_boundary(boundary, self._passed[boundary])


class Trap(Passage):
    """A passage that springs at the planned crash point.

    `die` ends the process and does not return. The witness is written before it is called, so
    that no death is taken on trust.
    """

    def __init__(self, point: CrashPoint, die: Callable[[], None]) -> None:
        super().__init__(self._spring)
        self._point = point
        self._die = die

    def _spring(self, boundary: str, occurrence: int) -> None:
        if (boundary, occurrence) == (self._point.boundary, self._point.occurrence):
            write_witness(boundary, occurrence)
            self._die()


class CrashingTransaction:
    """A journal transaction that notices which commit of the protocol it is."""

    def __init__(self, inner: JournalTransaction) -> None:
        self._inner = inner
        self.commit: str | None = None

    def load(self, workflow_id: str) -> Stored:
        return self._inner.load(workflow_id)

    def append(self, record: Record) -> None:
        self.commit = self.commit or _COMMIT_OF.get(Event(record.event))
        self._inner.append(record)

    def save(self, workflow: Workflow, action: bytes, *, expected_revision: int) -> None:
        self._inner.save(workflow, action, expected_revision=expected_revision)


class CrashingJournal:
    """A journal that dies just before or just after a commit."""

    def __init__(self, inner: Journal, passage: Passage) -> None:
        self._inner = inner
        self._passage = passage

    @property
    def path(self) -> Path:
        return self._inner.path

    @contextmanager
    def transaction(self) -> Iterator[JournalTransaction]:
        with self._inner.transaction() as inner:
            transaction = CrashingTransaction(inner)
            yield transaction
            if transaction.commit:
                self._passage.reach(f"{transaction.commit}:before")
        if transaction.commit:
            self._passage.reach(f"{transaction.commit}:after")

    def load(self, workflow_id: str) -> Stored:
        return self._inner.load(workflow_id)

    def rows(self, status: Status | None = None) -> Iterator[Stored]:
        return self._inner.rows(status)

    def emissions(self, event: str) -> Iterator[Emission]:
        return self._inner.emissions(event)

    def close(self) -> None:
        self._inner.close()


class CrashingTool:
    """A tool whose caller dies just before the call, or just after the tool has committed."""

    def __init__(self, inner: Tool, passage: Passage) -> None:
        self._inner = inner
        self._passage = passage

    def call(self, call: ToolCall) -> Answer:
        self._passage.reach("tool:before")
        try:
            return self._inner.call(call)
        finally:
            self._passage.reach("tool:after")

    def lookup(self, call: ToolCall) -> Receipt | None:
        self._passage.reach("tool:before")
        try:
            return self._inner.lookup(call)
        finally:
            self._passage.reach("tool:after")
