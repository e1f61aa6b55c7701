"""A stored workflow held against itself: its chain, its fold, and the row that caches the fold.

The journal's row of a workflow is kept so that people and queries need not fold; any difference
between the two is damage. The action's bytes and digest are the exception: they are compared with
what was *approved*, when they are about to be sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from resumeproof.domain.canonical import digest_of
from resumeproof.domain.folding import apply
from resumeproof.domain.instant import parse_instant
from resumeproof.domain.record import GENESIS, Record
from resumeproof.domain.workflow import Workflow
from resumeproof.errors import InvalidTransition


@dataclass(frozen=True)
class Stored:
    """One workflow as a journal holds it: the row's columns, and its records in order.

    `row` has the columns of `Workflow.row()`; the action and its digest stand beside it.
    `save_missing`: a journal that appends before it saves found records ahead of the row, which a
    death in between leaves; one that commits both at once never does.
    """

    row: Mapping[str, Any]
    action: bytes
    action_digest: str
    records: tuple[Record, ...]
    save_missing: bool = False


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
    """Fold the timeline and hold the row against it."""
    inspection = fold(str(stored.row["id"]), stored.records)
    if inspection.workflow is None or stored.save_missing:
        return inspection
    for column, told in inspection.workflow.row().items():
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
