"""Prove an agent at each durable system call of its lives.

One life is recorded, what a kill leaves at each of its calls is rebuilt, and each image is resumed
once; of those that fail, the life is killed for real where the rebuilt one died.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from resumeproof.crash.plan import CrashPlan
from resumeproof.crash.syscalls.operations import Recording
from resumeproof.crash.syscalls.strace import find_strace
from resumeproof.domain.conformance import ConformanceReport
from resumeproof.proof.agent import AGENT_NAME, AgentSubject
from resumeproof.proof.calls.court import Court
from resumeproof.proof.calls.states import Images, State
from resumeproof.proof.calls.verdict import Tried, broken, report_of
from resumeproof.proof.calls.worker import CallWorker, Ground, Resumed, Run
from resumeproof.proof.commands.exploring import mentions
from resumeproof.proof.explore import scratch_directory
from resumeproof.proof.kept import keep_rebuilt
from resumeproof.proof.progress import Progress
from resumeproof.proof.share import Settings

CONFIRMED_AT_MOST: Final = 25
"""So many failing states are killed for real; nobody reads more."""


def prove_calls(
    subject: AgentSubject,
    settings: Settings,
    *,
    ignored: Sequence[str] = (),
    jobs: int | None = None,
    directory: Path | None = None,
    progress: Progress,
    plan: CrashPlan | None = None,
) -> ConformanceReport:
    """Prove an agent at all its durable calls, or at one plan.

    Final files that a glob of `ignored` matches are not compared. Raises `SubjectFailed` where the
    agent fails without a crash, `StraceMissing`, and `TracingForbidden`.
    """
    find_strace()
    base = Path(tempfile.mkdtemp(prefix="resumeproof-", dir=directory or scratch_directory()))
    try:
        court = Court(subject, settings, tuple(ignored), jobs or os.cpu_count() or 1, base)
        return _Proof(court, progress).run(plan)
    finally:
        shutil.rmtree(base, ignore_errors=True)


class _Proof:
    def __init__(self, court: Court, progress: Progress) -> None:
        self._court = court
        self._settings = court.settings
        self._progress = progress
        self._images = Images(court.settings.dedupe)
        self._resumed: dict[str, Resumed] = {}
        self._deepened: set[str] = set()

    def run(self, plan: CrashPlan | None) -> ConformanceReport:
        (ground,) = self._court.each([None], lambda worker, _: worker.ground())
        self._court.awaits = ground.baseline.awaited
        recording = ground.run.recorded.recording
        if mentions(recording, self._court.place()):
            # What is rebuilt elsewhere would point to where the life was recorded.
            self._court.jobs = 1
        if plan is None:
            states = self._all(ground) if _does_something(ground, recording) else []
        else:
            states = self._alone(ground, plan) if plan.points else []
        tried = [Tried(state, self._resumed.get(state.image)) for state in states]
        tried = self._confirmed(tried, ground)
        return report_of(ground, tried, self._court.subject.contract)

    def _all(self, ground: Ground) -> list[State]:
        level = self._images.of_run(ground.run)
        self._progress.start(len(level))
        self._resume(level, ground)
        states = level
        for _ in range(1, self._settings.depth):
            level = self._deeper(level, ground)
            self._resume(level, ground)
            states = [*states, *level]
        return states

    def _alone(self, ground: Ground, plan: CrashPlan) -> list[State]:
        """The state of one plan. Raises `PlanRefused` where the lives come to none such."""
        *before, last = plan.points
        run, state = ground.run, None
        for point in before:
            state = self._images.at(run, point, state)
            self._keep(state)
            (run,) = self._recorded([state])
        state = self._images.at(run, last, state)
        self._keep(state)
        self._progress.start(1)
        self._resume([state], ground)
        return [state]

    def _keep(self, state: State) -> None:
        if self._settings.keep is not None:
            tree = self._images.trees[state.image]
            keep_rebuilt(self._settings.keep, len(state.points), tree, state.points[-1])

    def _resume(self, states: Sequence[State], ground: Ground) -> None:
        """Resume each image that was not resumed before."""
        of_image: dict[str, list[State]] = {}
        for state in states:
            if state.invalid is None:
                of_image.setdefault(state.image, []).append(state)
            else:
                self._progress.advance(())

        def resume(worker: CallWorker, image: str) -> Resumed:
            life = len(of_image[image][0].points) + 1
            return worker.resume(self._images.trees[image], life, self._settings.keep)

        def done(image: str, resumed: Resumed) -> None:
            self._resumed[image] = resumed
            for state in of_image[image]:
                self._progress.advance(broken(state, resumed, ground))

        known = [image for image in of_image if image in self._resumed]
        for image in known:
            done(image, self._resumed[image])
        self._court.each([image for image in of_image if image not in known], resume, done)

    def _deeper(self, level: Sequence[State], ground: Ground) -> list[State]:
        """The states of each resume that begins with another meaning, and comes to its end."""
        chosen = []
        for state in level:
            resumed = self._resumed.get(state.image)
            if resumed is None or resumed.meaning in self._deepened:
                continue
            if not broken(state, resumed, ground):
                self._deepened.add(resumed.meaning)
                chosen.append(state)
        runs = zip(chosen, self._recorded(chosen), strict=True)
        return [deeper for state, run in runs for deeper in self._images.of_run(run, state)]

    def _recorded(self, states: Sequence[State]) -> list[Run]:
        """Record the resume of each."""

        def record(worker: CallWorker, state: State) -> Run:
            return worker.record(self._images.trees[state.image], len(state.points) + 1)

        return self._court.each(states, record)

    def _confirmed(self, tried: Sequence[Tried], ground: Ground) -> list[Tried]:
        """The same, with what a real kill says of those that fail."""
        failing = [each for each in tried if each.findings(ground)]

        def kill(worker: CallWorker, each: Tried) -> tuple[str | None, Resumed | None]:
            return worker.kill(each.state.run, each.state.death)

        looked_at = failing[:CONFIRMED_AT_MOST]
        told = {
            each.state.plan: _confirmation(each, *killed, ground)
            for each, killed in zip(looked_at, self._court.each(looked_at, kill), strict=True)
        }
        beyond = f"unconfirmed: only the first {CONFIRMED_AT_MOST} failing states were killed"
        told |= {each.state.plan: beyond for each in failing[CONFIRMED_AT_MOST:]}
        return [replace(each, confirmation=told.get(each.state.plan)) for each in tried]


def _does_something(ground: Ground, recording: Recording) -> bool:
    """Whether there is anything of the agent's own, and not only of its receiver being opened."""
    paths = (getattr(call.operation, "path", None) or "" for call in recording.calls)
    return bool(ground.baseline.seen.effects) or any(_is_its_own(path) for path in paths)


def _is_its_own(path: str) -> bool:
    return path == AGENT_NAME or path.startswith(f"{AGENT_NAME}/")


def _confirmation(
    tried: Tried, problem: str | None, resumed: Resumed | None, ground: Ground
) -> str:
    """What a real kill of a life says of a state that fails; `resumed` if it left another one."""
    if problem is not None:
        return f"unconfirmed: {problem}"
    if resumed is None:
        return "confirmed: a life was killed there, and left the same"
    found = broken(tried.state, resumed, ground)
    if {each.kind for each in found} & {each.kind for each in tried.findings(ground)}:
        return "confirmed: a life was killed there, and failed likewise"
    return "unconfirmed: a life was killed there, and its resume did not fail likewise"
