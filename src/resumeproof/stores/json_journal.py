"""The journal in a directory of JSON files, for people whose runtime keeps files.

A record is appended to `timeline.jsonl` and synced; the save replaces `workflow.json` in one step
and is the commit point. A new workflow is built in `births` and renamed into place by its first
save. Everything scans: this backend is for hundreds of workflows, and SQLite for more.

What a transaction promises here is less than what SQLite does. Each save is a commit by itself, so
that an exception undoes no save; records that were appended before it are ahead of the row, and
the next driver finishes them. Compare-and-swap holds between the processes of one machine, by
flock(2) on the journal's directory. Where directories cannot be locked (Windows, some network file
systems) only the driver lock keeps two writers apart: a driver that lost it and comes back is then
*not* refused, as it is by a SQLite journal.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from resumeproof.domain.inspection import Stored
from resumeproof.domain.status import Event, Status
from resumeproof.errors import (
    StoreNotFound,
    StoreRefused,
    StoreUnavailable,
    WorkflowNotFound,
)
from resumeproof.stores import json_birth
from resumeproof.stores.gate import gate
from resumeproof.stores.json_form import (
    IDENTITY_NAME,
    WORKFLOWS_NAME,
    Identity,
    State,
)
from resumeproof.stores.json_reading import read_state, read_workflow
from resumeproof.stores.json_transaction import (
    KIND,
    JsonJournalTransaction,
    Report,
    named,
    place_of,
)
from resumeproof.stores.place import cause_of, resolved
from resumeproof.stores.protocols import Durability, Emission, Place

WAIT_SECONDS = 10.0
"""How long a transaction waits for the one before it."""


def silent(_: str) -> None:
    """Report nothing: what is left over shows in `Stored.uncommitted` all the same."""


class JsonJournal:
    """A `resumeproof.stores.protocols.Journal`; in addition it is a context manager.

    Every method raises `StoreUnavailable` where the files cannot be read or written. Nothing stays
    open between two calls, so that a handle may be closed at any time and cross a fork.
    """

    def __init__(self, path: Path, identity: Identity, report: Report | None) -> None:
        self._path = path
        self._report = report
        self.journal_id = identity.journal_id
        self.created_at = identity.created_at

    @classmethod
    def create(cls, path: str | os.PathLike[str], *, journal_id: str, created_at: str) -> bool:
        """Create an empty journal; False if something is at `path` already.

        `created_at` is an instant's text. Raises `StoreNotFound` where there is no directory to
        create it in, `StoreUnavailable` with nothing left behind.
        """
        with named(resolved(path)):
            return json_birth.create(resolved(path), Identity(journal_id, created_at))

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, report: Report = silent) -> JsonJournal:
        """Open an existing journal for writing.

        `report` is told in a few words what a death left and the writer cuts off. Raises
        `StoreNotFound`; `StoreRefused` for what is no journal of ours, which stays as it was.
        """
        journal = cls(*_recognised(path), report)
        with named(journal.path), gate(journal.path / IDENTITY_NAME, KIND, WAIT_SECONDS) as alone:
            if alone:
                for left_over in json_birth.unborn(journal.path):
                    shutil.rmtree(left_over)
        return journal

    @classmethod
    def open_reader(cls, path: str | os.PathLike[str]) -> JsonJournal:
        """Open an existing journal for reading; no byte of it changes. Raises as `open` does."""
        return cls(*_recognised(path), None)

    @property
    def path(self) -> Path:
        return self._path

    @property
    def durability(self) -> Durability:
        """Every record and every save is synced before its call returns."""
        return Durability("json", "full")

    @contextmanager
    def transaction(self) -> Iterator[JsonJournalTransaction]:
        """One writer at a time; each save in it is durable when it returns.

        Raises `StoreUnavailable` where others write for `WAIT_SECONDS`.
        """
        if self._report is None:
            raise StoreUnavailable(KIND, str(self._path), "it is open for reading")
        with gate(self._path / IDENTITY_NAME, KIND, WAIT_SECONDS):
            transaction = JsonJournalTransaction(self._path, self._report)
            try:
                yield transaction
            finally:
                transaction.end()

    def load(self, workflow_id: str) -> Stored:
        """One workflow with its whole timeline, as of one moment.

        Raises `WorkflowNotFound`; `JournalDamaged` where its files are not as a writer, or its
        death, leaves them. Whatever else is damaged, `domain.inspection.inspect` finds.
        """
        with named(self._path):
            directory = place_of(self._path, workflow_id)
            try:
                return read_workflow(directory, workflow_id).stored
            except FileNotFoundError as error:
                raise WorkflowNotFound(workflow_id, str(self._path)) from error

    def rows(self, status: Status | None = None) -> Iterator[Stored]:
        """All workflows in order of creation, without their records; of one status, if given.

        They are read before the first is handed out. Raises `JournalDamaged` as `load` does.
        """
        for state in self._states():
            if status is None or state.row["status"] == status:
                yield Stored(state.row, state.action, state.action_digest, ())

    def places(self) -> list[Place]:
        """All workflows by their numbers. Raises `JournalDamaged` as `load` does."""
        return [
            Place(state.number, str(state.row["id"]), state.revision) for state in self._states()
        ]

    def _states(self) -> list[State]:
        with named(self._path):
            directories = (self._path / WORKFLOWS_NAME).iterdir()
            return sorted(map(read_state, directories), key=lambda state: state.number)

    def emissions(self, event: str) -> Iterator[Emission]:
        """All events of a name, by their workflows' order of creation, then by sequence.

        Of a record whose save is missing nothing is told: it did not happen yet.
        """
        for row in self.rows():
            stored = self.load(str(row.row["id"]))
            for record in stored.records[: stored.row["revision"]]:
                if record.event == Event.EMITTED and record.facts["event"] == event:
                    yield Emission(record.workflow_id, record.sequence, record.facts["payload"])

    def close(self) -> None:
        """Do nothing: a journal of files is at rest between any two calls."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _recognised(path: str | os.PathLike[str]) -> tuple[Path, Identity]:
    place = resolved(path)
    try:
        if not place.is_dir():
            if os.path.lexists(place):
                raise StoreRefused(KIND, str(place), "it is no directory")
            raise StoreNotFound(KIND, str(place))
        identity = Identity.from_bytes((place / IDENTITY_NAME).read_bytes())
        has_workflows = (place / WORKFLOWS_NAME).is_dir()
    except FileNotFoundError as error:
        raise StoreRefused(KIND, str(place), f"it has no {IDENTITY_NAME}") from error
    except ValueError as error:
        raise StoreRefused(KIND, str(place), f"{IDENTITY_NAME}: {error}") from error
    except OSError as error:
        raise StoreRefused(KIND, str(place), cause_of(error)) from error
    if not has_workflows:
        raise StoreRefused(KIND, str(place), f"it has no {WORKFLOWS_NAME}")
    return place, identity
