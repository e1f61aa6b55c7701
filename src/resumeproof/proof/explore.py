"""Prove an agent: the baseline, then a death at each of its effects, on all cores.

The crash points are dealt to the workers by the gap they lie in (after effect k and before effect
k+1 belong together, since a subject that keeps nothing leaves the same image at both), so that no
two workers ever try the same image, and the report does not depend on how many there are.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from resumeproof.crash.forked import LifeHost
from resumeproof.crash.plan import CrashPlan, CrashPoint
from resumeproof.domain.conformance import Ambiguity, Certificate, ConformanceReport
from resumeproof.domain.verdict import Finding
from resumeproof.proof.agent import Agent, prepare_host
from resumeproof.proof.context import EFFECT_AFTER, EFFECT_BEFORE
from resumeproof.proof.crew import Crew, Report, Task
from resumeproof.proof.progress import Progress
from resumeproof.proof.worker import Baseline, NotShareable, Settings, Share, Worker

MEMORY_DIRECTORY = Path("/dev/shm")


@dataclass(frozen=True)
class _Unshareable:
    """A worker's last word where prefixes cannot be shared."""

    reason: str


def prove(
    agent: Agent,
    settings: Settings,
    *,
    jobs: int | None = None,
    directory: Path | None = None,
    progress: Progress,
    plan: CrashPlan | None = None,
) -> ConformanceReport:
    """Prove an agent at all its effects, or at one plan, in processes that really die.

    Scenarios lie below `directory`, else on a memory file system where there is one. Raises
    `SubjectFailed` where the subject fails without a crash.
    """
    base = Path(tempfile.mkdtemp(prefix="resumeproof-", dir=directory or _scratch()))
    try:
        return _Proof(agent, settings, jobs or os.cpu_count() or 1, base, progress).run(plan)
    finally:
        shutil.rmtree(base, ignore_errors=True)


def _scratch() -> str | None:
    """A killed process loses nothing that it wrote: a memory file system changes no verdict."""
    usable = MEMORY_DIRECTORY.is_dir() and os.access(MEMORY_DIRECTORY, os.W_OK)
    return str(MEMORY_DIRECTORY) if usable else None


class _Proof:
    def __init__(
        self, agent: Agent, settings: Settings, jobs: int, base: Path, progress: Progress
    ) -> None:
        self._agent = agent
        self._settings = settings
        self._jobs = jobs
        self._base = base
        self._progress = progress
        self._serial = 0

    def run(self, plan: CrashPlan | None) -> ConformanceReport:
        baseline = self._baseline()
        report = ConformanceReport(
            crash_points=len(baseline.seen.effects),
            findings=list(baseline.findings),
            nondeterminism=baseline.nondeterminism,
        )
        if plan is not None:
            self._merge(report, self._whole(baseline, [[plan]]))
        elif baseline.effects_asked:
            shares = self._explored(baseline, report)
            self._merge(report, shares)
        return report

    def _baseline(self) -> Baseline:
        def task(worker: Worker, report: Report) -> object:
            return worker.baseline()

        (baseline,) = self._crew([task], None)
        assert isinstance(baseline, Baseline)
        return baseline

    def _explored(self, baseline: Baseline, report: ConformanceReport) -> list[Share]:
        gaps = baseline.effects_asked + 1
        jobs = min(self._jobs, gaps)
        self._progress.start(baseline.effects_asked * len(self._settings.sides))
        if baseline.shareable:
            shares = self._shared(baseline, jobs)
            if shares is not None:
                return shares
            self._progress.start(baseline.effects_asked * len(self._settings.sides))
        report.shared_prefixes = False
        plans = [
            CrashPlan((CrashPoint(side, occurrence),))
            for occurrence in range(1, baseline.effects_asked + 1)
            for side in self._settings.sides
        ]
        return self._whole(baseline, [plans[number::jobs] for number in range(jobs)])

    def _shared(self, baseline: Baseline, jobs: int) -> list[Share] | None:
        """All crash points over shared prefixes; None where that turns out not to be possible."""

        def task_of(number: int) -> Callable[[Worker, Report], object]:
            def task(worker: Worker, report: Report) -> object:
                try:
                    return worker.explore(
                        baseline,
                        lambda name, occurrence: _gap(name, occurrence) % jobs == number,
                    )
                except NotShareable as error:
                    return _Unshareable(str(error))

            return task

        results = self._crew([task_of(number) for number in range(jobs)], baseline)
        if any(isinstance(result, _Unshareable) for result in results):
            return None
        return [result for result in results if isinstance(result, Share)]

    def _whole(self, baseline: Baseline, dealt: Sequence[Sequence[CrashPlan]]) -> list[Share]:
        """Plans carried out from their beginnings; deeper ones follow from what the resume did."""

        def task_of(plans: Sequence[CrashPlan]) -> Callable[[Worker, Report], object]:
            def task(worker: Worker, report: Report) -> object:
                for plan in plans:
                    self._deepen(worker, baseline, plan)
                return worker.share

            return task

        results = self._crew([task_of(plans) for plans in dealt], baseline)
        return [result for result in results if isinstance(result, Share)]

    def _deepen(self, worker: Worker, baseline: Baseline, plan: CrashPlan) -> None:
        asked = worker.carry_out(baseline, plan)
        if len(plan.points) >= self._settings.depth:
            return
        for occurrence in range(1, asked + 1):
            for side in self._settings.sides:
                deeper = CrashPlan((*plan.points, CrashPoint(side, occurrence)))
                self._deepen(worker, baseline, deeper)

    def _crew(
        self, tasks: Sequence[Callable[[Worker, Report], object]], baseline: Baseline | None
    ) -> list[object]:
        results: list[object] = []
        for message in Crew().run([self._at_work(task, baseline) for task in tasks]):
            if message.done:
                results.append(message.content)
            else:
                self._progress.advance(message.content)
        return results

    def _at_work(self, task: Callable[[Worker, Report], object], baseline: Baseline | None) -> Task:
        self._serial += 1
        place = self._base / f"worker-{self._serial}"

        def work(report: Report) -> object:
            if baseline is not None and baseline.awaited:
                prepare_host()
            with LifeHost() as host:
                worker = Worker(self._agent, self._settings, host, place, report)
                return task(worker, report)

        return work

    def _merge(self, report: ConformanceReport, shares: Sequence[Share]) -> None:
        report.certificate = Certificate(
            enumerated=sum(share.enumerated for share in shares),
            fired=sum(share.fired for share in shares),
            verified=sum(share.verified for share in shares),
            judged=sum(share.judged for share in shares),
            byte_images=len(set().union(*(share.images for share in shares))),
            states=len(set().union(*(share.states for share in shares))),
            resumed=sum(share.resumed for share in shares),
        )
        for share in shares:
            report.findings += share.findings
            report.invalid += share.invalid
        reported = sum(share.reported for share in shares)
        if reported:
            hidden = [finding for share in shares for finding in share.hidden]
            report.findings += hidden
            report.scored = Ambiguity(
                ambiguous=sum(share.ambiguous for share in shares),
                missed=len(hidden),
                reported=reported,
                needless=sum(share.needless for share in shares),
            )
        report.findings.sort(key=_order)
        report.invalid.sort()


def _gap(name: str, occurrence: int) -> int:
    """The gap between two effects in which a boundary lies: after effect k is before k+1."""
    return occurrence if name == EFFECT_AFTER else occurrence - 1


def _order(finding: Finding) -> tuple[int, str, str, str]:
    before = EFFECT_BEFORE in finding.plan.partition(";")[0]
    side = f"{finding.crash_after + before:09}{0 if before else 1}"
    return finding.crash_after, side, finding.plan, str(finding.kind)
