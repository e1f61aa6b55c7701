"""Each promise of a tool, kept where it was made and seen to be broken where it was not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from resumeproof.domain.canonical import digest_of
from resumeproof.domain.contract import LONGEST_SECONDS, ToolContract
from resumeproof.domain.receipt import Answer, Receipt
from resumeproof.errors import (
    AttemptRepeated,
    FailedBeforeEffect,
    Fenced,
    KeyConflict,
    ResumeproofError,
    StoreUnavailable,
    ToolNotRegistered,
    WorkflowExists,
)
from resumeproof.stores.protocols import ToolLedger
from resumeproof.stores.sqlite_ledger import SqliteLedger
from resumeproof.stores.sqlite_ledger_rows import Effect, FencedLookup, Invocation
from tests.unit.stores.ledgers import (
    CONSISTENT,
    CREATED_AT,
    EIGHT,
    EVENTUAL,
    IDEMPOTENT,
    REPEATING,
    SEVEN,
    Clock,
    Says,
    asked,
    created,
    expiring,
    numbered,
    says,
)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def ledger(tmp_path: Path, clock: Clock) -> Iterator[SqliteLedger]:
    path = created(tmp_path / "ledger.sqlite3")
    with SqliteLedger.open(path, now=clock, new_id=numbered()) as ledger:
        yield ledger


def refusal(tool: ToolLedger, attempt: int = 1, **asking: str) -> tuple[type, dict[str, object]]:
    """What a call is refused with: the error and its facts."""
    with pytest.raises(ResumeproofError) as raised:
        tool.call(asked(attempt=attempt, key=asking.pop("key", "key-1"), **asking))  # type: ignore[arg-type]
    return type(raised.value), raised.value.facts


# -- an effect --------------------------------------------------------------------------------


def test_call_applies_one_effect_and_returns_its_receipt(ledger: SqliteLedger) -> None:
    ledger.register("wf-1", IDEMPOTENT, fail_before=0)
    answer = ledger.call(asked())
    receipt = Receipt(
        sequence=1,
        receipt_id="receipt-1",
        ledger_id="ledger-1",
        workflow_id="wf-1",
        step="call",
        attempt=1,
        tool="charge",
        key="key-1",
        fingerprint=digest_of(SEVEN),
        applied_at=CREATED_AT,
        hash=answer.receipt.hash,
    )
    invocation = Invocation(
        1, "wf-1", "call", 1, "applied", 1, "key-1", digest_of(SEVEN), CREATED_AT
    )
    assert (
        answer,
        receipt.damage(fingerprint=digest_of(SEVEN)),
        list(ledger.effects()),
        list(ledger.invocations()),
        list(ledger.lookups()),
    ) == (Answer(receipt, False), None, [Effect(receipt, SEVEN)], [invocation], [])


def test_action_that_is_no_text_is_a_bug_of_the_caller(ledger: SqliteLedger) -> None:
    ledger.register("wf-1", REPEATING, fail_before=0)
    with pytest.raises(UnicodeDecodeError):
        ledger.call(asked(action=b"\xff"))
    assert says(ledger) == Says()


def test_rows_can_be_read_of_one_workflow(ledger: SqliteLedger) -> None:
    for workflow_id in ("wf-1", "wf-2"):
        ledger.register(workflow_id, CONSISTENT, fail_before=0)
        for attempt in (1, 2):
            ledger.call(asked(workflow_id, attempt))
        ledger.lookup(asked(workflow_id, 3))
    assert (
        ledger.effect_count(),
        ledger.effect_count("wf-2"),
        [effect.receipt.sequence for effect in ledger.effects("wf-2")],
        [effect.receipt.sequence for effect in ledger.second_effects()],
        [effect.receipt.sequence for effect in ledger.second_effects("wf-1")],
        [invocation.sequence for invocation in ledger.invocations("wf-2")],
        list(ledger.lookups("wf-2")),
    ) == (
        4,
        2,
        [3, 4],
        [2, 3, 4],
        [2],
        [3, 4],
        [FencedLookup(2, "wf-2", "call", 3, "found", 1, "key-1", CREATED_AT)],
    )


# -- idempotent -------------------------------------------------------------------------------


def test_idempotent_repeat_is_answered_with_the_first_receipt(
    ledger: SqliteLedger, clock: Clock
) -> None:
    ledger.register("wf-1", IDEMPOTENT, fail_before=0)
    first = ledger.call(asked(attempt=1))
    clock.move(1e9)
    repeats = [ledger.call(asked(attempt=attempt)) for attempt in (2, 3)]
    assert (first.replayed, repeats, says(ledger)) == (
        False,
        [Answer(first.receipt, True)] * 2,
        Says(
            (("wf-1", 1, "key-1"),),
            (("wf-1", 1, "applied", 1), ("wf-1", 2, "replayed", 1), ("wf-1", 3, "replayed", 1)),
        ),
    )


def test_keys_are_the_tools_and_not_a_workflows(ledger: SqliteLedger) -> None:
    for workflow_id in ("wf-1", "wf-2"):
        ledger.register(workflow_id, IDEMPOTENT, fail_before=0)
    first = ledger.call(asked("wf-1"))
    same = ledger.call(asked("wf-2"))
    other_tool = ledger.call(asked("wf-2", 2, tool="refund"))
    assert (same, other_tool.replayed, says(ledger)) == (
        Answer(first.receipt, True),
        False,
        Says(
            (("wf-1", 1, "key-1"), ("wf-2", 2, "key-1")),
            (("wf-1", 1, "applied", 1), ("wf-2", 1, "replayed", 1), ("wf-2", 2, "applied", 2)),
        ),
    )


def test_key_with_other_bytes_is_a_conflict_and_no_effect(ledger: SqliteLedger) -> None:
    ledger.register("wf-1", IDEMPOTENT, fail_before=0)
    ledger.call(asked())
    with pytest.raises(KeyConflict) as raised:
        ledger.call(asked(attempt=2, action=EIGHT))
    facts = {"key": "key-1", "first": digest_of(SEVEN), "now": digest_of(EIGHT)}
    assert (raised.value.facts, says(ledger)) == (
        facts,
        Says(
            (("wf-1", 1, "key-1"),), (("wf-1", 1, "applied", 1), ("wf-1", 2, "key_conflict", None))
        ),
    )


def test_idempotent_tool_without_a_key_applies_each_time(ledger: SqliteLedger) -> None:
    ledger.register("wf-1", IDEMPOTENT, fail_before=0)
    answers = [ledger.call(asked(attempt=attempt, key=None)) for attempt in (1, 2)]
    assert ([answer.replayed for answer in answers], says(ledger)) == (
        [False, False],
        Says(
            (("wf-1", 1, None), ("wf-1", 2, None)),
            (("wf-1", 1, "applied", 1), ("wf-1", 2, "applied", 2)),
        ),
    )


# -- a key's lifetime -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seconds_later", "replayed"),
    [
        pytest.param(59.999999, True, id="alive"),
        pytest.param(60, False, id="expired"),
        pytest.param(-3600, True, id="clock-went-back"),
    ],
)
def test_key_lives_as_long_as_the_contract_says(
    ledger: SqliteLedger, clock: Clock, seconds_later: float, replayed: bool
) -> None:
    ledger.register("wf-1", expiring(60), fail_before=0)
    ledger.call(asked())
    clock.move(seconds_later)
    assert ledger.call(asked(attempt=2)).replayed is replayed


def test_expired_key_is_a_second_effect_that_shows_who_asked(
    ledger: SqliteLedger, clock: Clock
) -> None:
    for workflow_id in ("wf-1", "wf-2"):
        ledger.register(workflow_id, expiring(60), fail_before=0)
    ledger.call(asked("wf-1"))
    clock.move(60)
    second = ledger.call(asked("wf-2", action=EIGHT))
    clock.move(59)
    third = ledger.call(asked("wf-1", 2, action=EIGHT))
    assert (second.replayed, third, says(ledger)) == (
        False,
        Answer(second.receipt, True),
        Says(
            (("wf-1", 1, "key-1"), ("wf-2", 1, "key-1")),
            (("wf-1", 1, "applied", 1), ("wf-2", 1, "applied", 2), ("wf-1", 2, "replayed", 2)),
            second_effects=(2,),
        ),
    )


def test_longest_lifetime_ends_to_the_second(ledger: SqliteLedger, clock: Clock) -> None:
    ledger.register("wf-1", expiring(LONGEST_SECONDS), fail_before=0)
    ledger.call(asked())
    clock.move(LONGEST_SECONDS - 1)
    replayed = ledger.call(asked(attempt=2)).replayed
    clock.move(1)
    assert (replayed, ledger.call(asked(attempt=3)).replayed) == (True, False)


# -- not idempotent ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "second_effects"),
    [pytest.param("key-1", (2,), id="key"), pytest.param(None, (), id="no-key")],
)
def test_tool_that_is_not_idempotent_applies_each_call(
    ledger: SqliteLedger, key: str | None, second_effects: tuple[int, ...]
) -> None:
    ledger.register("wf-1", REPEATING, fail_before=0)
    answers = [ledger.call(asked(attempt=attempt, key=key)) for attempt in (1, 2)]
    assert ([answer.replayed for answer in answers], says(ledger)) == (
        [False, False],
        Says(
            (("wf-1", 1, key), ("wf-1", 2, key)),
            (("wf-1", 1, "applied", 1), ("wf-1", 2, "applied", 2)),
            second_effects=second_effects,
        ),
    )


# -- a consistent lookup, and its fence -------------------------------------------------------


def test_consistent_lookup_finds_the_first_effect(ledger: SqliteLedger) -> None:
    ledger.register("wf-1", CONSISTENT, fail_before=0)
    first = ledger.call(asked(attempt=1))
    ledger.call(asked(attempt=2))
    assert (ledger.lookup(asked(attempt=3)), says(ledger).lookups) == (
        first.receipt,
        (("wf-1", 3, "found", 1),),
    )


def test_absence_is_fenced_so_that_a_late_call_cannot_belie_it(ledger: SqliteLedger) -> None:
    ledger.register("wf-1", CONSISTENT, fail_before=0)
    found = ledger.lookup(asked(attempt=2))
    late = refusal(ledger, attempt=1)
    again = ledger.call(asked(attempt=3))
    assert (found, late, again.replayed, says(ledger)) == (
        None,
        (Fenced, {"workflow_id": "wf-1", "attempt": 1, "fence": 2}),
        False,
        Says(
            (("wf-1", 3, "key-1"),),
            (("wf-1", 1, "fenced", None), ("wf-1", 3, "applied", 1)),
            (("wf-1", 2, "absent", None),),
        ),
    )


@pytest.mark.parametrize(
    ("workflow_id", "step"),
    [
        pytest.param("wf-1", "other", id="other-step"),
        pytest.param("wf-2", "call", id="other-workflow"),
    ],
)
def test_fence_stands_before_its_own_step_only(
    ledger: SqliteLedger, workflow_id: str, step: str
) -> None:
    for registered in ("wf-1", "wf-2"):
        ledger.register(registered, CONSISTENT, fail_before=0)
    ledger.lookup(asked(attempt=2))
    assert not ledger.call(asked(workflow_id, 1, step=step)).replayed


def test_older_lookup_meets_the_fence(ledger: SqliteLedger) -> None:
    ledger.register("wf-1", CONSISTENT, fail_before=0)
    ledger.lookup(asked(attempt=3))
    with pytest.raises(Fenced) as raised:
        ledger.lookup(asked(attempt=2))
    fence_after = refusal(ledger, attempt=1)[1]["fence"]
    assert (raised.value.facts, fence_after, says(ledger).lookups) == (
        {"workflow_id": "wf-1", "attempt": 2, "fence": 3},
        3,
        (("wf-1", 3, "absent", None), ("wf-1", 2, "fenced", None)),
    )


def test_fence_outlives_the_process_that_set_it(ledger: SqliteLedger, clock: Clock) -> None:
    ledger.register("wf-1", CONSISTENT, fail_before=0)
    ledger.lookup(asked(attempt=2))
    ledger.close()
    with SqliteLedger.open(ledger.path, now=clock, new_id=numbered()) as reopened:
        assert refusal(reopened, attempt=1)[0] is Fenced


# -- an attempt that comes twice --------------------------------------------------------------


@pytest.mark.parametrize("second", ["call", "lookup"])
@pytest.mark.parametrize("first", ["call", "lookup"])
def test_attempt_that_reached_the_tool_before_shows_a_journal_rolled_back(
    ledger: SqliteLedger, first: str, second: str
) -> None:
    ledger.register("wf-1", CONSISTENT, fail_before=0)
    getattr(ledger, first)(asked(attempt=1))
    before = says(ledger)
    with pytest.raises(AttemptRepeated) as raised:
        getattr(ledger, second)(asked(attempt=1))
    assert (raised.value.facts, says(ledger)) == (
        {"workflow_id": "wf-1", "step": "call", "attempt": 1},
        before,
    )


def test_repeated_attempt_is_named_before_the_fence_that_it_would_meet(
    ledger: SqliteLedger,
) -> None:
    ledger.register("wf-1", CONSISTENT, fail_before=0)
    ledger.call(asked(attempt=1))
    ledger.lookup(asked(attempt=2))
    ledger.lookup(asked(attempt=3))
    with pytest.raises(AttemptRepeated):
        ledger.lookup(asked(attempt=2))
    assert refusal(ledger, attempt=1)[0] is AttemptRepeated


def test_rejected_attempt_has_reached_the_tool_as_well(ledger: SqliteLedger) -> None:
    ledger.register("wf-1", REPEATING, fail_before=1)
    assert [refusal(ledger, attempt=1)[0] for _ in range(2)] == [
        FailedBeforeEffect,
        AttemptRepeated,
    ]


# -- an eventual lookup -----------------------------------------------------------------------


def test_eventual_lookup_shows_an_effect_after_its_lag(ledger: SqliteLedger, clock: Clock) -> None:
    ledger.register("wf-1", EVENTUAL, fail_before=0)
    answer = ledger.call(asked(attempt=1))
    found = [ledger.lookup(asked(attempt=1))]
    for seconds in (4.999999, 0.000001):
        clock.move(seconds)
        found.append(ledger.lookup(asked(attempt=1)))
    assert found == [None, None, answer.receipt]


def test_eventual_lookup_is_no_fence_and_leaves_no_trace(ledger: SqliteLedger) -> None:
    ledger.register("wf-1", EVENTUAL, fail_before=0)
    found = ledger.lookup(asked(attempt=2))
    untouched = says(ledger)
    late = ledger.call(asked(attempt=1))
    assert (found, untouched, late.replayed) == (None, Says(), False)


@pytest.mark.parametrize(
    ("contract", "key"),
    [
        pytest.param(IDEMPOTENT, "key-1", id="no-lookup-promised"),
        pytest.param(CONSISTENT, None, id="consistent-without-a-key"),
        pytest.param(EVENTUAL, None, id="eventual-without-a-key"),
    ],
)
def test_lookup_that_nobody_promised_is_a_bug_of_the_caller(
    ledger: SqliteLedger, contract: ToolContract, key: str | None
) -> None:
    ledger.register("wf-1", contract, fail_before=0)
    with pytest.raises(ValueError, match="lookup"):
        ledger.lookup(asked(key=key))
    assert says(ledger) == Says()


# -- scripted failures ------------------------------------------------------------------------


def test_first_calls_of_a_workflow_fail_before_the_effect(ledger: SqliteLedger) -> None:
    ledger.register("wf-1", IDEMPOTENT, fail_before=2)
    ledger.register("wf-2", IDEMPOTENT, fail_before=0)
    ledger.call(asked("wf-2"))
    failures = [refusal(ledger, attempt=attempt) for attempt in (1, 2)]
    assert (failures, ledger.call(asked(attempt=3)).replayed, says(ledger)) == (
        [
            (FailedBeforeEffect, {"reason": "scripted failure 1 of 2"}),
            (FailedBeforeEffect, {"reason": "scripted failure 2 of 2"}),
        ],
        True,
        Says(
            (("wf-2", 1, "key-1"),),
            (
                ("wf-2", 1, "applied", 1),
                ("wf-1", 1, "failed_before_effect", None),
                ("wf-1", 2, "failed_before_effect", None),
                ("wf-1", 3, "replayed", 1),
            ),
        ),
    )


def test_fence_comes_before_a_scripted_failure(ledger: SqliteLedger) -> None:
    ledger.register("wf-1", CONSISTENT, fail_before=1)
    ledger.lookup(asked(attempt=2))
    assert refusal(ledger, attempt=1)[0] is Fenced


# -- registration -----------------------------------------------------------------------------


def test_unregistered_workflow_is_refused_and_leaves_no_trace(ledger: SqliteLedger) -> None:
    facts = {"workflow_id": "wf-1", "path": str(ledger.path)}
    with pytest.raises(ToolNotRegistered) as raised:
        ledger.lookup(asked())
    assert (refusal(ledger), raised.value.facts, says(ledger)) == (
        (ToolNotRegistered, facts),
        facts,
        Says(),
    )


@pytest.mark.parametrize("contract", [IDEMPOTENT, REPEATING, CONSISTENT, EVENTUAL, expiring(0.25)])
def test_registration_once_more_changes_nothing(
    ledger: SqliteLedger, clock: Clock, contract: ToolContract
) -> None:
    for _ in range(2):
        ledger.register("wf-1", contract, fail_before=1)
        clock.move(1)
    assert ledger.registration("wf-1") == (contract, 1)


@pytest.mark.parametrize(
    ("contract", "fail_before"),
    [pytest.param(REPEATING, 0, id="contract"), pytest.param(IDEMPOTENT, 1, id="fail-before")],
)
def test_registration_of_another_kind_is_refused(
    ledger: SqliteLedger, contract: ToolContract, fail_before: int
) -> None:
    ledger.register("wf-1", IDEMPOTENT, fail_before=0)
    with pytest.raises(WorkflowExists):
        ledger.register("wf-1", contract, fail_before=fail_before)
    assert ledger.registration("wf-1") == (IDEMPOTENT, 0)


# -- a store that fails -----------------------------------------------------------------------


def test_full_disk_leaves_neither_invocation_nor_effect(ledger: SqliteLedger) -> None:
    ledger.register("wf-1", IDEMPOTENT, fail_before=0)
    connection = ledger.database.connection
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count={pages}").fetchone()
    with pytest.raises(StoreUnavailable) as raised:
        ledger.call(asked(action=b'"' + b"x" * 100_000 + b'"'))
    untouched = says(ledger)
    connection.execute(f"PRAGMA max_page_count={pages + 100}").fetchone()
    assert (raised.value.kind, untouched, ledger.call(asked(attempt=1)).replayed) == (
        "ledger",
        Says(),
        False,
    )
