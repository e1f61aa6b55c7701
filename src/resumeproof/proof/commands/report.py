"""What an exploration comes to, in the form of every proof."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from resumeproof.crash.plan import BASELINE, CrashPlan
from resumeproof.crash.syscalls.device import POSIX
from resumeproof.crash.syscalls.operations import Recording
from resumeproof.domain.conformance import (
    Certificate,
    ConformanceReport,
    Exploration,
    ProofTerms,
    Scenario,
)
from resumeproof.domain.contract import ToolContract
from resumeproof.domain.course import Undisturbed
from resumeproof.domain.verdict import Finding, Violation
from resumeproof.proof.commands.discoveries import Discovery, failing
from resumeproof.proof.commands.exploring import Explored
from resumeproof.proof.commands.images import State
from resumeproof.proof.commands.notes import notes_of
from resumeproof.proof.commands.settings import Settings
from resumeproof.proof.commands.wording import in_words, lost_in_words

POWER_LOSS = "power_loss"
NO_RESUME = "none"


def report_of(
    settings: Settings,
    explored: Explored,
    discoveries: Sequence[Discovery] = (),
    plan: CrashPlan | None = None,
) -> ConformanceReport:
    """The report of an exploration, or of one plan of it; the discoveries explain findings."""
    recorded = explored.baseline.recorded
    explanations = {(each.state.plan, each.violation): each.explanation for each in discoveries}

    def detail(state: State, violation: Violation) -> str:
        return "; ".join((violation.detail, *explanations.get((state.plan, violation), ())))

    report = ConformanceReport(
        crash_points=len(recorded.recording.calls),
        findings=[
            Finding(violation.kind, state.after, detail(state, violation), state.plan)
            for state, violation in failing(explored)
        ],
        scenarios=[_scenario(state, explored) for state in explored.images.states],
        nondeterminism=explored.baseline.nondeterminism,
        shared_prefixes=True,
        crashes_at="durable call",
        terms=_terms(settings, plan),
        undisturbed=_undisturbed(recorded.recording),
        exploration=_exploration(settings, explored, alone=plan is not None),
    )
    report.invalid = [
        f"{scenario.plan}: {scenario.invalid}"
        for scenario in report.scenarios
        if scenario.invalid is not None
    ]
    report.certificate = _certificate(report, explored)
    return report


def _undisturbed(recording: Recording) -> Undisturbed:
    """Every call with its two sides, each of them in words."""
    sides = [(call, side) for call in recording.calls for side in ("before", "after")]
    return Undisturbed(
        passed=tuple(f"call:{side}#{call.ordinal}" for call, side in sides),
        words=tuple(in_words(call) for call, _ in sides),
    )


def _scenario(state: State, explored: Explored) -> Scenario:
    invalid = next(
        (reason for plan, reason in explored.invalid.items() if _rests_on(state.plan, plan)), None
    )
    kill = POWER_LOSS if state.power else None
    return Scenario(state.plan, state.plan, invalid, kill, lost_in_words(state.plan))


def _rests_on(plan: str, recorded_after: str) -> bool:
    """Whether a state was rebuilt from the recording of what came after that plan."""
    return recorded_after == BASELINE or plan.startswith(f"{recorded_after};")


def _certificate(report: ConformanceReport, explored: Explored) -> Certificate:
    """A state is verified where its recording accounts for all that the program left."""
    states = len(report.scenarios)
    return Certificate(
        enumerated=states,
        fired=states,
        verified=states - len(report.invalid),
        judged=states,
        byte_images=len(explored.images.images),
        states=len({judged.meaning for judged in explored.judged}),
        resumed=len(explored.images.images),
    )


def _terms(settings: Settings, plan: CrashPlan | None) -> ProofTerms:
    return ProofTerms(
        subject=settings.command.text,
        inputs=[],
        contract=ToolContract("program"),
        isolation="program",
        depth=settings.depth,
        timeout_seconds=settings.timeout_seconds,
        plan=None if plan is None else str(plan),
    )


def _exploration(settings: Settings, explored: Explored, *, alone: bool) -> Exploration:
    """What was asked, and the answers; one state `alone` can only say that something is unsafe."""
    recording = explored.baseline.recorded.recording
    return Exploration(
        command=settings.command.text,
        resume=NO_RESUME if settings.resume is None else settings.resume.text,
        check=None if settings.check is None else settings.check.text,
        kill_safe=_safe(explored, power=False, alone=alone),
        power_safe=_safe(explored, power=True, alone=alone) if settings.power_loss else None,
        device_model="\n".join(POSIX.rules) if settings.power_loss else None,
        domains=tuple(recording.domains),
        not_covered=(
            *notes_of(recording),
            *_of_the_resume(explored),
            *(() if alone else _untried(explored)),
        ),
    )


def _of_the_resume(explored: Explored) -> Iterator[str]:
    fails = explored.baseline.resume_fails
    if fails is not None:
        yield f"without a crash the resume fails as well, and only the check counts: {fails}"


def _untried(explored: Explored) -> Iterator[str]:
    power = explored.power
    if power is not None and power.untried:
        yield f"of {power.ways} ways to lose at a power cut {power.untried} were not tried"


def _safe(explored: Explored, *, power: bool, alone: bool) -> bool | None:
    """Whether no state of this sort fails; None where that is not known.

    Whoever does not survive a kill does not survive a power cut either: the disk may have kept all.
    """
    tried = [state for state in explored.images.states if power or not state.power]
    if any(explored.violations(state) for state in tried):
        return False
    untried = power and explored.power is not None and explored.power.untried
    return None if alone or explored.invalid or untried or not tried else True
