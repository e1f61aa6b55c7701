"""A journal and a tool whose callers die where a crash plan says so.

What they wrap does not know of them. A tool's calls are counted as any object's are; a journal's
commit is the one boundary that is no call: it is the end of a `with` statement, and only where that
ends well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final, TypeVar

from resumeproof.crash.calls import CountedCalls
from resumeproof.crash.faulty import faulty
from resumeproof.domain.inspection import Stored
from resumeproof.domain.record import Record
from resumeproof.domain.status import Event, Status
from resumeproof.domain.workflow import Workflow
from resumeproof.stores.protocols import Emission, Journal, JournalTransaction, Tool

PERSISTENCE_BOUNDARIES: Final = tuple(
    f"{call}:{side}"
    for call in ("append", "save", "commit", "register", "tool")
    for side in ("before", "after")
)
"""The boundaries of a driver whose every call of a store is one, the tool's own among them."""

_COMMIT_OF: Final = {
    Event.ATTEMPT_STARTED: "claim",
    Event.EFFECT_ACKNOWLEDGED: "ack",
    Event.ATTEMPT_FAILED: "ack",
    Event.ATTEMPT_FAILED_IN_DOUBT: "ack",
    Event.LOOKUP_FAILED: "ack",
    Event.ABSENCE_PROVED: "ack",
    Event.FAILED: "ack",
    Event.MARKED_UNKNOWN: "ack",
}

CommitName = Callable[[Sequence[Record]], str | None]
"""Names the boundary that a commit of these records is; None where it is none."""

AnyTool = TypeVar("AnyTool", bound=Tool)


def of_protocol(records: Sequence[Record]) -> str | None:
    """`claim` or `ack`: of a commit that claims, or that records an outcome."""
    names = (_COMMIT_OF.get(Event(record.event)) for record in records)
    return next((name for name in names if name is not None), None)


def every_commit(_: Sequence[Record]) -> str:
    return "commit"


class CrashingTransaction:
    """A journal transaction that remembers what it appended."""

    def __init__(self, inner: JournalTransaction) -> None:
        self._inner = inner
        self.appended: list[Record] = []

    def load(self, workflow_id: str) -> Stored:
        return self._inner.load(workflow_id)

    def append(self, record: Record) -> None:
        self.appended.append(record)
        self._inner.append(record)

    def save(self, workflow: Workflow, action: bytes, *, expected_revision: int) -> None:
        self._inner.save(workflow, action, expected_revision=expected_revision)


class CrashingJournal:
    """A journal whose writer dies just before or just after a commit."""

    def __init__(
        self, inner: Journal, counted: CountedCalls, name_of: CommitName = of_protocol
    ) -> None:
        self._inner = inner
        self._counted = counted
        self._name_of = name_of

    @property
    def path(self) -> Path:
        return self._inner.path

    @contextmanager
    def transaction(self) -> Iterator[JournalTransaction]:
        # What is entered first is left last: after the inner journal has committed.
        with ExitStack() as commit, self._inner.transaction() as inner:
            transaction = CrashingTransaction(inner)
            yield transaction
            name = self._name_of(transaction.appended)
            if name is not None:
                commit.enter_context(self._counted.call(name))

    def load(self, workflow_id: str) -> Stored:
        return self._inner.load(workflow_id)

    def rows(self, status: Status | None = None) -> Iterator[Stored]:
        return self._inner.rows(status)

    def emissions(self, event: str) -> Iterator[Emission]:
        return self._inner.emissions(event)

    def close(self) -> None:
        self._inner.close()


def persistence_journal(journal: Journal, counted: CountedCalls) -> Journal:
    """A journal each of whose writing calls is a boundary, and each commit; reading is none.

    Beside the six boundaries of the protocol these are all the places at which it can be left.
    """
    return CrashingJournal(faulty(journal, {"append", "save"}, counted), counted, every_commit)


def crashing_tool(tool: AnyTool, counted: CountedCalls) -> AnyTool:
    """A tool whose caller dies just before a call or a lookup, or when it has come back."""
    return faulty(tool, {"call": "tool", "lookup": "tool"}, counted)
