"""One crash: a process really dies at each boundary, and the resume is safe or says `unknown`."""

from __future__ import annotations

from pathlib import Path

import pytest

from resumeproof.crash.plan import Boundary, CrashPlan
from tests.crash.conftest import Certify
from tests.crash.expected import ONE_CRASH, UNHARMED
from tests.crash.scenarios import CONTRACTS, Scenario, Way, due, every, seen, uncovered

WAYS = list(Way)
FULL = every(Boundary, Way)
SAMPLE = [
    Scenario(contract, CrashPlan.parse(boundary), WAYS[(row + column) % len(WAYS)])
    for row, contract in enumerate(CONTRACTS)
    for column, boundary in enumerate(Boundary)
]


def judge(scenario: Scenario, directory: Path, certify: Certify) -> None:
    (point,) = scenario.plan.points
    run = scenario.carry_out(directory)
    certify(run)
    outcome = ONE_CRASH[scenario.contract][Boundary(point.boundary)]
    assert seen(run, directory) == due(scenario, outcome), run.lives


@pytest.mark.parametrize(
    "scenario", [Scenario(contract, CrashPlan(), Way.EXIT86) for contract in CONTRACTS], ids=str
)
def test_the_baseline_needs_no_resume(
    scenario: Scenario, directory: Path, certify: Certify
) -> None:
    run = scenario.carry_out(directory)
    certify(run)
    assert seen(run, directory) == due(scenario, UNHARMED), run.lives


def test_the_sample_holds_every_pair_of_values() -> None:
    assert uncovered(SAMPLE, FULL) == set()


@pytest.mark.parametrize("scenario", SAMPLE, ids=str)
def test_a_crash_is_resumed(scenario: Scenario, directory: Path, certify: Certify) -> None:
    judge(scenario, directory, certify)


@pytest.mark.campaign
@pytest.mark.parametrize("scenario", FULL, ids=str)
def test_every_crash_is_resumed(scenario: Scenario, directory: Path, certify: Certify) -> None:
    judge(scenario, directory, certify)
