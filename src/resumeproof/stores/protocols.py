"""What the runtime asks of its two stores, which never share a transaction.

The state save is the commit point: a record is appended before the save that makes it true. In a
journal that can, both become durable with the commit of one `transaction()`; in one that cannot,
each with its own call.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from resumeproof.domain.contract import ToolContract
from resumeproof.domain.inspection import Stored
from resumeproof.domain.receipt import Answer, Receipt, ToolCall
from resumeproof.domain.record import Record
from resumeproof.domain.status import Status
from resumeproof.domain.workflow import Workflow


class JournalTransaction(Protocol):
    """One change of a journal. Leaving it with an exception leaves nothing true that was not saved.

    A journal whose transaction is one commit undoes its saves as well. In any other a record may
    stay ahead of the row, as `resumeproof.domain.inspection.Stored` tells it: it is finished by the
    save of the next writer, or cut off where it comes to nothing without its save.
    """

    def load(self, workflow_id: str) -> Stored:
        """The workflow's row as it is inside this transaction, *without* its records.

        Raises `WorkflowNotFound`.
        """
        ...

    def append(self, record: Record) -> None:
        """Append one timeline record. Nothing is true before the save that follows."""
        ...

    def save(self, workflow: Workflow, action: bytes, *, expected_revision: int) -> None:
        """Write the workflow's row, by compare-and-swap on its revision (0: it must be new).

        Raises `Conflict` where the stored revision is another, `WorkflowExists` for revision 0.
        """
        ...


@dataclass(frozen=True)
class Emission:
    """An event that a workflow let happen: the record that tells of it, and its payload."""

    workflow_id: str
    sequence: int
    payload: Any


class Journal(Protocol):
    """The orchestrator's durable store: workflows and their timelines."""

    @property
    def path(self) -> Path: ...

    def transaction(self) -> AbstractContextManager[JournalTransaction]: ...

    def load(self, workflow_id: str) -> Stored:
        """One workflow with its whole timeline, as of one moment. Raises `WorkflowNotFound`."""
        ...

    def rows(self, status: Status | None = None) -> Iterator[Stored]:
        """All workflows in order of creation, without their records; of one status, if given."""
        ...

    def emissions(self, event: str) -> Iterator[Emission]:
        """All events of a name, by the workflows that let them happen, in order of creation."""
        ...

    def close(self) -> None: ...


@dataclass(frozen=True)
class Durability:
    """How a store is written: the journal mode and synchronous setting that were in force.

    SQLite names its own; a journal of JSON files has mode "json".
    """

    journal_mode: str
    synchronous: str


class JournalFormat(StrEnum):
    """How a journal keeps what it knows."""

    SQLITE = "sqlite"
    JSON = "json"


@dataclass(frozen=True)
class Place:
    """A workflow's place in the order of creation, from 1, and the revision that is saved of it."""

    number: int
    workflow_id: str
    revision: int


class OpenJournal(Journal, Protocol):
    """A journal of this package, of either format, that closes at the end of a `with` statement."""

    journal_id: str
    created_at: str

    @property
    def durability(self) -> Durability: ...

    def places(self) -> list[Place]:
        """All workflows by their numbers, as the rows have them, which may be wrong by hand."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None: ...


class Tool(Protocol):
    """What a driver may ask of a tool. Raises, besides what is named, `StoreUnavailable`."""

    def call(self, call: ToolCall) -> Answer:
        """Apply the effect, or answer with the receipt of an earlier one.

        Raises `KeyConflict`, `Fenced`, `AttemptRepeated` or `FailedBeforeEffect`.
        """
        ...

    def lookup(self, call: ToolCall) -> Receipt | None:
        """The receipt of the effect of `call.key`, or None.

        A consistent lookup takes `call.attempt` as a fence: calls of older attempts of this
        workflow and step are refused from then on. Raises `Fenced` or `AttemptRepeated`.
        """
        ...


class ToolLedger(Tool, Protocol):
    """The simulated tool's durable store: contracts, effects, invocations, keys."""

    @property
    def path(self) -> Path: ...

    @property
    def ledger_id(self) -> str: ...

    def register(self, workflow_id: str, contract: ToolContract, *, fail_before: int) -> None:
        """Set up the tool that this workflow will call; its first `fail_before` calls fail."""
        ...

    def close(self) -> None: ...
