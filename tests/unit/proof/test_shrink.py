"""Shrinking: the fewest inputs that still fail in the same way, within a budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count

import pytest

from resumeproof.domain.conformance import ConformanceReport
from resumeproof.domain.verdict import Finding, FindingKind
from resumeproof.errors import SubjectFailed
from resumeproof.proof.shrink import shrunk

REPLAYED = Finding(FindingKind.EFFECT_REPLAYED, 1, "twice", "effect:after#1")
LOST = Finding(FindingKind.EFFECT_LOST, 1, "never", "effect:before#1")

Inputs = tuple[int, ...]
Fails = Callable[[Inputs], bool]


def failing() -> ConformanceReport:
    return ConformanceReport(crash_points=1, findings=[REPLAYED])


@dataclass
class Prover:
    """Fails where `fails` says so, and remembers what it was asked."""

    fails: Fails
    asked: list[Inputs] = field(default_factory=list)

    def __call__(self, inputs: Inputs) -> ConformanceReport:
        self.asked.append(inputs)
        return failing() if self.fails(inputs) else ConformanceReport(crash_points=1)


def fewest(fails: Fails, inputs: int) -> list[object] | None:
    return shrunk(failing(), range(inputs), Prover(fails)).fewest_inputs


def holds(*needed: int) -> Fails:
    return lambda inputs: set(needed) <= set(inputs)


NEEDED: dict[str, tuple[Sequence[int], int]] = {
    "the first": ([0], 10),
    "the last": ([9], 10),
    "one in the middle": ([4], 10),
    "two neighbours": ([4, 5], 10),
    "first and last": ([0, 9], 10),
    "far apart": ([3, 50, 90], 100),
    "all": ([0, 1, 2], 3),
}


@pytest.mark.parametrize(("needed", "inputs"), NEEDED.values(), ids=NEEDED)
def test_what_the_failure_does_not_need_is_left_out(needed: Sequence[int], inputs: int) -> None:
    assert fewest(holds(*needed), inputs) == list(needed)


def test_leaving_one_out_may_let_another_be_left_out() -> None:
    # 0 is needed for as long as 1 is there.
    def fails(inputs: Inputs) -> bool:
        return 2 in inputs and (1 not in inputs or 0 in inputs)

    assert fewest(fails, 3) == [2]


def test_another_kind_of_finding_is_not_the_same_failure() -> None:
    def prove(inputs: Inputs) -> ConformanceReport:
        found = REPLAYED if set(inputs) >= {2, 3} else LOST
        return ConformanceReport(crash_points=1, findings=[found])

    assert shrunk(failing(), range(5), prove).fewest_inputs == [2, 3]


def test_inputs_that_the_subject_cannot_do_with_are_no_failure() -> None:
    def prove(inputs: Inputs) -> ConformanceReport:
        if 0 not in inputs:
            raise SubjectFailed("the baseline", "nothing is open")
        return failing() if 3 in inputs else ConformanceReport(crash_points=1)

    assert shrunk(failing(), range(6), prove).fewest_inputs == [0, 3]


def test_nothing_is_tried_twice_or_without_inputs() -> None:
    prover = Prover(holds(3, 50, 90))
    shrunk(failing(), range(100), prover)
    assert (len(prover.asked) == len(set(prover.asked)), () in prover.asked) == (True, False)


LEFT_ALONE = {
    "nothing found": (ConformanceReport(crash_points=1), 5),
    "one input": (failing(), 1),
    "no input": (failing(), 0),
}


@pytest.mark.parametrize(("report", "inputs"), LEFT_ALONE.values(), ids=LEFT_ALONE)
def test_there_may_be_nothing_to_shrink(report: ConformanceReport, inputs: int) -> None:
    prover = Prover(holds())
    assert (shrunk(report, range(inputs), prover).fewest_inputs, prover.asked) == (None, [])


@pytest.mark.parametrize("runs", [0, 1, 7])
def test_no_more_runs_than_the_budget_has(runs: int) -> None:
    prover = Prover(holds(3, 50, 90))
    report = shrunk(failing(), range(100), prover, budget_runs=runs)
    assert report.fewest_inputs is not None
    assert (len(prover.asked), {3, 50, 90} <= set(report.fewest_inputs)) == (runs, True)


def test_no_run_begins_after_the_budgets_end() -> None:
    seconds = count()
    prover = Prover(holds(99))
    shrunk(failing(), range(100), prover, budget_seconds=3, now=lambda: next(seconds))
    # The clock stood at 0 when the budget was set, and at 1 and 2 before each run.
    assert len(prover.asked) == 2
