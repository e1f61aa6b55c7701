"""A stored workflow held against itself: its chain, its fold, and the row that caches the fold.

The journal's row of a workflow is kept so that people and queries need not fold; any difference
between the two is damage. The action's bytes and digest are the exception: they are compared with
what was *approved*, when they are about to be sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Final

from resumeproof.domain.canonical import digest_of
from resumeproof.domain.folding import apply
from resumeproof.domain.instant import parse_instant
from resumeproof.domain.record import GENESIS, Record
from resumeproof.domain.status import Event
from resumeproof.domain.workflow import Workflow
from resumeproof.errors import InvalidTransition


@dataclass(frozen=True)
class Stored:
    """One workflow as a journal holds it: the row's columns, and its records in order.

    `row` has the columns of `Workflow.row()`; the action and its digest stand beside it.
    `save_missing`: a journal that appends before it saves found records ahead of the row, which a
    death in between leaves; one that commits both at once never does. They are `to_finish`.
    `uncommitted` says in words what lies behind the records and never became true, such as a torn
    line; the next writer cuts it off.
    """

    row: Mapping[str, Any]
    action: bytes
    action_digest: str
    records: tuple[Record, ...]
    save_missing: bool = False
    uncommitted: str | None = None

    def with_records(self, records: tuple[Record, ...]) -> Stored:
        """A row that was read without its records, with them."""
        return Stored(
            self.row,
            self.action,
            self.action_digest,
            records,
            self.save_missing,
            self.uncommitted,
        )


VOID_WITHOUT_SAVE: Final = frozenset({Event.CREATED, Event.ACTION_REPLACED, Event.ATTEMPT_STARTED})
"""Events whose records come to nothing without their save, and are cut off instead of finished.

The action's bytes come with the save of a creation or a replacement; their record has the digest
alone. And before the save of a claim nothing was called: to finish it would make a doubt of what
is known. Every other record tells what happened, and what happened is not forgotten.
"""


def to_finish(ahead: Iterable[Record]) -> tuple[Record, ...]:
    """Of the records ahead of a row, those that the next driver finishes; the others are void."""
    return tuple(takewhile(lambda record: record.event not in VOID_WITHOUT_SAVE, ahead))


@dataclass(frozen=True)
class Inspection:
    """What a stored workflow comes to: the workflow its timeline tells, or what is damaged."""

    workflow: Workflow | None
    damage: str | None

    def sound(self) -> Workflow:
        """The workflow. Raises `ValueError` where it is damaged; ask `damage` first."""
        if self.workflow is None:
            raise ValueError(self.damage)
        return self.workflow


def fold(workflow_id: str, records: Iterable[Record]) -> Inspection:
    """Check the chain and fold it; name the first record that does not hold."""
    workflow: Workflow | None = None
    previous = GENESIS
    for sequence, record in enumerate(records, start=1):
        place = f"timeline record {record.sequence}"
        if record.workflow_id != workflow_id or record.sequence != sequence:
            return Inspection(None, f"{place} stands where record {sequence} belongs")
        if record.previous != previous:
            return Inspection(None, f"{place} does not follow the record before it")
        if record.hash != record.recomputed_hash():
            return Inspection(None, f"{place} does not match its hash")
        try:
            parse_instant(record.at)
            workflow = apply(workflow, record)
        except InvalidTransition as error:
            return Inspection(None, f"{place}: {error.event} does not follow {error.status}")
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            return Inspection(None, f"{place}: malformed facts ({error!r})")
        previous = record.hash
    if workflow is None:
        return Inspection(None, "the timeline is empty")
    return Inspection(workflow, None)


def inspect(stored: Stored) -> Inspection:
    """Fold the timeline and hold the row against it, or against as much of it as was saved."""
    workflow_id = str(stored.row["id"])
    saved = inspection = fold(workflow_id, stored.records)
    if inspection.workflow is None:
        return inspection
    if stored.save_missing:
        saved = fold(workflow_id, stored.records[: stored.row["revision"]])
    for column, told in saved.sound().row().items():
        if stored.row[column] != told:
            return Inspection(
                None, f"column {column} is {stored.row[column]!r}, the timeline says {told!r}"
            )
    return inspection


def found_digest(stored: Stored, approved: str | None) -> str:
    """The digest that the stored action bears: of its bytes, and as its column claims.

    Where the two differ, the one that was not approved is returned, so that a change of either by
    hand shows.
    """
    of_bytes = digest_of(stored.action)
    return of_bytes if of_bytes != approved else stored.action_digest
