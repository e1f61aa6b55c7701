"""Random lives of one workflow keep every promise, and come to what the design says."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from resumeproof.domain import conclusion as conclusions
from resumeproof.domain import decision as decisions
from resumeproof.domain.status import ENDED, Event, Status
from tests.model.contracts import KINDS
from tests.model.invariants import violated
from tests.model.life import Boundary, Observed, observed, operator, resume
from tests.model.moves import approve, tick
from tests.model.world import Scope, World, created

LIMIT = 1_000
"""A bound that no example reaches."""


def scope_of(kind: str) -> Scope:
    return Scope(KINDS[kind].contract, KINDS[kind].key, locked=True, failures=LIMIT, ticks=LIMIT)


# -- one crash, by the book ------------------------------------------------------------------

IN_DOUBT = [Boundary.CLAIM_AFTER, Boundary.TOOL_BEFORE, Boundary.TOOL_AFTER, Boundary.ACK_BEFORE]
NO_EFFECT = [Boundary.CLAIM_AFTER, Boundary.TOOL_BEFORE]
DONE, UNKNOWN = Status.COMPLETED, Status.UNKNOWN


def after_one_crash(kind: str, boundary: Boundary) -> Observed:
    """What an approved workflow comes to that died there, and was resumed until nothing changed."""
    scope = scope_of(kind)
    world, died = resume(scope, approve(created(scope)), crash_at=boundary)
    assert died
    for _ in range(5):
        world, _ = resume(scope, tick(scope, world))
    return observed(world)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("boundary", [Boundary.CLAIM_BEFORE, Boundary.ACK_AFTER])
def test_a_crash_outside_the_claim_costs_nothing(kind: str, boundary: Boundary) -> None:
    assert after_one_crash(kind, boundary) == Observed(DONE, None, 1, 1, 1, 0, 0)


@pytest.mark.parametrize("boundary", IN_DOUBT)
def test_a_tool_with_neither_key_nor_lookup_stays_unknown(boundary: Boundary) -> None:
    happened = boundary not in NO_EFFECT
    assert after_one_crash("none", boundary) == Observed(
        UNKNOWN, "outcome_unknown", happened, happened, 1, 0, 1
    )


@pytest.mark.parametrize("boundary", IN_DOUBT)
def test_an_idempotent_tool_is_called_again(boundary: Boundary) -> None:
    invocations = 1 if boundary in NO_EFFECT else 2
    assert after_one_crash("idempotent", boundary) == Observed(DONE, None, 1, invocations, 2, 0, 1)


@pytest.mark.parametrize("boundary", IN_DOUBT)
def test_a_consistent_lookup_settles_it_without_a_human(boundary: Boundary) -> None:
    attempts = 3 if boundary in NO_EFFECT else 2
    assert after_one_crash("consistent", boundary) == Observed(DONE, None, 1, 1, attempts, 0, 1)


@pytest.mark.parametrize("boundary", IN_DOUBT)
def test_an_eventual_lookup_settles_what_it_shows(boundary: Boundary) -> None:
    expected = (
        Observed(UNKNOWN, "outcome_unknown", 0, 0, 1, 0, 1)
        if boundary in NO_EFFECT
        else Observed(DONE, None, 1, 1, 1, 0, 1)
    )
    assert after_one_crash("eventual", boundary) == expected


# -- many, by chance -------------------------------------------------------------------------


class Resume(NamedTuple):
    crash_at: Boundary | None


class Wait(NamedTuple):
    """Time passes."""


class Reconcile(NamedTuple):
    event: Event


Operation: TypeAlias = Resume | Wait | Reconcile

RECONCILED = [Event.RECONCILED_APPLIED, Event.RECONCILED_NOT_APPLIED]
OPERATIONS = st.one_of(
    st.builds(Resume, st.sampled_from([None, *Boundary])),
    st.builds(Resume, st.sampled_from(IN_DOUBT)),
    st.builds(Wait),
    st.builds(Reconcile, st.sampled_from(RECONCILED)),
)
LIVES = st.lists(OPERATIONS, min_size=1, max_size=12)


def after(scope: Scope, world: World, operation: Operation, fail_before: int) -> World:
    match operation:
        case Resume(crash_at):
            return resume(scope, world, crash_at=crash_at, fail_before=fail_before)[0]
        case Wait():
            return tick(scope, world)
        case Reconcile(event):
            return operator(world, event) or world


def live(kind: str, operations: list[Operation], fail_before: int) -> None:
    """Hold every promise after every operation, whatever the life of the workflow."""
    scope = scope_of(kind)
    world = approve(created(scope))
    for operation in operations:
        before, world = observed(world), after(scope, world, operation, fail_before)
        now = observed(world)
        assert violated(scope, world) is None
        assert all(was <= counted for was, counted in zip(before[2:], now[2:], strict=True))
        assert now == before or before.status not in ENDED


@pytest.mark.parametrize("kind", KINDS)
@given(operations=LIVES, fail_before=st.sampled_from([0, 0, 1, 3]))
def test_random_lives_keep_every_promise(
    kind: str, operations: list[Operation], fail_before: int
) -> None:
    live(kind, operations, fail_before)


def test_a_life_under_a_broken_table_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conclusions, "_nothing_found", lambda *_: decisions.AbsenceProved())

    @settings(phases=[Phase.generate], print_blob=False)
    @given(operations=LIVES)
    def lives(operations: list[Operation]) -> None:
        live("eventual", operations, 0)

    with pytest.raises(AssertionError, match="at_most_one_effect"):
        lives()
