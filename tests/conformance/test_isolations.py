"""One proof, carried out by lives that are forked, spawned or only played."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from resumeproof import ConformanceReport, Lookup, ToolContract, conform
from resumeproof.crash.kill import Kill
from resumeproof.domain.verdict import FindingKind
from resumeproof.errors import PayloadRefused, SubjectFailed
from resumeproof.proof.explore import prove
from resumeproof.proof.progress import Silence
from resumeproof.proof.share import Settings
from resumeproof.proof.spawned import SPAWNED, NamedFactory, SpawnedAgent
from resumeproof.proof.spawned import Alone as OneAfterTheOther
from tests.conformance import agents

REPLAYED = FindingKind.EFFECT_REPLAYED
LOST = FindingKind.EFFECT_LOST
IN_PROCESSES = ["process", "spawn"]


def proved(agent: type, inputs: list[Any], isolation: Any, **options: Any) -> ConformanceReport:
    named = f"{agent.__module__}:{agent.__qualname__}"
    factory = named if isolation == "spawn" else agent
    return conform(factory, inputs, isolation=isolation, **options)


def found(report: ConformanceReport) -> list[tuple[FindingKind, str]]:
    return [(finding.kind, finding.plan) for finding in report.findings]


EXPECTED: dict[str, tuple[type, list[tuple[FindingKind, str]]]] = {
    "careful": (agents.Careful, []),
    "async": (agents.Awaiting, []),
    "without a state": (agents.Stateless, []),
    "repeats": (agents.Repeating, [(REPLAYED, "effect:after#1"), (REPLAYED, "effect:after#2")]),
    "repeats without a key": (
        agents.Unkeyed,
        [(REPLAYED, "effect:after#1"), (REPLAYED, "effect:after#2")],
    ),
    "loses": (agents.Hasty, [(LOST, "effect:before#1"), (LOST, "effect:before#2")]),
}


SPAWNED_IN_THE_GATE = ("careful", "repeats")
"""A spawned interpreter costs much, and the others differ in what happens within a life."""


@pytest.mark.parametrize(
    ("agent", "findings", "isolation"),
    [
        pytest.param(
            *EXPECTED[name],
            isolation,
            id=f"{name}, {isolation}",
            marks=[pytest.mark.campaign]
            if isolation == "spawn" and name not in SPAWNED_IN_THE_GATE
            else [],
        )
        for name in EXPECTED
        for isolation in IN_PROCESSES
    ],
)
def test_the_findings_of_real_deaths(
    agent: type, findings: list[tuple[FindingKind, str]], isolation: str
) -> None:
    report = proved(agent, ["a", "b"], isolation)
    certificate = report.certificate
    assert (found(report), report.crash_points, certificate.adds_up, certificate.enumerated) == (
        findings,
        2,
        True,
        4,
    ), str(report)


PLAYED = {
    "careful": (agents.Careful, []),
    "async": (agents.Awaiting, []),
    "repeats": (agents.Repeating, [(REPLAYED, "effect:after#1"), (REPLAYED, "effect:after#2")]),
    "unkeyed effects are not compared": (agents.Unkeyed, []),
    "killed just after each effect, so nothing is lost": (agents.Hasty, []),
}


@pytest.mark.parametrize(("agent", "findings"), PLAYED.values(), ids=PLAYED)
def test_the_findings_of_played_deaths(
    agent: type, findings: list[tuple[FindingKind, str]]
) -> None:
    report = proved(agent, ["a", "b"], "inline")
    assert (found(report), report.crash_points, report.certificate.enumerated) == (findings, 2, 2)


@pytest.mark.parametrize("isolation", ["process", "inline"])
@pytest.mark.parametrize("agent", [agents.Careful, agents.Awaiting], ids=["plain", "async"])
def test_a_running_event_loop_disturbs_nothing(agent: type, isolation: str) -> None:
    async def main() -> ConformanceReport:
        return proved(agent, ["a"], isolation)

    assert asyncio.run(main()).passed


@pytest.mark.parametrize("isolation", ["process", "spawn", "inline"])
def test_nothing_is_proved_of_a_subject_without_effects(isolation: str) -> None:
    report = proved(agents.Effectless, ["a"], isolation)
    assert (report.passed, report.nothing_proved, report.certificate.enumerated) == (True, True, 0)


def test_a_subject_that_bears_no_fork_is_proved_in_interpreters_of_its_own() -> None:
    assert proved(agents.Alone, ["a"], "spawn").passed
    with pytest.raises(SubjectFailed, match=r"RuntimeError: somebody was here before \(agents.py"):
        proved(agents.Alone, ["a"], "process")


def test_spawned_lives_need_no_fork() -> None:
    subject = SpawnedAgent(
        NamedFactory("tests.conformance.agents:Repeating"),
        ("a",),
        ToolContract("agent", lookup=Lookup.CONSISTENT),
    )
    settings = Settings("run", Kill.SIGKILL, ("effect:before", "effect:after"), 1, 30.0, True)
    report = prove(
        subject,
        settings,
        jobs=1,
        progress=Silence(),
        lives=replace(SPAWNED, workers=OneAfterTheOther),
    )
    assert (found(report), report.certificate.adds_up) == ([(REPLAYED, "effect:after#1")], True)


def test_a_spawned_subject_that_cannot_be_imported_is_named() -> None:
    with pytest.raises(SubjectFailed, match=r"No module named 'tests.conformance.nowhere'"):
        conform("tests.conformance.nowhere:Agent", ["a"], isolation="spawn")


def test_an_input_that_no_interpreter_could_be_told_is_named() -> None:
    with pytest.raises(PayloadRefused, match=r"inputs\[1\]\['call'\] \(function\) cannot be"):
        conform("tests.conformance.agents:Careful", ["a", {"call": lambda: 0}], isolation="spawn")


# -- how it is killed, and where --------------------------------------------------------------


@pytest.mark.parametrize(
    "isolation",
    # Both die by the same line.
    ["process", pytest.param("spawn", marks=pytest.mark.campaign)],
)
def test_exit_86_is_a_death_too(isolation: str) -> None:
    report = proved(agents.Repeating, ["a"], isolation, kill="exit86")
    assert (found(report), report.certificate.adds_up) == ([(REPLAYED, "effect:after#1")], True)


@pytest.mark.parametrize("isolation", ["process", "inline"])
@pytest.mark.parametrize(
    ("when", "plans"),
    [
        ("before", ["effect:before#1", "effect:before#2"]),
        (["after"], ["effect:after#1", "effect:after#2"]),
        (
            {"after": 1, "before": 1},
            ["effect:before#1", "effect:after#1", "effect:before#2", "effect:after#2"],
        ),
    ],
    ids=["before", "after", "both"],
)
def test_the_sides_of_an_effect(when: Any, plans: list[str], isolation: str) -> None:
    report = proved(agents.Careful, ["a", "b"], isolation, when=when)
    assert [scenario.plan for scenario in report.scenarios] == plans


@pytest.mark.parametrize("isolation", ["process", "spawn", "inline"])
def test_a_recovery_that_is_safe_only_once_is_found_at_depth_two(isolation: str) -> None:
    sides = ("before", "after")
    once = proved(agents.SafeOnce, ["a"], isolation, when=sides)
    twice = proved(agents.SafeOnce, ["a"], isolation, when=sides, depth=2)
    kinds = {kind for kind, _ in found(twice)}
    assert (once.passed, kinds) == (True, {REPLAYED}), str(twice)


@pytest.mark.parametrize(
    ("isolation", "dedupe", "resumed"),
    [("process", True, 3), ("process", False, 4), ("spawn", True, 3)],
    ids=["once", "each", "once, spawned"],
)
def test_equal_images_are_resumed_once_unless_each_is_asked_for(
    isolation: str, dedupe: bool, resumed: int
) -> None:
    report = proved(agents.Trusting, ["a", "b"], isolation, dedupe=dedupe)
    certificate = report.certificate
    assert (report.passed, certificate.byte_images, certificate.resumed, certificate.judged) == (
        True,
        3,
        resumed,
        4,
    )


def test_one_plan_is_carried_out_alone_and_kept(tmp_path: Path) -> None:
    report = conform(
        agents.Repeating, ["a", "b"], isolation="process", plan="effect:after#2", keep=tmp_path
    )
    kept = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("done.json"))
    assert (found(report), kept) == (
        [(REPLAYED, "effect:after#2")],
        ["life-1/scenario/subject/done.json", "life-2/scenario/subject/done.json"],
    )


@pytest.mark.parametrize("isolation", ["process", "spawn", "inline"])
def test_the_baseline_alone_is_a_plan(isolation: str) -> None:
    report = proved(agents.Repeating, ["a"], isolation, plan="baseline")
    assert (report.passed, report.crash_points, report.scenarios) == (True, 1, [])


@pytest.mark.parametrize("isolation", ["process", "spawn", "inline"])
def test_scenarios_lie_where_they_are_told_to_and_leave_nothing(
    isolation: str, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    place = tmp_path / "place"
    place.mkdir()
    inputs = [str(notes)]
    report = proved(agents.Seeing, inputs, isolation, directory=place)
    seen = {Path(line).is_relative_to(place) for line in notes.read_text().splitlines()}
    assert (report.passed, seen, list(place.iterdir())) == (True, {True}, [])


RUN_IDS = {
    "process": {"run", "run-1", "run-1-before"},
    "inline": {"run", "run-1"},
}


@pytest.mark.parametrize("run_id", ["run", "r1"])
@pytest.mark.parametrize(("isolation", "run_ids"), RUN_IDS.items(), ids=RUN_IDS)
def test_a_scenario_is_named_for_its_death(
    isolation: str, run_ids: set[str], run_id: str, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    report = proved(agents.Noting, [str(notes)], isolation, run_id=run_id)
    expected = {name.replace("run", run_id, 1) for name in run_ids}
    assert (report.passed, set(notes.read_text().split())) == (True, expected)


# -- what the receiver promises ---------------------------------------------------------------


def test_an_idempotent_receiver_absorbs_a_repeat() -> None:
    report = conform(
        agents.Repeating, ["a"], isolation="process", tool=ToolContract("bank", idempotent=True)
    )
    assert (report.passed, report.certificate.judged) == (True, 2)


def test_a_receiver_without_a_lookup_tells_nothing() -> None:
    with pytest.raises(SubjectFailed, match="LookupNotOffered: tool bank offers no lookup"):
        conform(agents.Careful, ["a"], isolation="process", tool=ToolContract("bank"))


# -- the same again ----------------------------------------------------------------------------


SAME = {
    "repeats": agents.Repeating,
    "tells of its place": agents.Telling,
    "raises": agents.Failing,
}


@pytest.mark.parametrize("agent", SAME.values(), ids=SAME)
def test_a_report_hangs_neither_on_the_jobs_nor_on_the_process(agent: type) -> None:
    reports = {
        subprocess.run(
            [sys.executable, "-m", "tests.conformance.print_report", agent.__qualname__, jobs],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=Path(__file__).parent.parent.parent,
        ).stdout
        for jobs, seed in (("1", "1"), ("2", "2"))
    }
    assert (len(reports), "FAIL" in reports.pop()) == (1, True), reports


@pytest.mark.parametrize(
    "agent",
    [
        # What is found in it is compared above.
        pytest.param(SAME["repeats"], marks=pytest.mark.campaign),
        SAME["tells of its place"],
        SAME["raises"],
    ],
    ids=SAME,
)
def test_forked_and_spawned_lives_give_the_same_report(agent: type) -> None:
    assert str(proved(agent, ["a"], "process")) == str(proved(agent, ["a"], "spawn"))
