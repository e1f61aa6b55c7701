"""Check what a tool ledger says of itself: its effects, and each call or lookup that reached it."""

from __future__ import annotations

from collections.abc import Iterable

from resumeproof.errors import EvidenceBroken
from resumeproof.evidence.contents import Contents
from resumeproof.stores.sqlite_ledger_rows import (
    Effect,
    FencedLookup,
    Invocation,
    InvocationOutcome,
    LookupOutcome,
)

_ANSWERED = frozenset({InvocationOutcome.APPLIED, InvocationOutcome.REPLAYED})


def audit_ledger(contents: Contents) -> None:
    """Check the ledger. Raises `EvidenceBroken` for the first thing that does not hold."""
    path = str(contents.ledger.path)
    effects = _effects(contents, path)
    known = {str(stored.row["id"]) for stored in contents.workflows}
    _check_sequence(path, "invocation", (row.sequence for row in contents.invocations))
    applied: set[int] = set()
    for invocation in contents.invocations:
        name = f"invocation {invocation.sequence}"
        detail = _unknown_workflow(invocation, known) or _odd_invocation(
            invocation, effects, applied
        )
        if detail:
            raise EvidenceBroken(path, name, detail)
        if invocation.outcome == InvocationOutcome.APPLIED:
            applied.add(invocation.effect_sequence or 0)
    _check_sequence(path, "lookup", (row.sequence for row in contents.lookups))
    for lookup in contents.lookups:
        if detail := _unknown_workflow(lookup, known) or _odd_lookup(lookup, effects):
            raise EvidenceBroken(path, f"lookup {lookup.sequence}", detail)
    for sequence in effects.keys() - applied:
        raise EvidenceBroken(path, f"effect {sequence}", "no invocation applied it")


def _check_sequence(path: str, noun: str, sequences: Iterable[int]) -> None:
    """Sequences have no gaps, so that a row that was taken away shows."""
    for place, sequence in enumerate(sequences, start=1):
        if sequence != place:
            detail = f"it is missing; column sequence is {sequence} at its place"
            raise EvidenceBroken(path, f"{noun} {place}", detail)


def _effects(contents: Contents, path: str) -> dict[int, Effect]:
    _check_sequence(path, "effect", (effect.receipt.sequence for effect in contents.effects))
    effects = {effect.receipt.sequence: effect for effect in contents.effects}
    for sequence, effect in effects.items():
        if damage := effect.damage:
            raise EvidenceBroken(path, f"effect {sequence}", damage)
    return effects


def _unknown_workflow(reached: Invocation | FencedLookup, known: set[str]) -> str | None:
    if reached.workflow_id in known:
        return None
    return f"the journal has no workflow {reached.workflow_id}"


def _odd_invocation(
    invocation: Invocation, effects: dict[int, Effect], applied: set[int]
) -> str | None:
    """What does not fit an invocation that came after those that `applied` their effects."""
    if invocation.outcome not in set(InvocationOutcome):
        return f"column outcome is {invocation.outcome!r}"
    if (invocation.outcome in _ANSWERED) is (invocation.effect_sequence is None):
        return f"column effect_sequence does not go with outcome {invocation.outcome}"
    if invocation.effect_sequence is None:
        return None
    effect = effects.get(invocation.effect_sequence)
    if effect is None:
        return f"effect {invocation.effect_sequence}, which answered it, is missing"
    receipt = effect.receipt
    answered: dict[str, str | int | None] = {
        "fingerprint": receipt.fingerprint,
        "key": receipt.key,
    }
    if invocation.outcome == InvocationOutcome.APPLIED:
        answered |= {
            "workflow_id": receipt.workflow_id,
            "step": receipt.step,
            "attempt": receipt.attempt,
            "at": receipt.applied_at,
        }
    elif receipt.sequence not in applied:
        return f"column outcome is {invocation.outcome}, and effect {receipt.sequence} came later"
    for column, told in answered.items():
        found = getattr(invocation, column)
        if found != told:
            return f"column {column} is {found!r}, effect {receipt.sequence} says {told!r}"
    return None


def _odd_lookup(lookup: FencedLookup, effects: dict[int, Effect]) -> str | None:
    if lookup.outcome not in set(LookupOutcome):
        return f"column outcome is {lookup.outcome!r}"
    if (lookup.outcome == LookupOutcome.FOUND) is (lookup.effect_sequence is None):
        return f"column effect_sequence does not go with outcome {lookup.outcome}"
    if lookup.effect_sequence is None:
        return None
    effect = effects.get(lookup.effect_sequence)
    if effect is None:
        return f"effect {lookup.effect_sequence}, which it found, is missing"
    if effect.receipt.key != lookup.key:
        return f"column key is {lookup.key!r}, effect {effect.receipt.sequence} has another"
    return None
