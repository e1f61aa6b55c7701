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
    known = {stored.row["id"] for stored in contents.workflows}
    _check_sequence(path, "invocation", (row.sequence for row in contents.invocations))
    for invocation in contents.invocations:
        _check_invocation(invocation, effects, known, path)
    _check_sequence(path, "lookup", (row.sequence for row in contents.lookups))
    for lookup in contents.lookups:
        _check_lookup(lookup, effects, known, path)
    applied = {
        invocation.effect_sequence
        for invocation in contents.invocations
        if invocation.outcome == InvocationOutcome.APPLIED
    }
    for sequence in effects:
        if sequence not in applied:
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


def _check_invocation(
    invocation: Invocation, effects: dict[int, Effect], known: set[str], path: str
) -> None:
    name = f"invocation {invocation.sequence}"
    if invocation.workflow_id not in known:
        detail = f"the journal has no workflow {invocation.workflow_id}"
        raise EvidenceBroken(path, name, detail)
    if invocation.outcome not in _ANSWERED:
        return
    effect = effects.get(invocation.effect_sequence or 0)
    if effect is None:
        raise EvidenceBroken(path, name, "the effect that answered it is missing")
    receipt = effect.receipt
    answered = {"fingerprint": receipt.fingerprint, "key": receipt.key}
    if invocation.outcome == InvocationOutcome.APPLIED:
        answered |= {
            "workflow_id": receipt.workflow_id,
            "step": receipt.step,
            "attempt": receipt.attempt,
            "at": receipt.applied_at,
        }
    for column, told in answered.items():
        if getattr(invocation, column) != told:
            detail = (
                f"column {column} is {getattr(invocation, column)!r}, "
                f"effect {receipt.sequence} says {told!r}"
            )
            raise EvidenceBroken(path, name, detail)


def _check_lookup(
    lookup: FencedLookup, effects: dict[int, Effect], known: set[str], path: str
) -> None:
    name = f"lookup {lookup.sequence}"
    if lookup.workflow_id not in known:
        raise EvidenceBroken(path, name, f"the journal has no workflow {lookup.workflow_id}")
    if lookup.outcome != LookupOutcome.FOUND:
        return
    effect = effects.get(lookup.effect_sequence or 0)
    if effect is None:
        raise EvidenceBroken(path, name, "the effect that it found is missing")
    if effect.receipt.key != lookup.key:
        detail = f"column key is {lookup.key!r}, effect {effect.receipt.sequence} has another"
        raise EvidenceBroken(path, name, detail)
