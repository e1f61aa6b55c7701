"""What `explore` tells: one document for programs, and a few lines for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from resumeproof.crash.plan import CrashPlan
from resumeproof.crash.syscalls.device import POSIX
from resumeproof.domain.conformance import PLAN_PLACE, ConformanceReport, Exploration
from resumeproof.proof.commands.discoveries import Discovery
from resumeproof.proof.commands.exploring import Explored
from resumeproof.proof.commands.report import report_of
from resumeproof.proof.commands.settings import Settings

_SAFE = {True: "yes", False: "NO", None: "not known"}


@dataclass(frozen=True)
class Found:
    """What was asked of a program, and what came of it; `plan` where one state alone was tried."""

    settings: Settings
    explored: Explored
    discoveries: Sequence[Discovery]
    plan: CrashPlan | None


@dataclass(frozen=True)
class Told:
    """The same in words. `replay` is a command line in which `{plan}` stands for a plan."""

    found: Found
    replay: str

    @cached_property
    def report(self) -> ConformanceReport:
        """The report of it, as of every proof."""
        report = report_of(
            self.found.settings, self.found.explored, self.found.discoveries, self.found.plan
        )
        report.replay = self.replay
        return report

    @property
    def answers(self) -> Exploration:
        assert self.report.exploration is not None
        return self.report.exploration

    @property
    def headline(self) -> str:
        """The verdict in one line."""
        report = self.report
        if report.nothing_proved and report.passed:
            return "explore: PASS, but nothing proved: the program makes no durable call"
        verdict = "PASS" if report.passed else "FAIL"
        if self.found.plan is not None:
            return f"explore: {verdict}, of the state {self.found.plan} alone"
        asked = self.found.settings.power_loss
        power_safe = _SAFE[self.answers.power_safe] if asked else "not asked"
        kill_safe = _SAFE[self.answers.kill_safe]
        return f"explore: {verdict}; kill-safe: {kill_safe}, power-safe: {power_safe}"

    def replay_of(self, each: Discovery) -> str:
        """The command that tries one state alone."""
        return self.replay.replace(PLAN_PLACE, each.state.plan)

    def document(self) -> dict[str, Any]:
        """For programs."""
        report, answers, explored = self.report, self.answers, self.found.explored
        recording = explored.baseline.recorded.recording
        power = explored.power
        return {
            "passed": report.passed,
            "kill_safe": answers.kill_safe,
            "power_safe": answers.power_safe,
            "nothing_proved": report.nothing_proved,
            "command": answers.command,
            "resume": answers.resume,
            "check": answers.check,
            "findings": [self._discovered(each) for each in self.found.discoveries],
            "failing_states": len({finding.plan for finding in report.findings}),
            "invalid": report.invalid,
            "nondeterminism": report.nondeterminism,
            "not_covered": list(answers.not_covered),
            "certificate": asdict(report.certificate) | {"boundaries": self._boundaries},
            "power": None
            if power is None
            else {"device_model": POSIX.name, "ways": power.ways, "untried": power.untried},
            "calls": report.crash_points,
            "processes": [list(process.command_line) for process in recording.processes],
            "domains": list(recording.domains),
        }

    def lines(self) -> Iterator[str]:
        """For people, below the headline."""
        explored = self.found.explored
        if self.report.nondeterminism:
            differed = self.report.nondeterminism
            yield f"  not deterministic: two runs without a crash differ in {differed}"
        for text in self.answers.not_covered:
            yield f"  note: {text}"
        for each in self.found.discoveries:
            yield from self._lines_of(each)
        yield from self._invalid()
        yield f"  {self._certificate}"
        if explored.power is not None and self.found.plan is None:
            yield f"  {self._power}"

    def _discovered(self, each: Discovery) -> dict[str, Any]:
        return {
            "kind": str(each.kind),
            "detail": each.violation.detail,
            "power_loss": each.state.power,
            "plan": each.state.plan,
            "crash_after": each.state.after,
            "states": each.states,
            "explanation": list(each.explanation),
            "confirmed": each.confirmed,
            "unconfirmed": each.unconfirmed,
            "replay": self.replay_of(each),
        }

    def _lines_of(self, each: Discovery) -> Iterator[str]:
        how = "after a power cut" if each.state.power else "after a kill"
        yield f"  [{each.kind}] {how}: {each.violation.detail}"
        for line in each.explanation:
            yield f"      {line}"
        if each.confirmed:
            yield "      confirmed: the program was killed there, and it failed likewise"
        elif each.unconfirmed is not None:
            yield f"      unconfirmed: {each.unconfirmed}"
        if each.states > 1:
            yield f"      and likewise in {each.states - 1} more state(s)"
        yield f"      replay: {self.replay_of(each)}"

    def _invalid(self) -> Iterator[str]:
        """Why states prove nothing, each reason once."""
        reasons = [each.invalid for each in self.report.scenarios if each.invalid is not None]
        for reason, count in Counter(reasons).items():
            yield f"  [invalid] {count} state(s): {reason}"

    @property
    def _boundaries(self) -> int:
        return sum(state.origins for state in self.found.explored.images.states)

    @property
    def _certificate(self) -> str:
        figures = self.report.certificate
        return (
            f"{self.report.crash_points} durable calls, {self._boundaries} places to crash, "
            f"{figures.enumerated} states rebuilt, {figures.verified} verified, "
            f"{figures.judged} judged; {figures.byte_images} images, {figures.states} meanings"
        )

    @property
    def _power(self) -> str:
        power = self.found.explored.power
        assert power is not None
        left = "all of them tried, or like one that was for all that resume and check read"
        if power.untried:
            left = f"{power.untried} of them were not tried"
        return f"power cut, by the device model {POSIX.name!r}: {power.ways} ways to lose, {left}"
