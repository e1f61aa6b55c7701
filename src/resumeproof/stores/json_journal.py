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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from resumeproof.domain.inspection import Stored
from resumeproof.domain.record import Record
from resumeproof.domain.status import Status
from resumeproof.domain.workflow import Workflow
from resumeproof.errors import (
    Conflict,
    HardLinked,
    StoreNotFound,
    StoreRefused,
    StoreUnavailable,
    WorkflowExists,
    WorkflowNotFound,
)
from resumeproof.stores import json_birth
from resumeproof.stores.durable import append_synced, cut_durably, replace_durably
from resumeproof.stores.gate import gate
from resumeproof.stores.json_form import (
    BIRTHS_NAME,
    IDENTITY_NAME,
    STATE_NAME,
    TIMELINE_NAME,
    WORKFLOWS_NAME,
    Identity,
    State,
    directory_name,
    line_of,
)
from resumeproof.stores.json_reading import read_state, read_workflow
from resumeproof.stores.place import cause_of, resolved

KIND = "journal"
WAIT_SECONDS = 10.0
"""How long a transaction waits for the one before it."""

Report = Callable[[str], None]


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
        with _named(resolved(path)):
            return json_birth.create(resolved(path), Identity(journal_id, created_at))

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, report: Report = silent) -> JsonJournal:
        """Open an existing journal for writing.

        `report` is told in a few words what a death left and the writer cuts off. Raises
        `StoreNotFound`; `StoreRefused` for what is no journal of ours, which stays as it was.
        """
        journal = cls(*_recognised(path), report)
        with _named(journal.path), gate(journal.path / IDENTITY_NAME, KIND, WAIT_SECONDS) as alone:
            if alone:
                for left_over in (journal.path / BIRTHS_NAME).iterdir():
                    shutil.rmtree(left_over)
        return journal

    @classmethod
    def open_reader(cls, path: str | os.PathLike[str]) -> JsonJournal:
        """Open an existing journal for reading; no byte of it changes. Raises as `open` does."""
        return cls(*_recognised(path), None)

    @property
    def path(self) -> Path:
        return self._path

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
        with _named(self._path):
            directory = _place_of(self._path, workflow_id)
            try:
                return read_workflow(directory, workflow_id).stored
            except FileNotFoundError as error:
                raise WorkflowNotFound(workflow_id, str(self._path)) from error

    def rows(self, status: Status | None = None) -> Iterator[Stored]:
        """All workflows in order of creation, without their records; of one status, if given.

        They are read before the first is handed out. Raises `JournalDamaged` as `load` does.
        """
        with _named(self._path):
            directories = (self._path / WORKFLOWS_NAME).iterdir()
            states = sorted(map(read_state, directories), key=lambda state: state.number)
        for state in states:
            if status is None or state.row["status"] == status:
                yield Stored(state.row, state.action, state.action_digest, ())

    def close(self) -> None:
        """Do nothing: a journal of files is at rest between any two calls."""

    def __enter__(self) -> JsonJournal:
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


@dataclass
class _Open:
    """One workflow that a transaction writes. `state` is None before the first save."""

    directory: Path
    state: State | None
    length: int
    end_bytes: int


class JsonJournalTransaction:
    """A `resumeproof.stores.protocols.JournalTransaction`, good until its `with` statement ends."""

    def __init__(self, path: Path, report: Report) -> None:
        self._path = path
        self._report = report
        self._written: dict[str, _Open] = {}
        self._ended = False

    def end(self) -> None:
        """Forget what was appended of workflows that were never saved."""
        self._ended = True
        for unborn in self._written.values():
            if unborn.state is None:
                shutil.rmtree(unborn.directory, ignore_errors=True)

    def load(self, workflow_id: str) -> Stored:
        """The workflow's row as it is inside this transaction, without its records.

        Raises `WorkflowNotFound`, and `JournalDamaged` as `JsonJournal.load` does.
        """
        with self._usable():
            state = self._state(workflow_id)
        if state is None:
            raise WorkflowNotFound(workflow_id, str(self._path))
        return Stored(state.row, state.action, state.action_digest, ())

    def append(self, record: Record) -> None:
        """Append one timeline record, durably, and true with the save that follows.

        Raises `Conflict`, or `WorkflowExists` for a first record, where the timeline does not end
        just before it: somebody else was quicker.
        """
        with self._usable():
            found = self._opened(record.workflow_id)
            length = found.length if found else 0
            if record.sequence != length + 1:
                if record.sequence == 1:
                    raise WorkflowExists(record.workflow_id)
                raise Conflict(record.workflow_id, record.sequence - 1, length)
            workflow = found or self._conceived(record.workflow_id)
            line = line_of(record)
            append_synced(workflow.directory / TIMELINE_NAME, workflow.end_bytes, line)
            workflow.length += 1
            workflow.end_bytes += len(line)

    def save(self, workflow: Workflow, action: bytes, *, expected_revision: int) -> None:
        """Write the workflow's row, by compare-and-swap on its revision (0: it must be new).

        Raises `Conflict` where the stored revision is another, `WorkflowExists` for revision 0,
        `WorkflowNotFound` where nothing is stored.
        """
        with self._usable():
            state = self._state(workflow.id)
            if expected_revision == 0 and state is not None:
                raise WorkflowExists(workflow.id)
            if expected_revision != 0 and state is None:
                raise WorkflowNotFound(workflow.id, str(self._path))
            if state is not None and state.revision != expected_revision:
                raise Conflict(workflow.id, expected_revision, state.revision)
            found = self._opened(workflow.id) or self._conceived(workflow.id)
            number = state.number if state else json_birth.next_number(self._path)
            saved = State(number, workflow.row(), action, workflow.action_digest)
            replace_durably(found.directory / STATE_NAME, saved.to_bytes())
            if state is None:
                found.directory = json_birth.bear(self._path, found.directory)
            found.state = saved

    @contextmanager
    def _usable(self) -> Iterator[None]:
        if self._ended:
            raise ValueError("this transaction has ended")
        with _named(self._path):
            yield

    def _state(self, workflow_id: str) -> State | None:
        """What is saved of a workflow now."""
        if workflow_id in self._written:
            return self._written[workflow_id].state
        try:
            return read_state(_place_of(self._path, workflow_id))
        except FileNotFoundError:
            return None

    def _opened(self, workflow_id: str) -> _Open | None:
        """A workflow that is there, ready to be written: nothing uncommitted, all of it synced."""
        if workflow_id in self._written:
            return self._written[workflow_id]
        directory = _place_of(self._path, workflow_id)
        try:
            files = read_workflow(directory, workflow_id)
        except FileNotFoundError:
            return None
        timeline = directory / TIMELINE_NAME
        if (links := timeline.stat().st_nlink) > 1:
            raise HardLinked(str(timeline), links)
        # Synced even where nothing is cut: whoever appended a record may have died before that.
        cut_durably(timeline, files.kept_bytes)
        if files.uncommitted:
            self._report(f"workflow {workflow_id}: {files.uncommitted} was cut off")
        found = _Open(directory, files.state, len(files.records), files.kept_bytes)
        self._written[workflow_id] = found
        return found

    def _conceived(self, workflow_id: str) -> _Open:
        """A new workflow, where nobody sees it before it is born."""
        directory = self._path / BIRTHS_NAME / directory_name(workflow_id)
        json_birth.conceive(directory)
        self._written[workflow_id] = _Open(directory, None, 0, 0)
        return self._written[workflow_id]


def _place_of(path: Path, workflow_id: str) -> Path:
    """The directory of a workflow. Raises `WorkflowNotFound` for an id that is no text."""
    try:
        return path / WORKFLOWS_NAME / directory_name(workflow_id)
    except UnicodeEncodeError as error:
        raise WorkflowNotFound(workflow_id, str(path)) from error


def _recognised(path: str | os.PathLike[str]) -> tuple[Path, Identity]:
    place = resolved(path)
    try:
        if not place.is_dir():
            if os.path.lexists(place):
                raise StoreRefused(KIND, str(place), "it is no directory")
            raise StoreNotFound(KIND, str(place))
        identity = Identity.from_bytes((place / IDENTITY_NAME).read_bytes())
        missing = [name for name in (WORKFLOWS_NAME, BIRTHS_NAME) if not (place / name).is_dir()]
    except FileNotFoundError as error:
        raise StoreRefused(KIND, str(place), f"it has no {IDENTITY_NAME}") from error
    except ValueError as error:
        raise StoreRefused(KIND, str(place), f"{IDENTITY_NAME}: {error}") from error
    except OSError as error:
        raise StoreRefused(KIND, str(place), cause_of(error)) from error
    if missing:
        raise StoreRefused(KIND, str(place), f"it has no {missing[0]}")
    return place, identity


@contextmanager
def _named(place: Path) -> Iterator[None]:
    """Give a failure of the file system a name; `FileNotFoundError` is handled before."""
    try:
        yield
    except OSError as error:
        raise StoreUnavailable(KIND, str(place), cause_of(error)) from error
