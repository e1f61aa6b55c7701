"""What must be true of every reachable world, by name."""

from __future__ import annotations

from collections.abc import Callable

from resumeproof.domain.contract import KEY_LIFETIME_MARGIN, Lookup
from resumeproof.domain.decision import Doubt, Purpose
from resumeproof.domain.status import ENDED, Status
from tests.model.driver import step
from tests.model.ledger import receipt_of, seconds_of
from tests.model.moves import approve, land, tick
from tests.model.world import Scope, Waiting, World


def at_most_one_effect(scope: Scope, world: World) -> bool:
    """A tool that keeps no keys has at most one effect."""
    return scope.contract.idempotent or len(world.ledger.effects) <= 1


def effectively_once(scope: Scope, world: World) -> bool:
    """A tool that keeps keys has one effect, however long it remembers them."""
    return not scope.contract.idempotent or len(world.ledger.effects) <= 1


def completed_has_its_effect(scope: Scope, world: World) -> bool:
    """Completed means that exactly the acknowledged effect exists."""
    if world.journal.workflow.status is not Status.COMPLETED:
        return not world.journal.acknowledged
    receipts = tuple(receipt_of(effect, scope.key) for effect in world.ledger.effects)
    return world.journal.acknowledged == receipts and len(receipts) == 1


def failed_has_no_effect(scope: Scope, world: World) -> bool:
    """Failed means that nothing happened, nor will: every call on its way may still land."""
    return world.journal.workflow.status is not Status.FAILED or not world.ledger.effects


def one_acknowledgement(scope: Scope, world: World) -> bool:
    return len(world.journal.acknowledged) <= 1


def executed_was_approved(scope: Scope, world: World) -> bool:
    """Whatever was sent bears the approval that was live at its claim.

    An approval does not change once an attempt has started, so that it is the present one.
    """
    approved = world.journal.workflow.approved_digest
    sent = {flight.action for flight in world.flights}
    return (sent | {effect.digest for effect in world.ledger.effects}) <= {approved}


def retries_within_cap(scope: Scope, world: World) -> bool:
    """No more counted failures than allowed, and no attempt to have an effect after the last."""
    workflow = world.journal.workflow
    attempt = workflow.open_attempt
    may_have_effect = attempt is not None and attempt.purpose != Purpose.LOOKUP
    return workflow.retries + may_have_effect <= scope.max_retries


def no_needless_escalation(scope: Scope, world: World) -> bool:
    """Unknown only where the tool's contract could not have settled it."""
    workflow, contract = world.journal.workflow, scope.contract
    if workflow.status is not Status.UNKNOWN:
        return True
    marked_at_seconds = seconds_of(workflow.updated_at)
    if workflow.reason == Doubt.RECOVERY_LIMIT:
        # Where the lock is lost, a living driver that was taken over from counts as a dead one.
        deaths = world.deaths if scope.locked else workflow.deaths
        return deaths >= scope.max_recoveries
    if scope.key is None:
        return workflow.reason == Doubt.OUTCOME_UNKNOWN
    if contract.lookup is Lookup.CONSISTENT:
        return False
    seen = any(
        effect.applied_at_seconds + contract.lookup_lag_seconds <= marked_at_seconds
        for effect in world.ledger.effects
    )
    if contract.lookup is Lookup.EVENTUAL and seen:
        return False
    alive = contract.idempotent and (
        contract.key_lifetime_seconds is None
        or marked_at_seconds - seconds_of(str(workflow.first_unsettled_at))
        < contract.key_lifetime_seconds * (1 - KEY_LIFETIME_MARGIN)
    )
    if alive:
        return workflow.reason == Doubt.RETRIES_EXHAUSTED and workflow.retries == scope.max_retries
    return workflow.reason == Doubt.OUTCOME_UNKNOWN


MAX_STEPS_ALONE = 60


def never_stuck(scope: Scope, world: World) -> bool:
    """With all drivers dead, one that meets no fault brings the workflow to an end, or to an
    operator's desk.
    """
    if world.drivers != (None, None):
        return True
    if world.journal.workflow.status is Status.PENDING_APPROVAL:
        world = approve(world)
    for _ in range(MAX_STEPS_ALONE):
        status = world.journal.workflow.status
        if world.drivers == (None, None) and (status in ENDED or status is Status.UNKNOWN):
            return True
        world = _alone(scope, world)
    return False


def _alone(scope: Scope, world: World) -> World:
    """One more step of the one driver that is not dead; where it can but wait, time passes."""
    place = 0 if world.drivers[0] is not None else 1
    driver = world.drivers[place]
    if isinstance(driver, Waiting):
        return land(world, driver.flight, fails=False)
    move = step(scope, world, place)
    if move is None:
        return tick(scope, world)
    gave_up = driver is not None and move[1].drivers == (None, None)
    return tick(scope, move[1]) if gave_up and move[1].journal == world.journal else move[1]


INVARIANTS: tuple[Callable[[Scope, World], bool], ...] = (
    at_most_one_effect,
    effectively_once,
    one_acknowledgement,
    completed_has_its_effect,
    failed_has_no_effect,
    executed_was_approved,
    retries_within_cap,
    no_needless_escalation,
    never_stuck,
)


def violated(scope: Scope, world: World) -> str | None:
    """The name of the first invariant that does not hold; None if all do."""
    for invariant in INVARIANTS:
        if not invariant(scope, world):
            return invariant.__name__
    return None
