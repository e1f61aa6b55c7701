"""Prove a subject: the baseline, then a death at each of its boundaries, on all cores.

The crash points are dealt to the workers by the share they belong to, such that no two workers
ever try the same image; so the report does not depend on how many workers there are.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from resumeproof.crash.plan import CrashPlan, CrashPoint
from resumeproof.domain.conformance import Ambiguity, Certificate, ConformanceReport
from resumeproof.proof.agent import AgentSubject, prepare_host
from resumeproof.proof.course import undisturbed
from resumeproof.proof.crew import Report, Task
from resumeproof.proof.lives import FORKED, Lives
from resumeproof.proof.living import Boundary, LivingSubject
from resumeproof.proof.look import difference
from resumeproof.proof.oracle import judge_baseline
from resumeproof.proof.progress import Progress
from resumeproof.proof.sample import spread
from resumeproof.proof.share import Baseline, NotShareable, Settings, Share
from resumeproof.proof.warming import warm_up
from resumeproof.proof.worker import BaselineRun, Worker

MEMORY_DIRECTORY = Path("/dev/shm")
BASELINE_RUNS = 2


@dataclass(frozen=True)
class _Unshareable:
    """A worker's last word where prefixes cannot be shared."""

    reason: str


def prove(
    subject: LivingSubject,
    settings: Settings,
    *,
    jobs: int | None = None,
    directory: Path | None = None,
    progress: Progress,
    plan: CrashPlan | None = None,
    lives: Lives = FORKED,
) -> ConformanceReport:
    """Prove a subject at all its boundaries, or at one plan, in processes that really die.

    Scenarios lie below `directory`, else on a memory file system where there is one. Raises
    `SubjectFailed` where the subject fails without a crash.
    """
    base = Path(tempfile.mkdtemp(prefix="resumeproof-", dir=directory or scratch_directory()))
    try:
        proof = _Proof(subject, settings, jobs or os.cpu_count() or 1, base, progress, lives)
        return proof.run(plan)
    finally:
        shutil.rmtree(base, ignore_errors=True)


def scratch_directory() -> str | None:
    """A killed process loses nothing that it wrote: a memory file system changes no verdict."""
    usable = MEMORY_DIRECTORY.is_dir() and os.access(MEMORY_DIRECTORY, os.W_OK)
    return str(MEMORY_DIRECTORY) if usable else None


def calls_crashed_at(report: ConformanceReport) -> int:
    """How many calls of an undisturbed life there were, each with two sides to die at."""
    first = [CrashPlan.parse(scenario.plan).points[0] for scenario in report.scenarios]
    return len({(point.boundary.partition(":")[0], point.occurrence) for point in first})


class _Proof:
    def __init__(
        self,
        subject: LivingSubject,
        settings: Settings,
        jobs: int,
        base: Path,
        progress: Progress,
        lives: Lives,
    ) -> None:
        self._subject = subject
        self._settings = settings
        self._jobs = jobs
        self._base = base
        self._progress = progress
        self._lives = lives
        self._serial = 0

    def run(self, plan: CrashPlan | None) -> ConformanceReport:
        baseline = self._baseline()
        report = ConformanceReport(
            crash_points=len(baseline.seen.effects),
            findings=list(baseline.findings),
            nondeterminism=baseline.nondeterminism,
            undisturbed=undisturbed(baseline.seen, baseline.passed),
        )
        if plan is not None:
            # The baseline's own plan has been carried out by now.
            self._merge(report, self._whole(baseline, [[plan]] if plan.points else []))
        elif self._points(baseline):
            shares = self._explored(baseline, report)
            self._merge(report, shares)
        return report

    def _baseline(self) -> Baseline:
        """Two runs without a crash, at once where there are workers for both."""

        def task_of(runs: int) -> Callable[[Worker, Report], object]:
            return lambda worker, report: [worker.baseline_run() for _ in range(runs)]

        at_once = min(self._jobs, BASELINE_RUNS)
        results = self._crew([task_of(BASELINE_RUNS // at_once)] * at_once, None)
        runs = [run for result in results if isinstance(result, list) for run in result]
        first, second = (run for run in runs if isinstance(run, BaselineRun))
        return Baseline(
            seen=first.seen,
            passed=first.outcome.passed,
            findings=tuple(judge_baseline(first.seen)),
            nondeterminism=difference(first.seen, second.seen),
            unshareable="it asks for its run id" if first.outcome.run_id_was_read else None,
            awaited=first.outcome.awaited,
        )

    def _explored(self, baseline: Baseline, report: ConformanceReport) -> list[Share]:
        points = self._points(baseline)
        jobs = min(self._jobs, len({self._subject.share_of(point) for point in points}))
        self._progress.start(len(points))
        if baseline.unshareable is None and self._lives.traced:
            shares = self._shared(baseline, jobs)
            if not isinstance(shares, _Unshareable):
                return shares
            report.unshareable = shares.reason
            self._progress.start(len(points))
        report.shared_prefixes = False
        dealt: list[list[CrashPlan]] = [[] for _ in range(jobs)]
        for point in points:
            dealt[self._subject.share_of(point) % jobs].append(CrashPlan((CrashPoint(*point),)))
        return self._whole(baseline, dealt)

    def _points(self, baseline: Baseline) -> list[Boundary]:
        """The boundaries of an undisturbed life that are to be tried."""
        return [point for point in baseline.passed if point[0] in self._settings.boundaries]

    def _shared(self, baseline: Baseline, jobs: int) -> list[Share] | _Unshareable:
        """All crash points over shared prefixes, or why that turns out not to be possible."""
        points = self._points(baseline)
        sample = spread(points)
        dealt = [
            frozenset(point for point in points if self._subject.share_of(point) % jobs == number)
            for number in range(jobs)
        ]

        def task_of(number: int) -> Callable[[Worker, Report], object]:
            def task(worker: Worker, report: Report) -> object:
                try:
                    return worker.explore(baseline, dealt[number], sample)
                except NotShareable as error:
                    return _Unshareable(str(error))

            return task

        results = self._crew([task_of(number) for number in range(jobs)], baseline)
        reasons = sorted(each.reason for each in results if isinstance(each, _Unshareable))
        if reasons:
            return _Unshareable(reasons[0])
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
        passed = worker.carry_out(baseline, plan)
        if len(plan.points) >= self._settings.depth:
            return
        for name, occurrence in passed:
            if name in self._settings.boundaries:
                deeper = CrashPlan((*plan.points, CrashPoint(name, occurrence)))
                self._deepen(worker, baseline, deeper)

    def _crew(
        self, tasks: Sequence[Callable[[Worker, Report], object]], baseline: Baseline | None
    ) -> list[object]:
        results: dict[int, object] = {}
        work = [self._at_work(task, baseline) for task in tasks]
        # An exception keeps its frames, and so a generator, alive: workers go before their files.
        with closing(self._lives.workers().run(work)) as messages:
            for message in messages:
                if message.done:
                    results[message.worker] = message.content
                else:
                    self._progress.advance(message.content)
        return [results[number] for number in range(len(tasks))]

    def _at_work(self, task: Callable[[Worker, Report], object], baseline: Baseline | None) -> Task:
        self._serial += 1
        place = self._base / f"worker-{self._serial}"

        def work(report: Report) -> object:
            if baseline is not None and baseline.awaited:
                prepare_host()
            # The few lives of a baseline would not pay it back.
            if (
                baseline is not None
                and self._lives.traced
                and isinstance(self._subject, AgentSubject)
            ):
                warm_up(self._base)
            with self._lives.host(self._subject, report) as host:
                worker = Worker(self._subject, self._settings, host, place, report)
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
        report.absorbed = sum(share.absorbed for share in shares)
        for share in shares:
            report.findings += share.findings
            report.scenarios += [
                replace(scenario, course=share.courses.get(scenario.plan))
                for scenario in share.scenarios
            ]
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
        report.findings.sort(key=lambda each: (each.crash_after, _order(each.plan), each.kind))
        report.scenarios.sort(key=lambda each: _order(each.plan))
        report.invalid = [
            f"{each.plan}: {each.invalid}" for each in report.scenarios if each.invalid is not None
        ]


def _order(plan: str) -> tuple[tuple[int, bool, str], ...]:
    """Plans in the order of their deaths: just before occurrence 10 of a boundary after 9 of it."""
    points = CrashPlan.parse(plan).points
    return tuple(
        (point.occurrence, point.boundary.endswith(":after"), point.boundary) for point in points
    )
