"""A ledger, what drivers ask of it, and all that it says afterwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

from resumeproof.domain.contract import Lookup, ToolContract
from resumeproof.domain.receipt import ToolCall
from resumeproof.stores.sqlite_ledger import SqliteLedger

CREATED_AT = "2026-01-02T03:04:05.000000Z"
SEVEN = b'{"arguments":{"amount":7,"note":"\xc3\xa9 \\u0000"},"tool":"charge"}'
EIGHT = b'{"arguments":{"amount":8},"tool":"charge"}'

IDEMPOTENT = ToolContract("charge", idempotent=True)
REPEATING = ToolContract("charge")
CONSISTENT = ToolContract("charge", lookup=Lookup.CONSISTENT)
EVENTUAL = ToolContract("charge", lookup=Lookup.EVENTUAL, lookup_lag_seconds=5)


def expiring(seconds: float) -> ToolContract:
    return ToolContract("charge", idempotent=True, key_lifetime_seconds=seconds)


def asked(
    workflow_id: str = "wf-1",
    attempt: int = 1,
    *,
    key: str | None = "key-1",
    action: bytes = SEVEN,
    step: str = "call",
    tool: str = "charge",
) -> ToolCall:
    return ToolCall(workflow_id, step, attempt, key, action, tool)


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.time = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.time

    def move(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)


def numbered() -> Callable[[str], str]:
    numbers = count(1)
    return lambda kind: f"{kind}-{next(numbers)}"


def created(path: Path) -> Path:
    assert SqliteLedger.create(path, ledger_id="ledger-1", created_at=CREATED_AT)
    return path


@dataclass(frozen=True)
class Says:
    """All that a ledger says: who applied, who called, who looked up, and who applied twice."""

    effects: tuple[tuple[str, int, str | None], ...] = ()
    invocations: tuple[tuple[str, int, str, int | None], ...] = ()
    lookups: tuple[tuple[str, int, str, int | None], ...] = ()
    second_effects: tuple[int, ...] = ()


def says(ledger: SqliteLedger) -> Says:
    return Says(
        tuple(
            (effect.receipt.workflow_id, effect.receipt.attempt, effect.receipt.key)
            for effect in ledger.effects()
        ),
        tuple(
            (made.workflow_id, made.attempt, made.outcome, made.effect_sequence)
            for made in ledger.invocations()
        ),
        tuple(
            (made.workflow_id, made.attempt, made.outcome, made.effect_sequence)
            for made in ledger.lookups()
        ),
        tuple(effect.receipt.sequence for effect in ledger.second_effects()),
    )
