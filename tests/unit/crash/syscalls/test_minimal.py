from __future__ import annotations

import pytest

from resumeproof.crash.plan import CrashPoint
from resumeproof.crash.syscalls import operations as op
from resumeproof.crash.syscalls.minimal import fewest_losses
from resumeproof.crash.syscalls.power import PowerLoss, PowerState
from tests.unit.crash.syscalls.recordings import recording, tree

WRITES = 40
POWER = PowerLoss(
    recording(*(op.Write(1, "f", 512 * n, b"x") for n in range(WRITES)), op.Print(b"done")),
    tree(f=b"a" * 512 * WRITES),
    budget=1,
)
ALL_LOST = POWER.state(CrashPoint(f"power.l1-{WRITES}:after", WRITES + 1))


@pytest.mark.parametrize(
    "culprits", [{1}, {40}, {17}, {3, 29}, {1, 2, 40}], ids=lambda c: "-".join(map(str, sorted(c)))
)
def test_only_what_it_takes_is_lost_in_the_end(culprits: set[int]) -> None:
    asked: list[PowerState] = []

    def fails(state: PowerState) -> bool:
        asked.append(state)
        return culprits <= {loss.ordinal for loss in state.losses}

    smallest = fewest_losses(POWER, ALL_LOST, fails)

    assert {loss.ordinal for loss in smallest.losses} == culprits
    assert len(asked) == len(set(asked)) <= 100


def test_a_smaller_way_to_fail_is_found_that_leaving_out_does_not_lead_to() -> None:
    def fails(state: PowerState) -> bool:
        lost = {loss.ordinal for loss in state.losses}
        return {1, 2} <= lost or lost == {5}

    state = POWER.state(CrashPoint("power.l1-8:after", WRITES + 1))
    assert str(fewest_losses(POWER, state, fails).point) == f"power.l5:after#{WRITES + 1}"


def test_when_the_trials_are_used_up_the_smallest_so_far_is_returned() -> None:
    asked: list[PowerState] = []

    def fails(state: PowerState) -> bool:
        asked.append(state)
        return {3, 29} <= {loss.ordinal for loss in state.losses}

    smallest = fewest_losses(POWER, ALL_LOST, fails, budget_trials=8)

    assert len(asked) == 8
    assert 2 < len(smallest.losses) < WRITES
    assert fails(smallest)


def test_what_needs_the_lost_call_is_lost_with_it() -> None:
    made = recording(
        op.Create(1, "a", 0o644), op.Rename("a", "b"), op.Create(2, "c", 0o644), op.Print(b"done")
    )
    power = PowerLoss(made, tree(), 100)
    state = power.state(CrashPoint.parse("power.l1-3:after#4"))

    smallest = fewest_losses(
        power, state, lambda state: any(loss.ordinal == 1 for loss in state.losses)
    )

    assert str(smallest.point) == "power.l1-2:after#4"


def test_of_a_program_that_went_on_an_earlier_power_cut_shows_it_with_less() -> None:
    def saved(inode: int) -> list[op.Operation]:
        return [op.Create(inode, "f.new", 0o644), op.Rename("f.new", "f"), op.Print(b"saved\n")]

    power = PowerLoss(recording(*saved(1), *saved(2), *saved(3)), tree(), 100)
    state = power.state(CrashPoint.parse("power.l2-8:after#9"))

    def promised_and_missing(state: PowerState) -> bool:
        return state.ordinal >= 3 and "f" not in {path for path, *_ in power.tree(state).walk()}

    assert promised_and_missing(state)
    assert str(fewest_losses(power, state, promised_and_missing).point) == "power.l2:after#3"
