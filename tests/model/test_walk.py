"""No reachable world breaks a promise; and each promise, undone, is missed by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import MappingProxyType

import pytest

from resumeproof.domain import conclusion as conclusions
from resumeproof.domain import decision as decisions
from resumeproof.domain import folding, recovery
from resumeproof.domain.contract import Lookup
from resumeproof.domain.decision import AbsenceProved, Acknowledge, AttemptFailed, Purpose
from resumeproof.domain.instant import format_instant
from resumeproof.domain.status import TRANSITIONS, Event, Status
from resumeproof.errors import NotYet
from tests.model.contracts import KINDS
from tests.model.invariants import INVARIANTS
from tests.model.ledger import Effect, receipt_of
from tests.model.walk import Walk, walk
from tests.model.world import D1, Scope

PASSED_THROUGH = {Status.PENDING_APPROVAL, Status.APPROVED, Status.RUNNING, Status.RETRY_WAIT}
ENDS = PASSED_THROUGH | {Status.COMPLETED, Status.FAILED}


def scope_of(kind: str, *, locked: bool) -> Scope:
    """As wide as takes a few seconds, and wide enough for each promise that is undone below."""
    return widest(kind, locked=locked)._replace(deaths=2 if locked else 1)


def widest(kind: str, *, locked: bool) -> Scope:
    """As wide as takes some ten seconds. Two drivers without the lock have many more ways to meet,
    and each takeover from a living one counts as a death, which `max_recoveries` bounds.
    """
    contract, key, ticks = KINDS[kind]
    bounds = Scope(contract, key, locked=locked, deaths=3, failures=2, ticks=ticks)
    if locked:
        return bounds
    bounds = bounds._replace(max_recoveries=3)
    if contract.lookup is Lookup.CONSISTENT:
        bounds = bounds._replace(replacements=0)
    if contract.key_lifetime_seconds is not None:
        bounds = bounds._replace(replacements=0, deaths=2)
    if kind == "key_lifetime_consistent":
        bounds = bounds._replace(failures=1, max_retries=1)
    return bounds


ScopeOf = Callable[..., Scope]
SCOPES = [
    pytest.param(scope_of, id="narrow"),
    pytest.param(widest, id="widest", marks=pytest.mark.campaign),
]


def holds(found: Walk) -> frozenset[Status]:
    assert found.broken is None, str(found)
    assert found.states > len(ENDS)
    print(f"{found.states} states")
    return found.statuses


@pytest.mark.parametrize("scope_of", SCOPES)
@pytest.mark.parametrize("kind", KINDS)
def test_drivers_that_take_the_lock_keep_every_promise(kind: str, scope_of: ScopeOf) -> None:
    statuses = holds(walk(scope_of(kind, locked=True)))
    settles = KINDS[kind].contract.lookup is Lookup.CONSISTENT
    assert statuses == (ENDS if settles else ENDS | {Status.UNKNOWN})


@pytest.mark.parametrize("scope_of", SCOPES)
@pytest.mark.parametrize("kind", KINDS)
def test_drivers_that_lost_the_lock_keep_every_promise(kind: str, scope_of: ScopeOf) -> None:
    statuses = holds(walk(scope_of(kind, locked=False)))
    assert statuses == ENDS | {Status.UNKNOWN}


@pytest.mark.parametrize("kind", KINDS)
def test_a_poison_workflow_is_parked(kind: str) -> None:
    scope = scope_of(kind, locked=True)._replace(max_recoveries=2, failures=0)
    assert Status.UNKNOWN in holds(walk(scope))


# -- each promise, undone --------------------------------------------------------------------

Undo = Callable[[pytest.MonkeyPatch, Scope], Scope]


def doubt_cleared_by_a_later_failure(patch: pytest.MonkeyPatch, scope: Scope) -> Scope:
    real = conclusions.conclude_call

    def forgetful(*args: object, **facts: object) -> decisions.Conclusion:
        conclusion = real(*args, **facts)  # type: ignore[arg-type]
        if isinstance(conclusion, AttemptFailed):
            return replace(conclusion, stays_in_doubt=False)
        return conclusion

    patch.setattr(conclusions, "conclude_call", forgetful)
    return scope


def key_life_reckoned_from_the_last_claim(patch: pytest.MonkeyPatch, scope: Scope) -> Scope:
    real = recovery.key_alive
    patch.setattr(
        recovery,
        "key_alive",
        lambda workflow, now: real(
            replace(workflow, first_unsettled_at=workflow.last_call_at), now
        ),
    )
    return scope


def unfenced_absence_trusted(patch: pytest.MonkeyPatch, scope: Scope) -> Scope:
    patch.setattr(conclusions, "_nothing_found", lambda *_: AbsenceProved())
    return scope


def fence_not_kept_by_the_tool(_: pytest.MonkeyPatch, scope: Scope) -> Scope:
    return scope._replace(fences=False)


def swap_on_status_instead_of_revision(_: pytest.MonkeyPatch, scope: Scope) -> Scope:
    return scope._replace(swap_on="status")


def calls_later_than_the_margin(_: pytest.MonkeyPatch, scope: Scope) -> Scope:
    return scope._replace(calls_land_in_time=False)


def retries_not_capped(patch: pytest.MonkeyPatch, scope: Scope) -> Scope:
    patch.setattr(recovery, "_retries_left", lambda _: True)
    return scope._replace(max_retries=1)


def lookup_never_asked(patch: pytest.MonkeyPatch, scope: Scope) -> Scope:
    rules = tuple(rule for rule in recovery.RULES if rule.tool != "consistent lookup")
    patch.setattr(recovery, "RULES", rules)
    return scope


def absence_waited_out_for_ever(patch: pytest.MonkeyPatch, scope: Scope) -> Scope:
    patch.setattr(
        conclusions,
        "_nothing_found",
        lambda workflow, now: decisions.Refuse(NotYet(workflow.id, format_instant(now), "")),
    )
    return scope


def absence_acknowledged(patch: pytest.MonkeyPatch, scope: Scope) -> Scope:
    forged = receipt_of(Effect(1, D1, 0), scope.key)
    patch.setattr(
        conclusions,
        "_nothing_found",
        lambda *_: Acknowledge(forged, replayed=True, source=Purpose.LOOKUP),
    )
    return scope


def end_not_final_and_nothing_compared(patch: pytest.MonkeyPatch, scope: Scope) -> Scope:
    reopened = {(Status.COMPLETED, Event.EFFECT_ACKNOWLEDGED): Status.RUNNING}
    patch.setattr(folding, "TRANSITIONS", MappingProxyType({**TRANSITIONS, **reopened}))
    return scope._replace(swap_on="id", replacements=0)


UNDONE: tuple[tuple[Undo, str, bool, str], ...] = (
    (doubt_cleared_by_a_later_failure, "idempotent", True, "failed_has_no_effect"),
    (key_life_reckoned_from_the_last_claim, "key_lifetime", True, "effectively_once"),
    (unfenced_absence_trusted, "eventual", True, "at_most_one_effect"),
    (fence_not_kept_by_the_tool, "consistent", True, "at_most_one_effect"),
    (swap_on_status_instead_of_revision, "none", False, "executed_was_approved"),
    (calls_later_than_the_margin, "key_lifetime", True, "effectively_once"),
    (retries_not_capped, "idempotent", True, "retries_within_cap"),
    (lookup_never_asked, "consistent", True, "no_needless_escalation"),
    (absence_waited_out_for_ever, "eventual", True, "never_stuck"),
    (absence_acknowledged, "consistent", True, "completed_has_its_effect"),
    (end_not_final_and_nothing_compared, "idempotent", False, "one_acknowledgement"),
)


@pytest.mark.parametrize(
    ("undo", "kind", "locked", "broken"),
    UNDONE,
    ids=[undo.__name__ for undo, *_ in UNDONE],
)
def test_undone_it_is_missed_by_name(
    undo: Undo, kind: str, locked: bool, broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = walk(undo(monkeypatch, scope_of(kind, locked=locked)))
    print(found)
    assert found.broken == broken, str(found)


def test_every_invariant_is_seen_to_fail() -> None:
    assert {broken for *_, broken in UNDONE} == {invariant.__name__ for invariant in INVARIANTS}
