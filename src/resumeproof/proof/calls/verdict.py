"""What came of each state, held against two runs without a crash."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from resumeproof.domain.conformance import (
    DURABLE_CALL,
    Ambiguity,
    Certificate,
    ConformanceReport,
    Scenario,
)
from resumeproof.domain.contract import ToolContract
from resumeproof.domain.verdict import Finding
from resumeproof.proof.calls.states import State
from resumeproof.proof.calls.wording import death_in_words, named, not_covered, told_calls
from resumeproof.proof.calls.worker import Ground, Resumed
from resumeproof.proof.course import undisturbed
from resumeproof.proof.oracle import Place, is_ambiguous, judge


@dataclass(frozen=True)
class Tried:
    """A state, and what became of it; None where it could not be rebuilt.

    `confirmation` is what a real kill says of one that failed.
    """

    state: State
    resumed: Resumed | None
    confirmation: str | None = None

    def findings(self, ground: Ground) -> list[Finding]:
        """Every guarantee that it broke, and how its death came about."""
        if self.resumed is None:
            return []
        recording = self.state.run.recorded.recording
        words = [death_in_words(recording, self.state.points[-1])]
        words += [] if self.confirmation is None else [self.confirmation]
        found = broken(self.state, self.resumed, ground)
        return [replace(each, detail="; ".join((each.detail, *words))) for each in found]


def broken(state: State, resumed: Resumed, ground: Ground) -> list[Finding]:
    """The guarantees that a resume of this state broke: in effects, in state, in its files."""
    place, seen = Place(state.plan, state.committed[0]), resumed.seen
    findings = judge(place, ground.baseline.seen, seen)
    # An honest doubt may show in any file.
    if not (seen.hung or seen.raised is not None or seen.doubts):
        for violation in ground.files.violations(resumed.files.without(ground.differing)):
            findings.append(place.finding(violation.kind, violation.detail))
    return findings


def report_of(ground: Ground, tried: Sequence[Tried], contract: ToolContract) -> ConformanceReport:
    """The report of all states that were tried, in the order in which they were enumerated."""
    recording = ground.run.recorded.recording
    seen = ground.baseline.seen
    calls = told_calls(recording, _committed(ground))
    report = ConformanceReport(
        crash_points=len(recording.calls) if tried else 0,
        findings=list(ground.baseline.findings),
        scenarios=[_scenario(each, ground) for each in tried],
        nondeterminism=_nondeterminism(ground),
        crashes_at=DURABLE_CALL,
        undisturbed=replace(undisturbed(seen, ()), passed=calls.passed, words=calls.words),
        not_covered=tuple(not_covered(recording)),
    )
    for each in tried:
        report.findings += each.findings(ground)
    report.invalid = [
        f"{each.plan}: {each.invalid}" for each in report.scenarios if each.invalid is not None
    ]
    report.certificate = _certificate(tried)
    report.scored = _scored(tried, contract)
    return report


def _committed(ground: Ground) -> dict[int, int]:
    """How many effects there were after each call of the recorded life."""
    whole = [death for death in ground.run.deaths if death.state.cut is None]
    return {death.state.ordinal: death.effects for death in whole}


def _scenario(tried: Tried, ground: Ground) -> Scenario:
    # Every life was given the run id of the first, which may be in what was rebuilt.
    state, resumed = tried.state, tried.resumed
    course = None
    if resumed is not None:
        course = ground.baseline.courses.of(state.committed, resumed.seen)
    invalid = None if state.invalid is None else named(state.invalid)
    return Scenario(state.plan, state.plan, invalid, course=course)


def _nondeterminism(ground: Ground) -> str | None:
    told = [] if ground.baseline.nondeterminism is None else [ground.baseline.nondeterminism]
    if ground.differing:
        told.append(f"what they left: {', '.join(sorted(ground.differing))}")
    return "; ".join(told) or None


def _certificate(tried: Sequence[Tried]) -> Certificate:
    """A state is verified where its recording accounts for all that the life left."""
    rebuilt = [each.state for each in tried if each.state.invalid is None]
    meanings = {each.resumed.meaning for each in tried if each.resumed is not None}
    return Certificate(
        enumerated=len(tried),
        fired=len(tried),
        verified=len(rebuilt),
        judged=len(tried),
        byte_images=len({state.death.digest for state in rebuilt}),
        states=len(meanings),
        resumed=len({state.image for state in rebuilt}),
    )


def _scored(tried: Sequence[Tried], contract: ToolContract) -> Ambiguity | None:
    """How many doubts were reported. At which effect a life died between two of its calls, no
    boundary tells, and so not whether a doubt was missed.
    """
    reported = sum(len(each.resumed.seen.doubts) for each in tried if each.resumed is not None)
    if not reported:
        return None
    return Ambiguity(reported=reported, needless=0 if is_ambiguous(contract) else reported)
