"""A pytest plugin: a run of scenarios ends with its certificate, and fails if that does not add up.

    crash points enumerated = kills fired = kills verified;  scenarios enumerated = judged

What was enumerated is taken from the tests that were collected, what happened from the reports of
those that ran, so that a scenario that was skipped, or lost with a worker, shows. A scenario is a
test's parameter `scenario`, whose `reached` says of each of its crash points whether a life can
come to it. Loaded by `-p tests.crash.certificate`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

from resumeproof.domain.observation import ScenarioRun

PROPERTY = "scenario"
_PLANNED = "planned"


def tally(run: ScenarioRun) -> dict[str, int]:
    """What happened in one run that is judged: counts by name."""
    planned = [life for life in run.lives if life.planned]
    fired = [life for life in planned if life.witnessed]
    return {
        "judged": 1,
        "fired": len(fired),
        "verified": len(fired) if run.invalid is None else 0,
        "unreached": len(planned) - len(fired),
    }


def _enumerated(items: list[pytest.Item]) -> dict[str, int]:
    scenarios: list[Any] = [
        item.callspec.params["scenario"]
        for item in items
        if isinstance(item, pytest.Function)
        and hasattr(item, "callspec")
        and "scenario" in item.callspec.params
    ]
    points = [reached for scenario in scenarios for reached in scenario.reached]
    return {
        "scenarios": len(scenarios),
        "points": points.count(True),
        "unreachable": points.count(False),
    }


class Certificate:
    """Adds up over all workers, in the process that reports."""

    def __init__(self) -> None:
        self.enumerated: Mapping[str, int] = {}
        self.happened: Counter[str] = Counter()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.enumerated = _enumerated(session.items)
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput[_PLANNED] = self.enumerated

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        # Each worker collects all tests; one that crashed says nothing, and another stands in.
        self.enumerated = getattr(node, "workeroutput", {}).get(_PLANNED, self.enumerated)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":
            for name, counts in report.user_properties:
                if name == PROPERTY and isinstance(counts, dict):
                    self.happened.update(counts)

    @property
    def sums(self) -> list[tuple[str, list[tuple[str, int]]]]:
        """What must be equal, line by line."""
        due, done = self.enumerated, self.happened
        return [
            ("scenarios", [("enumerated", due.get("scenarios", 0)), ("judged", done["judged"])]),
            (
                "crash points",
                [
                    ("enumerated", due.get("points", 0)),
                    ("kills fired", done["fired"]),
                    ("kills verified", done["verified"]),
                ],
            ),
            (
                "out of reach",
                [("enumerated", due.get("unreachable", 0)), ("unreached", done["unreached"])],
            ),
        ]

    @property
    def adds_up(self) -> bool:
        return all(len({count for _, count in counts}) == 1 for _, counts in self.sums)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if not self.adds_up and not hasattr(session.config, "workeroutput"):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        terminalreporter.section("certificate")
        for what, counts in self.sums:
            told = " = ".join(f"{name} {count}" for name, count in counts)
            terminalreporter.line(f"{what}: {told}")
        if not self.adds_up:
            terminalreporter.line("the certificate does not add up", red=True)


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Certificate(), "certificate")
