"""Explore a program: record it, rebuild what crashes can leave, resume and judge each."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from resumeproof.crash.clearing import clear_away
from resumeproof.crash.plan import BASELINE, CrashPlan
from resumeproof.crash.syscalls.observation import Observation
from resumeproof.crash.syscalls.operations import Recording, SymbolicLink, Write
from resumeproof.crash.syscalls.power import PowerLoss, is_power_point
from resumeproof.crash.syscalls.states import Output
from resumeproof.crash.syscalls.tree import Tree
from resumeproof.domain.verdict import Finding, Violation
from resumeproof.errors import PlanRefused
from resumeproof.proof.commands.baseline import Baseline, run_baseline
from resumeproof.proof.commands.court import Court
from resumeproof.proof.commands.images import (
    Image,
    Images,
    State,
    add_cut,
    add_killed,
    add_powerless,
    powerless,
)
from resumeproof.proof.commands.recorded import Recorded, Run, record_in, tree_of
from resumeproof.proof.commands.settings import Settings
from resumeproof.proof.commands.site import Judged, Site
from resumeproof.proof.commands.watching import Watched, watch
from resumeproof.proof.explore import scratch_directory
from resumeproof.proof.image import copy_image
from resumeproof.proof.progress import Progress

COPIES = 3
"""Of the directory, for each worker: as it is rebuilt, as it was recorded, and a database alone."""

ROOM_BYTES = 256 << 20
"""For what the program adds to it."""

CRASHED_NAME = "crashed"
RESUMED_NAME = "resumed"
PRINTED_NAME = "printed.txt"
VERDICT_NAME = "verdict.txt"


@dataclass
class Explored:
    """All that was tried: the states, the images that they come down to, and what came of those.

    `invalid` says by plan why a state proves nothing. `power` is what the disk could lose, None
    where that was not asked. `runs` are the recorded lives, by the plan of the deaths before each.
    """

    baseline: Baseline
    images: Images
    judged: list[Judged] = field(default_factory=list)
    invalid: dict[str, str] = field(default_factory=dict)
    power: PowerLoss | None = None
    runs: dict[str, Run] = field(default_factory=dict)

    def add(self, state: State, image: Image, judged: Judged | None) -> None:
        """Note a state that was come to later, and what came of it if that was not known."""
        if any(known.plan == state.plan for known in self.images.states):
            return
        number = self.images.number(image.tree, image.printed)
        if judged is not None and number == len(self.judged):
            self.judged.append(judged)
        self.images.states.append(replace(state, image=number))

    def violations(self, state: State) -> Sequence[Violation]:
        """What is wrong once a state was resumed."""
        return self.judged[state.image].violations


class Explorer:
    """Explores one program in a directory of its own. Use as a context manager."""

    def __init__(self, settings: Settings, jobs: int | None, progress: Progress) -> None:
        self._settings = settings
        self._jobs = jobs or os.cpu_count() or 1
        self._progress = progress
        self._deepened: set[str] = set()

    def __enter__(self) -> Explorer:
        scratch = roomy(scratch_directory(), self._settings.directory, self._jobs)
        self._base = Path(tempfile.mkdtemp(prefix="resumeproof-", dir=scratch))
        self.court = Court(self._base, self._jobs)
        return self

    def __exit__(self, *error: object) -> None:
        clear_away(self._base)

    def explore(self) -> Explored:
        """Try every state. Raises `SubjectFailed` where the program fails without a crash."""
        explored = self.enumerated()
        self._progress.start(len(explored.images.states))
        self._judge(explored)
        self._search(explored)
        level = explored.images.states[:]
        for _ in range(1, self._settings.depth):
            level = self._deepen(explored, level)
            self._judge(explored)
        return explored

    def try_alone(self, plan: CrashPlan) -> Explored:
        """Try the state of one plan. Raises `PlanRefused` where the program comes to none such."""
        if not plan.points:
            raise PlanRefused(str(plan), "it names no crash")
        if len(plan.points) > 1 and self._settings.resume is None:
            raise PlanRefused(str(plan), "there is no resume that could crash")
        explored = self._recorded()
        recorded = explored.baseline.recorded
        if is_power_point(plan.points[0]):
            explored.power = PowerLoss(recorded.recording, recorded.start, self._settings.budget)
            add_cut(explored.images, recorded.recording, explored.power, plan.points[0])
        else:
            add_killed(explored.images, recorded.recording, recorded.start)
        for depth in range(1, len(plan.points) + 1):
            if depth > 1:
                self._deepen(explored, explored.images.states)
            explored.images = explored.images.only(str(CrashPlan(plan.points[:depth])))
            explored.judged.clear()
            self._judge(explored)
        return explored

    def keep(self, explored: Explored, directory: Path) -> None:
        """Put aside what the crash of the one state that was tried left, and what came of it."""
        (state,) = explored.images.states
        image = explored.images.images[state.image]
        site = self.court.site()
        scene = site.lay_out(image.tree, image.printed)
        copy_image(scene.directory, directory / CRASHED_NAME)
        (directory / PRINTED_NAME).write_bytes(image.printed)
        trial = explored.baseline.trial
        (violations,) = self.court.each([scene], lambda _, scene: trial.violations(scene))
        copy_image(scene.directory, directory / RESUMED_NAME)
        told = [f"[{each.kind}] {each.detail}" for each in violations] or ["nothing is wrong"]
        (directory / VERDICT_NAME).write_text("".join(f"{line}\n" for line in told))

    def _recorded(self) -> Explored:
        directory = self._settings.directory
        start = Tree() if directory is None else tree_of(directory)
        site = self.court.site()
        baseline = run_baseline(self._settings, start, self.court)
        recorded = baseline.recorded
        if mentions(recorded.recording, site.scene.directory):
            # What is rebuilt elsewhere would point to where the program was recorded.
            self.court = Court(self._base, 1)
        invalid = {} if recorded.problem is None else {BASELINE: recorded.problem}
        runs = {BASELINE: Run(self._settings.command, recorded)}
        return Explored(baseline, Images(), invalid=invalid, runs=runs)

    def enumerated(self) -> Explored:
        """Record the program, and list all states of one death; none of them is judged."""
        explored = self._recorded()
        recorded = explored.baseline.recorded
        add_killed(explored.images, recorded.recording, recorded.start)
        if self._settings.power_loss:
            explored.power = PowerLoss(recorded.recording, recorded.start, self._settings.budget)
            add_powerless(explored.images, recorded.recording, explored.power)
        return explored

    def _judge(self, explored: Explored) -> None:
        """Judge the images that have not been judged."""
        trial = explored.baseline.trial
        states_of = explored.images.states_of()
        first = len(explored.judged)

        def judge(site: Site, number: int) -> Judged:
            return site.judge(explored.images.images[number], trial)

        def done(number: int, judged: Judged) -> None:
            for _ in states_of[number]:
                self._tell(judged)

        numbers = range(first, len(explored.images.images))
        explored.judged += self.court.each(numbers, judge, done)

    def _tell(self, judged: Judged) -> None:
        """One more state is judged."""
        self._progress.advance([Finding(each.kind, 0, each.detail) for each in judged.violations])

    def _search(self, explored: Explored) -> None:
        """Judge power cuts that are too many to be built, going by what the runs before saw."""
        power = explored.power
        if power is None:
            return
        trial, images = explored.baseline.trial, explored.images
        output = Output(explored.baseline.recorded.recording)
        seen: dict[int, Observation] = {}

        def done(image: Image, watched: Watched) -> None:
            judged, _ = watched
            self._tell(judged)

        while candidates := power.candidates():
            known = len(images.images)
            numbers = [images.number(each.tree, output.by(each.after)) for each in candidates]
            new = sorted(set(numbers) - seen.keys())
            power.spend(len(new))
            watched = watch(
                self.court, [images.images[number] for number in new], trial, power.varied, done
            )
            for number, (judged, observation) in zip(new, watched, strict=True):
                seen[number] = observation
                if number == len(explored.judged):
                    explored.judged.append(judged)
            for candidate, number in zip(candidates, numbers, strict=True):
                candidate.learn(seen[number])
                if number >= known and candidate.state is not None:
                    images.states.append(powerless(candidate.state, number))
                    known = number + 1

    def _deepen(self, explored: Explored, level: Sequence[State]) -> list[State]:
        """Record the resume of each state that means something else, and add what it passes."""
        resume = self._settings.resume
        assert resume is not None
        chosen = list(self._distinct(explored, level))

        def crash_resume(site: Site, state: State) -> Recorded:
            image = explored.images.images[state.image]
            scene = site.lay_out(image.tree, image.printed)
            try:
                return record_in(
                    scene, resume, site.origin, timeout_seconds=self._settings.timeout_seconds
                )
            finally:
                site.clear()

        before = len(explored.images.states)
        for state, recorded in zip(chosen, self.court.each(chosen, crash_resume), strict=True):
            if recorded.problem is not None:
                explored.invalid[state.plan] = f"its resume: {recorded.problem}"
            printed = explored.images.images[state.image].printed
            explored.runs[state.plan] = Run(resume, recorded, printed)
            add_killed(
                explored.images,
                recorded.recording,
                recorded.start,
                before=CrashPlan.parse(state.plan).points,
                printed=printed,
                after=state.after,
                power=state.power,
            )
        return explored.images.states[before:]

    def _distinct(self, explored: Explored, level: Sequence[State]) -> Iterator[State]:
        """One state for each meaning that no resume was recorded on, where the resume succeeds."""
        for state in level:
            judged = explored.judged[state.image]
            if judged.meaning not in self._deepened and not judged.violations:
                self._deepened.add(judged.meaning)
                yield state


def roomy(scratch: str | None, directory: Path | None, jobs: int) -> str | None:
    """The memory file system, if it has room for as many copies as are made; None elsewhere."""
    if scratch is None:
        return None
    files = () if directory is None else directory.rglob("*")
    size_bytes = sum(path.lstat().st_size for path in files)
    wanted_bytes = (jobs + 1) * COPIES * size_bytes + ROOM_BYTES
    return scratch if shutil.disk_usage(scratch).free > wanted_bytes else None


def mentions(recording: Recording, directory: Path) -> bool:
    """Whether a program has written the path of its directory down."""
    path = os.fsencode(directory)
    return any(
        (isinstance(call.operation, Write) and path in call.operation.data)
        or (isinstance(call.operation, SymbolicLink) and str(directory) in call.operation.points_to)
        for call in recording.calls
    )
