"""Two crashes: the resume dies as well, wherever it can, and the one after it is as safe."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from resumeproof.crash.plan import Boundary, CrashPlan
from tests.crash.conftest import Certify
from tests.crash.expected import ONE_CRASH, reckon
from tests.crash.scenarios import CONTRACTS, Scenario, Way, due, every, seen

WAYS = [Way.EXIT86, Way.SIGKILL]
PAIRS = [f"{first};{second}" for first, second in product(Boundary, Boundary)]
FULL = every(PAIRS, WAYS)
SAMPLE = [
    Scenario(
        list(CONTRACTS)[(first + second) % len(Boundary) % len(CONTRACTS)],
        CrashPlan.parse(PAIRS[len(Boundary) * first + second]),
        WAYS[(first // 2 + second) % len(WAYS)],
    )
    for first, second in product(range(len(Boundary)), repeat=2)
    if (second - first) % 3 == 0
]
"""Each boundary with itself and with the one that is three away, in processes that are started for
it. That a second death is survived after whatever a first one leaves, the gate shows by forked
ones, under each contract: by the subjects called `lab-` of `subjects/test_catalogue.py`."""
# A lookup that proves absence goes on to call, and comes to each boundary for a second time.
SECOND_ROUND = [
    Scenario("consistent", CrashPlan.parse(f"{first};{second}#2"), way)
    for first, second, way in product(Boundary, Boundary, WAYS)
]


def judge(scenario: Scenario, directory: Path, certify: Certify) -> None:
    run = scenario.carry_out(directory)
    certify(run)
    outcome = reckon(scenario.contract, scenario.plan).outcome
    assert seen(run, directory) == due(scenario, outcome), run.lives


@pytest.mark.parametrize("contract", CONTRACTS)
def test_what_is_reckoned_of_one_crash_is_what_was_written_down(contract: str) -> None:
    reckoned = {
        boundary: reckon(contract, CrashPlan.parse(boundary)).outcome for boundary in Boundary
    }
    assert reckoned == ONE_CRASH[contract]


def test_no_pair_is_reckoned_to_have_two_effects() -> None:
    worst = max(reckon(each.contract, each.plan).outcome.effects for each in FULL)
    assert worst == 1


def test_the_sample_holds_every_value() -> None:
    held, all_there_are = (
        {value for each in scenarios for value in each.values} for scenarios in (SAMPLE, FULL)
    )
    assert held == all_there_are


@pytest.mark.parametrize("scenario", SAMPLE, ids=str)
def test_a_crash_of_the_resume_is_resumed(
    scenario: Scenario, directory: Path, certify: Certify
) -> None:
    judge(scenario, directory, certify)


@pytest.mark.campaign
@pytest.mark.parametrize("scenario", FULL + SECOND_ROUND, ids=str)
def test_every_crash_of_the_resume_is_resumed(
    scenario: Scenario, directory: Path, certify: Certify
) -> None:
    judge(scenario, directory, certify)
