"""A journal to try a change on: what would be refused is refused, and nothing is written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from resumeproof.domain.inspection import Stored
from resumeproof.domain.record import Record
from resumeproof.domain.status import Status
from resumeproof.domain.workflow import Workflow
from resumeproof.stores.protocols import Emission, Journal, JournalTransaction


class RehearsedTransaction:
    """A transaction that comes to nothing."""

    def __init__(self, inner: Journal) -> None:
        self._inner = inner

    def load(self, workflow_id: str) -> Stored:
        return self._inner.load(workflow_id)

    def append(self, record: Record) -> None:
        pass

    def save(self, workflow: Workflow, action: bytes, *, expected_revision: int) -> None:
        pass


class RehearsedJournal:
    """A journal that is only read, whatever is asked of it."""

    def __init__(self, inner: Journal) -> None:
        self._inner = inner

    @property
    def path(self) -> Path:
        return self._inner.path

    @contextmanager
    def transaction(self) -> Iterator[JournalTransaction]:
        yield RehearsedTransaction(self._inner)

    def load(self, workflow_id: str) -> Stored:
        return self._inner.load(workflow_id)

    def rows(self, status: Status | None = None) -> Iterator[Stored]:
        return self._inner.rows(status)

    def emissions(self, event: str) -> Iterator[Emission]:
        return self._inner.emissions(event)

    def close(self) -> None:
        self._inner.close()
