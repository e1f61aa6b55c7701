"""The in-process model: a death is only an exception, and its resume another object.

What it shows is little: `finally` runs, buffers are flushed, what was only in memory may still be
there. It is for platforms without fork, and for tests that were written for this model. Its
receiver is a list; an effect without a key is not compared, no fresh life reads the state again,
and the baseline runs once. A subject without `state()` is compared by its public attributes.
"""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resumeproof.crash.plan import CrashPlan, CrashPoint
from resumeproof.domain.conformance import Certificate, ConformanceReport, Scenario
from resumeproof.errors import SubjectFailed
from resumeproof.proof.agent import AgentSubject, described, doubts_in, shown_state
from resumeproof.proof.awaiting import Awaiting
from resumeproof.proof.comparison import Wording
from resumeproof.proof.context import (
    EFFECT_AFTER,
    EFFECT_BEFORE,
    Context,
    Effect,
    EffectLog,
    InjectedCrash,
)
from resumeproof.proof.course import Courses, undisturbed
from resumeproof.proof.living import Boundary
from resumeproof.proof.look import effects_seen
from resumeproof.proof.oracle import NO_STATE, Place, Seen, judge
from resumeproof.proof.progress import Progress
from resumeproof.proof.share import Settings, scenario_run_id

_DEATHS = (Exception, InjectedCrash, SystemExit)
"""What ends a played life. Not KeyboardInterrupt, nor what a test framework raises to skip."""


@dataclass(frozen=True)
class _Ending:
    """How a played life ended: `error` is what it raised, `state` what it showed at its end."""

    state: Any = NO_STATE
    error: BaseException | None = None
    doubts: tuple[str, ...] = ()
    doubts_told: bool = False


def prove_inline(
    subject: AgentSubject,
    settings: Settings,
    *,
    directory: Path | None = None,
    progress: Progress,
    plan: CrashPlan | None = None,
) -> ConformanceReport:
    """Prove a subject at all its boundaries, or at one plan, in this process.

    Raises `SubjectFailed` where the subject fails without a crash.
    """
    base = Path(tempfile.mkdtemp(prefix="resumeproof-", dir=directory))
    try:
        return _InlineProof(subject, settings, base, progress).run(plan)
    finally:
        shutil.rmtree(base, ignore_errors=True)


class _InlineProof:
    def __init__(
        self, subject: AgentSubject, settings: Settings, base: Path, progress: Progress
    ) -> None:
        self._subject = subject
        self._settings = settings
        self._base = base
        self._progress = progress
        self._numbers: dict[str, int] = {}
        self._fired = 0
        self._courses = Courses(())
        self._report = ConformanceReport(shared_prefixes=False)

    def run(self, plan: CrashPlan | None) -> ConformanceReport:
        report = self._report
        log = EffectLog()
        baseline = self._baseline(log)
        report.crash_points = len(log.effects)
        report.undisturbed = undisturbed(baseline, self._boundaries(report.crash_points))
        self._courses = Courses(baseline.effects)
        plans = self._plans(report.crash_points) if plan is None else [plan]
        self._progress.start(len(plans))
        for each in plans:
            if each.points:
                self._deepen(baseline, each)
        report.certificate = Certificate(
            enumerated=len(report.scenarios),
            fired=self._fired,
            verified=self._fired,
            judged=self._fired,
            resumed=self._fired,
        )
        return report

    def _baseline(self, log: EffectLog) -> Seen:
        ending = self._live(self._settings.run_id, log)
        if ending.error is not None:
            reason = described(ending.error)
            raise SubjectFailed("the baseline", reason) from ending.error
        return self._seen(self._settings.run_id, log, ending)

    def _plans(self, effects: int) -> list[CrashPlan]:
        """One death each, in the order of the life: before effect 2 after effect 1."""
        return [
            CrashPlan((CrashPoint(*boundary),))
            for boundary in self._boundaries(effects)
            if boundary[0] in self._settings.boundaries
        ]

    def _boundaries(self, effects: int) -> list[Boundary]:
        return [
            (name, occurrence)
            for occurrence in range(1, effects + 1)
            for name in (EFFECT_BEFORE, EFFECT_AFTER)
        ]

    def _deepen(self, baseline: Seen, plan: CrashPlan) -> None:
        """Carry a plan out, then each that kills its last life as well, as deep as was asked."""
        effects = self._carry_out(baseline, plan)
        if len(plan.points) < self._settings.depth:
            for deeper in self._plans(effects):
                self._deepen(baseline, CrashPlan((*plan.points, *deeper.points)))

    def _carry_out(self, baseline: Seen, plan: CrashPlan) -> int:
        """Play a plan, judge it, and return how many effects the last life had.

        Where a life did not die as planned the scenario is invalid. It is judged all the same, as
        the model has it, and not killed any deeper.
        """
        run_id = scenario_run_id(self._settings.run_id, plan.points)
        log = EffectLog()
        problem: str | None = None
        committed: list[int] = []
        for point in plan.points:
            problem = problem or self._die(run_id, log, point)
            committed.append(len(_keyed(log)))
        before = len(log.effects)
        if problem is None:
            self._fired += 1
        else:
            self._report.invalid.append(f"{plan}: {problem}")
        ending = self._live(run_id, log)
        first = plan.points[0]
        place = Place(str(plan), first.occurrence - (first.boundary == EFFECT_BEFORE))
        seen = self._seen(run_id, log, ending)
        course = self._courses.of(committed, seen)
        self._report.scenarios.append(Scenario(str(plan), run_id, problem, course=course))
        findings = judge(place, baseline, seen)
        self._report.findings += findings
        self._progress.advance(findings)
        return len(log.effects) - before if problem is None else 0

    def _die(self, run_id: str, log: EffectLog, point: CrashPoint) -> str | None:
        """Play a life that dies at a point; tell why it did not, None if it did."""
        trap = _Trap(point)
        ending = self._live(run_id, log, trap)
        if trap.fired:
            return None
        how = "ended by itself" if ending.error is None else f"raised {described(ending.error)}"
        return f"planned a death at {point}, but it {how}"

    def _live(self, run_id: str, log: EffectLog, trap: _Trap | None = None) -> _Ending:
        place = self._place(run_id)
        place.mkdir(exist_ok=True)
        context = Context(
            run_id,
            log,
            directory=place,
            contract=self._subject.contract,
            at_boundary=None if trap is None else trap.reach,
        )
        with Awaiting() as awaiting:
            try:
                subject = self._subject.feed(context, awaiting.settle)
                state = shown_state(subject, awaiting.settle)
                if state is NO_STATE:
                    state = _public_attributes(subject)
            except _DEATHS as error:
                # A death that was kept would keep the dead life's frames, and what they hold.
                died = trap is not None and trap.fired
                return _Ending(error=None if died else error)
        shown = () if state is NO_STATE else doubts_in(state)
        return _Ending(
            state,
            doubts=(*context.doubts, *shown),
            doubts_told=bool(context.doubts),
        )

    def _place(self, run_id: str) -> Path:
        """A scenario's own directory; a run id may hold what no file name does."""
        number = self._numbers.setdefault(run_id, len(self._numbers))
        return self._base / f"scenario-{number}"

    def _seen(self, run_id: str, log: EffectLog, ending: _Ending) -> Seen:
        wording = Wording(run_id, self._settings.run_id, str(self._place(run_id)))
        state = ending.state if ending.state is NO_STATE else wording.neutral(ending.state)
        return Seen(
            effects=effects_seen(_keyed(log), wording),
            state=state,
            reread=state,
            doubts=ending.doubts,
            doubts_told=ending.doubts_told,
            raised=None if ending.error is None else wording.neutral(described(ending.error)),
        )


def _keyed(log: EffectLog) -> list[Effect]:
    """What is compared: an effect without a key is not."""
    return [effect for effect in log.effects if effect.key is not None]


class _Trap:
    """Raises at its point, and from then on: a dead process has no more effects."""

    def __init__(self, point: CrashPoint) -> None:
        self._point = point
        self.fired = False

    def reach(self, name: str, occurrence: int) -> None:
        if self.fired or (name, occurrence) == (self._point.boundary, self._point.occurrence):
            self.fired = True
            side = name.partition(":")[2]
            raise InjectedCrash(f"crash {side} effect #{occurrence}")


def _public_attributes(subject: Any) -> Any:
    """What a subject without `state()` lets everybody see; its context is not its own."""
    try:
        attributes = vars(subject)
    except TypeError:
        return NO_STATE
    return {
        name: value
        for name, value in attributes.items()
        if not name.startswith("_") and name != "ctx"
    }
