"""A tool's ledger as plain data: what each contract promises, and nothing else.

It is written from the design's words and shares no code with the simulated ledger, so that the two
can be held against each other. Times are seconds since `EPOCH`.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache
from typing import NamedTuple

from resumeproof.domain.conclusion import Found
from resumeproof.domain.contract import Lookup, ToolContract
from resumeproof.domain.instant import format_instant, parse_instant
from resumeproof.domain.receipt import Answer, Receipt
from resumeproof.errors import (
    AttemptRepeated,
    FailedBeforeEffect,
    Fenced,
    KeyConflict,
    ResumeproofError,
    ToolUnreachable,
)

EPOCH = parse_instant("2026-01-01T00:00:00.000000Z")
WORKFLOW_ID, STEP, LEDGER_ID = "wf-1", "call", "ledger-1"


def instant(seconds: float) -> datetime:
    return EPOCH + timedelta(seconds=seconds)


def seconds_of(text: str) -> float:
    return (parse_instant(text) - EPOCH).total_seconds()


class Effect(NamedTuple):
    attempt: int
    digest: str
    applied_at_seconds: float


class Ledger(NamedTuple):
    """`fence` is the newest attempt that asked; the attempts that got here are all kept."""

    contract: ToolContract
    key: str | None
    effects: tuple[Effect, ...] = ()
    fence: int = 0
    invocations: frozenset[int] = frozenset()
    lookups: frozenset[int] = frozenset()
    fences: bool = True


@cache
def receipt_of(effect: Effect, key: str | None) -> Receipt:
    receipt = Receipt(
        sequence=effect.attempt,
        receipt_id=f"receipt-{effect.attempt}",
        ledger_id=LEDGER_ID,
        workflow_id=WORKFLOW_ID,
        step=STEP,
        attempt=effect.attempt,
        tool="simulated",
        key=key,
        fingerprint=effect.digest,
        applied_at=format_instant(instant(effect.applied_at_seconds)),
    )
    return replace(receipt, hash=receipt.recomputed_hash())


def _remembered(ledger: Ledger, now_seconds: float) -> Effect | None:
    """The newest effect that a repeat of the key is answered with."""
    if not ledger.contract.idempotent or ledger.key is None or not ledger.effects:
        return None
    newest, lifetime = ledger.effects[-1], ledger.contract.key_lifetime_seconds
    alive = lifetime is None or now_seconds < newest.applied_at_seconds + lifetime
    return newest if alive else None


def call(
    ledger: Ledger, *, attempt: int, digest: str, now_seconds: float, fails: bool
) -> tuple[Ledger, Answer | ResumeproofError]:
    """The ledger after a call, and its answer. `fails`: the tool fails before any effect."""
    if attempt in ledger.invocations | ledger.lookups:
        return ledger, AttemptRepeated(WORKFLOW_ID, STEP, attempt)
    ledger = ledger._replace(invocations=ledger.invocations | {attempt})
    if attempt < ledger.fence:
        return ledger, Fenced(WORKFLOW_ID, attempt, ledger.fence)
    if fails:
        return ledger, FailedBeforeEffect("scripted")
    first = _remembered(ledger, now_seconds)
    if first is None:
        effect = Effect(attempt, digest, now_seconds)
        answer = Answer(receipt_of(effect, ledger.key), replayed=False)
        return ledger._replace(effects=(*ledger.effects, effect)), answer
    if first.digest != digest:
        return ledger, KeyConflict(str(ledger.key), first.digest, digest)
    return ledger, Answer(receipt_of(first, ledger.key), replayed=True)


def look_up(
    ledger: Ledger, *, attempt: int, now_seconds: float, fails: bool
) -> tuple[Ledger, Found | ResumeproofError]:
    """The ledger after a lookup, and its answer. `fails`: nobody there to be asked."""
    if fails:
        return ledger, ToolUnreachable(WORKFLOW_ID, "scripted")
    consistent = ledger.contract.lookup is Lookup.CONSISTENT
    if consistent:
        if attempt in ledger.invocations | ledger.lookups:
            return ledger, AttemptRepeated(WORKFLOW_ID, STEP, attempt)
        ledger = ledger._replace(lookups=ledger.lookups | {attempt})
        if attempt < ledger.fence:
            return ledger, Fenced(WORKFLOW_ID, attempt, ledger.fence)
        if ledger.fences:
            ledger = ledger._replace(fence=attempt)
    for effect in ledger.effects:
        # A consistent lookup sees what was committed, though the clock was set back since.
        shows_by_seconds = effect.applied_at_seconds + ledger.contract.lookup_lag_seconds
        if consistent or now_seconds >= shows_by_seconds:
            return ledger, Found(receipt_of(effect, ledger.key))
    return ledger, Found(None)
