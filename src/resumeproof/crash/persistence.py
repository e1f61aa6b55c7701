"""A journal that dies at any of its persistence calls: each append, each save, each commit.

Beside the six boundaries of the protocol these are all the places at which a journal can be left.
The k-th call of a life is the k-th occurrence of its boundary: `append:before#3`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, ParamSpec, TypeVar

from resumeproof.crash.faults import Passage
from resumeproof.domain.inspection import Stored
from resumeproof.domain.record import Record
from resumeproof.domain.status import Status
from resumeproof.domain.workflow import Workflow
from resumeproof.stores.protocols import Emission, Journal, JournalTransaction

PERSISTENCE_BOUNDARIES: Final = tuple(
    f"{call}:{side}"
    for call in ("append", "save", "commit", "register", "tool")
    for side in ("before", "after")
)
"""The boundaries of a driver whose every call of a store is one, the tool's own among them."""

Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")


def surrounded(
    passage: Passage, name: str, call: Callable[Arguments, Returned]
) -> Callable[Arguments, Returned]:
    """A call that comes through `passage` just before and, unless it raises, just after."""

    def surrounding(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Returned:
        passage.reach(f"{name}:before")
        returned = call(*args, **kwargs)
        passage.reach(f"{name}:after")
        return returned

    return surrounding


class PersistenceTransaction:
    """A journal transaction each of whose writing calls is a boundary."""

    def __init__(self, inner: JournalTransaction, passage: Passage) -> None:
        self._inner = inner
        self._passage = passage

    def load(self, workflow_id: str) -> Stored:
        return self._inner.load(workflow_id)

    def append(self, record: Record) -> None:
        surrounded(self._passage, "append", self._inner.append)(record)

    def save(self, workflow: Workflow, action: bytes, *, expected_revision: int) -> None:
        save = surrounded(self._passage, "save", self._inner.save)
        save(workflow, action, expected_revision=expected_revision)


class PersistenceJournal:
    """A journal each of whose persistence calls is a boundary; reading is none."""

    def __init__(self, inner: Journal, passage: Passage) -> None:
        self._inner = inner
        self._passage = passage

    @property
    def path(self) -> Path:
        return self._inner.path

    @contextmanager
    def transaction(self) -> Iterator[JournalTransaction]:
        with self._inner.transaction() as inner:
            yield PersistenceTransaction(inner, self._passage)
            self._passage.reach("commit:before")
        self._passage.reach("commit:after")

    def load(self, workflow_id: str) -> Stored:
        return self._inner.load(workflow_id)

    def rows(self, status: Status | None = None) -> Iterator[Stored]:
        return self._inner.rows(status)

    def emissions(self, event: str) -> Iterator[Emission]:
        return self._inner.emissions(event)

    def close(self) -> None:
        self._inner.close()
