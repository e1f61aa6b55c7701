"""One change of a JSON journal: each record and each save is durable when its call returns."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from resumeproof.domain.inspection import Stored
from resumeproof.domain.record import Record
from resumeproof.domain.workflow import Workflow
from resumeproof.errors import (
    Conflict,
    HardLinked,
    StoreUnavailable,
    WorkflowExists,
    WorkflowNotFound,
)
from resumeproof.stores import json_birth
from resumeproof.stores.durable import append_synced, cut_durably, replace_durably
from resumeproof.stores.json_form import (
    BIRTHS_NAME,
    STATE_NAME,
    TIMELINE_NAME,
    WORKFLOWS_NAME,
    State,
    directory_name,
    line_of,
)
from resumeproof.stores.json_reading import read_state, read_workflow
from resumeproof.stores.place import cause_of

KIND = "journal"

Report = Callable[[str], None]


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
        with named(self._path):
            yield

    def _state(self, workflow_id: str) -> State | None:
        """What is saved of a workflow now."""
        if workflow_id in self._written:
            return self._written[workflow_id].state
        try:
            return read_state(place_of(self._path, workflow_id))
        except FileNotFoundError:
            return None

    def _opened(self, workflow_id: str) -> _Open | None:
        """A workflow that is there, ready to be written: nothing uncommitted, all of it synced."""
        if workflow_id in self._written:
            return self._written[workflow_id]
        directory = place_of(self._path, workflow_id)
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


def place_of(path: Path, workflow_id: str) -> Path:
    """The directory of a workflow. Raises `WorkflowNotFound` for an id that is no text."""
    try:
        return path / WORKFLOWS_NAME / directory_name(workflow_id)
    except UnicodeEncodeError as error:
        raise WorkflowNotFound(workflow_id, str(path)) from error


@contextmanager
def named(place: Path) -> Iterator[None]:
    """Give a failure of the file system a name; `FileNotFoundError` is handled before."""
    try:
        yield
    except OSError as error:
        raise StoreUnavailable(KIND, str(place), cause_of(error)) from error
