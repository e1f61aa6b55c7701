"""How many states a power cut has within a budget, and how a plan leads back to one."""

from __future__ import annotations

import pytest

from resumeproof.crash.plan import CrashPoint
from resumeproof.crash.syscalls import operations as op
from resumeproof.crash.syscalls.observation import Observation
from resumeproof.crash.syscalls.pending import Loss
from resumeproof.crash.syscalls.power import PowerLoss, is_power_point, shares
from resumeproof.errors import PlanRefused
from tests.unit.crash.syscalls.recordings import recording, tree

PLENTY = 10_000
CREATE = op.Create(10, "tmp", 0o644)
NEW = op.Write(10, "tmp", 0, b"new")
SYNC = op.Sync(10, "tmp")
PROMISE = op.Print(b"saved\n")


def test_below_the_budget_every_way_is_built_and_above_it_runs_are_asked_for() -> None:
    made = recording(*(op.Write(1, "f", 512 * number, b"x") for number in range(12)))
    whole = PowerLoss(made, tree(f=b"a" * 6144), 4096)
    some = PowerLoss(made, tree(f=b"a" * 6144), 100)

    assert (whole.ways, some.ways) == (4096, 4096)
    assert len(list(whole)) == 4096 - 13  # a beginning of the writes is what a kill leaves
    assert (whole.untried, whole.candidates()) == (0, [])
    assert (list(some), some.untried) == ([], 4096)
    assert 0 < len(some.candidates()) <= 100


def test_no_more_is_asked_for_than_the_budget_allows() -> None:
    made = recording(*(op.Write(1, "f", 512 * number, b"x") for number in range(12)))
    power = PowerLoss(made, tree(f=b"a" * 6144), 100)
    everything = Observation((), opaque=True)
    asked = 0
    while candidates := power.candidates():
        asked += len(candidates)
        power.spend(len(candidates))
        for candidate in candidates:
            candidate.learn(everything)

    assert asked == 100
    assert power.untried == 4096 - 100


def test_a_state_that_no_plan_can_name_is_not_tried() -> None:
    made = recording(*(op.Write(1, "f", 512 * number, b"x") for number in range(99)))
    power = PowerLoss(made, tree(f=b"a" * 50688), 110)
    nothing = Observation(())
    every_other = tuple(Loss(number) for number in range(1, 99, 2))
    everything = Observation((), opaque=True)
    while candidates := power.candidates():
        power.spend(len(candidates))
        for candidate in candidates:
            assert candidate.losses != every_other
            candidate.learn(everything)

    assert power.untried > 2**98
    one = PowerLoss(made, tree(f=b"a" * 50688), 1)
    one.candidates()[0].learn(nothing)
    assert one.untried == 0


def test_a_budget_is_dealt_out_evenly_and_what_is_left_over_goes_on() -> None:
    assert shares([2, 100, 7, 100], 50) == [2, 20, 7, 21]
    assert shares([2, 3], 50) == [2, 3]
    assert shares([5, 5, 5], 2) == [0, 1, 1]


@pytest.mark.parametrize(
    "text",
    [
        "power.l1:after#9",
        "power.l3:after#4",
        "power.l2:after#3",
        "power.h2-512:after#4",
        "power.d0.l2:after#4",
        "power.l2-1:after#4",
        "power.l2.l2:after#4",
        "call:after#1",
    ],
)
def test_a_plan_that_the_device_model_has_no_state_for_is_refused(text: str) -> None:
    power = PowerLoss(recording(CREATE, NEW, SYNC, PROMISE), tree(), PLENTY)
    with pytest.raises(PlanRefused):
        power.state(CrashPoint.parse(text))


def test_a_plan_in_other_words_is_the_same_state() -> None:
    power = PowerLoss(recording(CREATE, NEW, PROMISE), tree(), PLENTY)

    assert power.state(CrashPoint.parse("power.l2.l1:after#3")) == power.state(
        CrashPoint.parse("power.l1-2:after#3")
    )


def test_a_power_cut_is_told_from_a_kill_by_its_plan() -> None:
    assert is_power_point(CrashPoint.parse("power.d1.l2-3.h4-512:after#9"))
    assert not is_power_point(CrashPoint.parse("call:after#9"))
