"""What the files of one workflow say, read as of one moment while others may write them.

The committed records are as many as the saved row's revision says. Behind them may lie what a
death left: records whose save is missing, and a torn last line, which was never committed. Nothing
else is tolerated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from resumeproof.domain.inspection import Stored, fold, to_finish
from resumeproof.domain.record import Record
from resumeproof.domain.status import Event
from resumeproof.errors import JournalDamaged, StoreUnavailable
from resumeproof.stores.json_form import (
    STATE_NAME,
    TIMELINE_NAME,
    State,
    directory_name,
    line_of,
    record_of,
    workflow_id_of,
)
from resumeproof.stores.place import cause_of

READS_AT_MOST: Final = 100

Seen = TypeVar("Seen")


@dataclass(frozen=True)
class WorkflowFiles:
    """One workflow: what was saved, and its records, those to be finished included.

    `kept_bytes` is where the last of them ends in the timeline; `uncommitted` names what lies
    behind.
    """

    state: State
    records: tuple[Record, ...]
    kept_bytes: int
    uncommitted: str | None

    @property
    def stored(self) -> Stored:
        return Stored(
            row=self.state.row,
            action=self.state.action,
            action_digest=self.state.action_digest,
            records=self.records,
            save_missing=len(self.records) > self.state.revision,
            uncommitted=self.uncommitted,
        )


def read_state(directory: Path) -> State:
    """The saved row alone, without its records.

    Raises `JournalDamaged` for a file that is not as a save leaves it, `FileNotFoundError` where
    there is no such workflow, and `OSError`.
    """
    return _state(directory, _state_bytes(directory))


def read_workflow(directory: Path, workflow_id: str) -> WorkflowFiles:
    """One workflow, with its whole timeline, as of one moment. Raises as `read_state` does.

    `StoreUnavailable` where it keeps changing meanwhile.
    """
    last: tuple[bytes, bytes] | None = None
    for _ in range(READS_AT_MOST):
        state = _state_bytes(directory)
        timeline = _bytes_of(directory / TIMELINE_NAME, workflow_id)
        if _state_bytes(directory) != state:
            continue
        try:
            return _parsed(workflow_id, _state(directory, state), timeline)
        except JournalDamaged:
            # A writer that cuts off and appends may have been met halfway: damage stays.
            if (state, timeline) == last:
                raise
            last = state, timeline
    raise StoreUnavailable("journal", str(directory), "it keeps changing while it is read")


def _state_bytes(directory: Path) -> bytes:
    try:
        return (directory / STATE_NAME).read_bytes()
    except NotADirectoryError as error:
        raise JournalDamaged(workflow_id_of(directory.name), "it is no directory") from error
    except FileNotFoundError as error:
        # A workflow comes into its place with its first save.
        if directory.is_dir():
            raise JournalDamaged(
                workflow_id_of(directory.name), f"{STATE_NAME} is missing"
            ) from error
        raise


def _bytes_of(path: Path, workflow_id: str) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise JournalDamaged(workflow_id, f"{path.name} is missing") from error
    except IsADirectoryError as error:
        raise JournalDamaged(workflow_id, f"{path.name}: {cause_of(error)}") from error


def _state(directory: Path, data: bytes) -> State:
    state = _told(workflow_id_of(directory.name), STATE_NAME, partial(State.from_bytes, data))
    workflow_id = state.row["id"]
    try:
        own = directory_name(workflow_id)
    except UnicodeEncodeError:
        own = None
    if own != directory.name:
        damage = f"{STATE_NAME} is of workflow {workflow_id!r}"
        raise JournalDamaged(workflow_id_of(directory.name), damage)
    return state


def _parsed(workflow_id: str, state: State, timeline: bytes) -> WorkflowFiles:
    *lines, rest = timeline.split(b"\n")
    committed, ahead = lines[: state.revision], lines[state.revision :]
    if len(committed) < state.revision:
        damage = f"{TIMELINE_NAME} has {len(committed)} records, and {state.revision} were saved"
        raise JournalDamaged(workflow_id, damage)
    torn = len(rest)
    # What the file system had not yet written of a line may read as NUL bytes.
    if ahead and not rest and b"\0" in ahead[-1]:
        torn = len(ahead.pop())
    records = tuple(
        _told(workflow_id, f"line {number} of {TIMELINE_NAME}", partial(record_of, line + b"\n"))
        for number, line in enumerate(committed + ahead, start=1)
    )
    more = records[state.revision :]
    kept = to_finish(more)
    _refuse_no_continuation(workflow_id, records, more)
    left = [f"{record.event} without its save" for record in more[len(kept) :]]
    if torn:
        left.append(f"a torn line of {torn} bytes")
    kept_records = records[: state.revision + len(kept)]
    return WorkflowFiles(
        state=state,
        records=kept_records,
        kept_bytes=sum(len(line_of(record)) for record in kept_records),
        uncommitted=" and ".join(left) or None,
    )


def _refuse_no_continuation(
    workflow_id: str, records: tuple[Record, ...], more: tuple[Record, ...]
) -> None:
    """Raise for records ahead of the row that no death leaves there."""
    if not more:
        return
    if damage := fold(workflow_id, records).damage:
        raise JournalDamaged(workflow_id, damage)
    # Whoever goes on from a claim has saved it: here a save was lost, and its call may have been.
    if any(record.event == Event.ATTEMPT_STARTED for record in more[:-1]):
        raise JournalDamaged(workflow_id, "the timeline goes on from a claim that was never saved")


def _told(workflow_id: str, place: str, read: Callable[[], Seen]) -> Seen:
    try:
        return read()
    except ValueError as error:
        raise JournalDamaged(workflow_id, f"{place}: {error}") from error
