"""The simulated ledger and the model of it answer alike, whatever is asked in whatever order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resumeproof.domain.canonical import digest_of
from resumeproof.domain.conclusion import Found
from resumeproof.domain.contract import Lookup
from resumeproof.domain.instant import format_instant
from resumeproof.domain.receipt import Answer, Receipt, ToolCall
from resumeproof.errors import ResumeproofError
from resumeproof.stores.sqlite_ledger import SqliteLedger
from tests.model import ledger as model
from tests.model.contracts import KINDS, Kind
from tests.model.ledger import EPOCH, LEDGER_ID, STEP, instant

ACTIONS = {
    1: b'{"arguments":{},"tool":"simulated"}',
    2: b'{"arguments":{"n":2},"tool":"simulated"}',
}
Told = tuple[object, ...]


@dataclass
class Clock:
    now: datetime = EPOCH


@dataclass(frozen=True)
class Real:
    """One ledger for all examples, each of which is a workflow with a key of its own."""

    ledger: SqliteLedger
    clock: Clock
    workflow_ids: Iterator[str]


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Real]:
    path: Path = tmp_path_factory.mktemp("ledger") / "ledger.sqlite3"
    SqliteLedger.create(path, ledger_id=LEDGER_ID, created_at=format_instant(EPOCH))
    receipts = count(1)
    clock = Clock()
    with SqliteLedger.open(
        path, now=lambda: clock.now, new_id=lambda kind: f"{kind}-{next(receipts)}"
    ) as ledger:
        yield Real(ledger, clock, (f"wf-{number}" for number in count(1)))


@dataclass(frozen=True)
class Ask:
    """One call or lookup, some seconds after the one before it; before it, on a clock set back."""

    is_lookup: bool
    attempt: int
    action: int
    after_seconds: int


ASKS = st.lists(
    st.builds(
        Ask,
        is_lookup=st.booleans(),
        attempt=st.integers(1, 5),
        action=st.sampled_from([1, 1, 2]),
        after_seconds=st.sampled_from([0, 4, 5, 10, -5]),
    ),
    min_size=1,
    max_size=8,
)


def told(answer: Answer | Found | Receipt | ResumeproofError | None) -> Told:
    """What an answer says, ids and messages aside."""
    match answer:
        case Answer(receipt, replayed):
            return receipt.attempt, receipt.fingerprint, receipt.applied_at, replayed
        case Receipt() as receipt:
            return receipt.attempt, receipt.fingerprint, receipt.applied_at
        case Found(receipt):
            return told(receipt)
        case error:
            return (type(error).__name__,)


def ask_real(real: Real, call: ToolCall, ask: Ask) -> Told:
    try:
        return told(real.ledger.lookup(call) if ask.is_lookup else real.ledger.call(call))
    except ResumeproofError as error:
        return told(error)


def ask_model(
    ledger: model.Ledger, ask: Ask, *, now_seconds: int, fail_before: int
) -> tuple[model.Ledger, Told]:
    if ask.is_lookup:
        ledger, found = model.look_up(
            ledger, attempt=ask.attempt, now_seconds=now_seconds, fails=False
        )
        return ledger, told(found)
    ledger, answer = model.call(
        ledger,
        attempt=ask.attempt,
        digest=digest_of(ACTIONS[ask.action]),
        now_seconds=now_seconds,
        fails=len(ledger.invocations) < fail_before,
    )
    return ledger, told(answer)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@given(asks=ASKS, fail_before=st.integers(0, 2))
def test_both_answer_alike(real: Real, kind: Kind, asks: list[Ask], fail_before: int) -> None:
    workflow_id = next(real.workflow_ids)
    key = kind.key and f"key of {workflow_id}"
    real.ledger.register(workflow_id, kind.contract, fail_before=fail_before)
    ledger, now_seconds = model.Ledger(kind.contract, key), 0
    for ask in asks:
        if ask.is_lookup and kind.contract.lookup is Lookup.NONE:
            continue
        now_seconds += ask.after_seconds
        real.clock.now = instant(now_seconds)
        call = ToolCall(
            workflow_id, STEP, ask.attempt, key, ACTIONS[ask.action], kind.contract.name
        )
        ledger, expected = ask_model(ledger, ask, now_seconds=now_seconds, fail_before=fail_before)
        assert ask_real(real, call, ask) == expected
