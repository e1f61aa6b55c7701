"""Both stores of one workflow in one order.

The two stores share no clock that could be trusted, so the order is by cause: what the ledger
recorded of an attempt comes after the record that started the attempt and before whatever the
journal recorded next; among themselves, the ledger's entries keep the ledger's order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from resumeproof.domain.record import Record
from resumeproof.domain.status import Event
from resumeproof.stores.sqlite_ledger import SqliteLedger
from resumeproof.stores.sqlite_ledger_rows import FencedLookup, Invocation, LookupOutcome


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of either store. `facts` are those of the record, or the ledger's columns.

    `store` is "journal" or "ledger"; `what` is the record's event, or the kind and the outcome of
    what reached the tool ("call applied", "lookup absent").
    """

    store: str
    what: str
    at: str
    attempt: int | None
    facts: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        return {
            "at": self.at,
            "attempt": self.attempt,
            "facts": dict(self.facts),
            "store": self.store,
            "what": self.what,
        }


def entries_of(records: Sequence[Record], ledger: SqliteLedger) -> list[Entry]:
    """Merge a workflow's timeline with what the ledger knows of it."""
    if not records:
        return []
    workflow_id = records[0].workflow_id
    return in_order(
        [recorded(record.event, record.at, record.facts) for record in records],
        calls=list(ledger.invocations(workflow_id)),
        lookups=list(ledger.lookups(workflow_id)),
    )


def recorded(event: str, at: str, facts: Mapping[str, Any]) -> Entry:
    """A timeline's record as an entry."""
    return Entry("journal", event, at, facts.get("attempt"), facts)


def in_order(
    records: Sequence[Entry], *, calls: Sequence[Invocation], lookups: Sequence[FencedLookup]
) -> list[Entry]:
    """Merge a workflow's records, of which there is one at least, with what reached its tool."""
    after: dict[int, list[Entry]] = {}
    for place, entry in _placed(records, calls, lookups):
        after.setdefault(place, []).append(entry)
    merged: list[Entry] = []
    for index, record in enumerate(records):
        merged.append(record)
        merged += after.get(index, ())
    return merged


def _placed(
    records: Sequence[Entry], calls: Sequence[Invocation], lookups: Sequence[FencedLookup]
) -> list[tuple[int, Entry]]:
    """The ledger's entries, each with the index of the record it comes after.

    A refused call of an older attempt came after the fence that refused it, and an attempt that
    the journal has no record of after everything: the journal was rolled back behind it.
    """
    started = {
        record.attempt: index
        for index, record in enumerate(records)
        if record.what == Event.ATTEMPT_STARTED
    }
    newest_fences: dict[str, int] = {}
    for look in lookups:
        if look.outcome != LookupOutcome.FENCED:
            newest_fences[look.step] = max(look.attempt, newest_fences.get(look.step, 0))

    def place(reached: Invocation | FencedLookup) -> int:
        fenced = reached.outcome == LookupOutcome.FENCED
        newest_fence = newest_fences.get(reached.step, 0)
        attempt = max(reached.attempt, newest_fence) if fenced else reached.attempt
        return started.get(attempt, len(records) - 1)

    # Calls keep the ledger's order, whatever the journal says of their attempts.
    placed: list[tuple[int, Entry]] = []
    for invocation in calls:
        before = placed[-1][0] if placed else 0
        placed.append((max(before, place(invocation)), _of_invocation(invocation)))
    return [(place(look), _of_lookup(look)) for look in lookups] + placed


def _of_invocation(invocation: Invocation) -> Entry:
    facts = {
        "effect_sequence": invocation.effect_sequence,
        "key": invocation.key,
        "outcome": invocation.outcome,
        "sequence": invocation.sequence,
    }
    what = f"call {invocation.outcome}"
    return Entry("ledger", what, invocation.at, invocation.attempt, facts)


def _of_lookup(lookup: FencedLookup) -> Entry:
    facts = {
        "effect_sequence": lookup.effect_sequence,
        "key": lookup.key,
        "outcome": lookup.outcome,
        "sequence": lookup.sequence,
    }
    return Entry("ledger", f"lookup {lookup.outcome}", lookup.at, lookup.attempt, facts)
