"""Records lives, resumes what a kill would have left of them, and kills them for real."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from resumeproof.crash.forked import ForkedLife, LifeHost
from resumeproof.crash.kill import Kill
from resumeproof.crash.syscalls.attached import LifeKiller, LifeRecorder
from resumeproof.crash.syscalls.operations import Recording
from resumeproof.crash.syscalls.states import KillState, kill_states
from resumeproof.crash.syscalls.tree import Tree
from resumeproof.domain.verdict import Finding
from resumeproof.errors import SubjectFailed
from resumeproof.proof.agent import AgentSubject, agent_directory
from resumeproof.proof.calls.files import Files
from resumeproof.proof.commands.images import killed
from resumeproof.proof.commands.recorded import RECORDING_PATIENCE, Recorded, accounted
from resumeproof.proof.comparison import Wording
from resumeproof.proof.image import state_digest
from resumeproof.proof.kept import keep_life
from resumeproof.proof.living import Order
from resumeproof.proof.look import difference, sound_outcome
from resumeproof.proof.oracle import Seen, judge_baseline
from resumeproof.proof.share import Baseline, Settings
from resumeproof.proof.stage import Stage

SCRATCH_NAME = "scratch"


@dataclass(frozen=True, slots=True)
class Death:
    """One place where a kill leaves something of its own.

    `digest` is equal where no resume can tell two of them apart; `effects` were committed by then.
    """

    state: KillState
    digest: str
    effects: int


@dataclass(frozen=True, slots=True)
class Run:
    """A life that was recorded, from the tree it began in, and the deaths that it can die.

    `life` is its number in the scenario.
    """

    recorded: Recorded
    deaths: tuple[Death, ...]
    life: int = 1


@dataclass(frozen=True, slots=True)
class Ground:
    """Two runs without a crash; `files` are what both left, where they left the same."""

    baseline: Baseline
    files: Files
    differing: frozenset[str]
    run: Run


@dataclass(frozen=True, slots=True)
class Resumed:
    """What became of an image; `meaning` is equal where two images say the same."""

    seen: Seen
    files: Files
    meaning: str


class CallWorker:
    """One host of lives, in one directory, for one agent."""

    def __init__(
        self,
        subject: AgentSubject,
        settings: Settings,
        ignored: Sequence[str],
        host: LifeHost,
        base: Path,
    ) -> None:
        shutil.rmtree(base, ignore_errors=True)
        self._settings = settings
        self._ignored = ignored
        self._host = host
        self._base = base
        self._stage = Stage(subject, settings, host, base, _say_nothing)
        self._site = self._stage.site

    # -- the baseline ----------------------------------------------------------------------------

    def ground(self) -> Ground:
        """Run the agent twice without a crash, and record it. Raises `SubjectFailed`."""
        self._site.lay_out()
        order = self._order(1)
        life = self._stage.run(order)
        outcome = sound_outcome(life, "the baseline")
        first = self._baseline_seen(life, order)
        files = self._files()

        self._site.lay_out()
        life, recorded = self._recorded(order)
        sound_outcome(life, "the recorded run")
        second = self._baseline_seen(life, order)
        differing = files.differing(self._files())
        baseline = Baseline(
            seen=first,
            passed=outcome.passed,
            findings=tuple(judge_baseline(first)),
            nondeterminism=difference(first, second),
            unshareable=None,
            awaited=outcome.awaited,
        )
        run = Run(recorded, tuple(self._deaths(recorded)))
        return Ground(baseline, files.without(differing), differing, run)

    def _baseline_seen(self, life: ForkedLife, order: Order) -> Seen:
        seen = self._stage.look(life, order, in_full=True)
        if seen.hung or seen.raised is not None:
            how = seen.raised or "it did not end in time"
            raise SubjectFailed("the baseline's fresh life", how)
        return seen

    # -- what a death leaves ---------------------------------------------------------------------

    def resume(self, image: Tree, life: int, keep: Path | None = None) -> Resumed:
        """Resume an image in a life of this number, and see what comes of it."""
        self._lay_out(image)
        meaning = state_digest(self._stage.subject.remains(self._site.root).meanings())
        self._lay_out(image)
        order = self._order(life)
        ended = self._stage.run(order)
        if keep is not None:
            keep_life(keep, life, self._site.root, ended)
        return Resumed(self._stage.look(ended, order, in_full=True), self._files(), meaning)

    def record(self, image: Tree, life: int) -> Run:
        """Record the resume of an image, and tell what a kill can leave of it."""
        self._lay_out(image)
        _, recorded = self._recorded(self._order(life))
        return Run(recorded, tuple(self._deaths(recorded)), life)

    def kill(self, run: Run, death: Death) -> tuple[str | None, Resumed | None]:
        """Kill a recorded life for real; tell why it did not die there, or else what became of it.

        What became of it is None where it left the same as was rebuilt.
        """
        self._lay_out(run.recorded.start)
        order = self._order(run.life)
        recording = run.recorded.recording
        with self._killer(recording, death.state) as killer:
            life = self._traced(order, killer.attach)
            reason = killer.unconfirmed()
        died = life.exit.kind == "signal" and -life.exit.code == Kill.SIGKILL.returncode
        if reason is not None or not died:
            return reason or f"it ended with {life.exit.text}", None
        with self._site.put_aside() as image:
            if self._stage.subject.remains(image).image_digest() == death.digest:
                return None, None
            self._site.lay_out(image)
            after = self._order(run.life + 1)
            seen = self._stage.look(self._stage.run(after), after, in_full=True)
            return None, Resumed(seen, self._files(), "")

    def _deaths(self, recorded: Recorded) -> Iterator[Death]:
        """All that a kill can leave of a recorded life."""
        if recorded.problem is not None:
            # What the calls do not account for cannot be rebuilt; and may not even be whole.
            yield from (Death(state, "", 0) for state in kill_states(recorded.recording))
            return
        known: dict[str, tuple[str, int]] = {}
        for state, tree, _ in killed(recorded.recording, recorded.start):
            bytes_digest = tree.digest()
            if bytes_digest not in known:
                self._lay_out(tree)
                remains = self._stage.subject.remains(self._site.root)
                known[bytes_digest] = remains.image_digest(), remains.effect_count
            yield Death(state, *known[bytes_digest])

    # -- lives -----------------------------------------------------------------------------------

    def _recorded(self, order: Order) -> tuple[ForkedLife, Recorded]:
        origin = self._base / "origin"
        shutil.rmtree(origin, ignore_errors=True)
        try:
            with LifeRecorder(self._site.root, origin, self._base / SCRATCH_NAME) as recorder:
                life = self._traced(order, recorder.attach)
                recording = recorder.recording()
            start = Tree.read(origin, recording.initial_inodes)
            return life, accounted(recording, start, self._site.root)
        finally:
            shutil.rmtree(origin, ignore_errors=True)

    def _killer(self, recording: Recording, state: KillState) -> LifeKiller:
        seconds = self._settings.timeout_seconds * RECORDING_PATIENCE
        return LifeKiller(self._site.root, recording, state, seconds, self._base / SCRATCH_NAME)

    def _traced(self, order: Order, attach: Callable[[int], None]) -> ForkedLife:
        return self._host.run(
            replace(order, traced=True),
            timeout_seconds=self._settings.timeout_seconds * RECORDING_PATIENCE,
            attach=attach,
        )

    def _order(self, life: int) -> Order:
        # What was rebuilt may hold the recorded life's run id: every life is given the same.
        return self._stage.order(self._settings.run_id, life)

    def _lay_out(self, tree: Tree) -> None:
        self._site.clear()
        tree.write_to(self._site.root)

    def _files(self) -> Files:
        run_id = self._settings.run_id
        wording = Wording(run_id, run_id, str(self._site.root))
        return Files.of(agent_directory(self._site.root), self._ignored, wording)


def _say_nothing(findings: Sequence[Finding]) -> None:
    """What is found is judged where all of it is known."""
