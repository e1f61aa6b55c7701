"""Carries scenarios out in forked lives, and judges them; one worker does one share of a proof.

A *traced* life runs undisturbed and stands at each boundary: there a copy of it is killed, its
directory is put aside as an image, and the image is resumed in fresh lives before the traced one
goes on. So a prefix is run once, and not once for each crash point. Where a copy would not be the
whole life (it has threads or children, or has asked for its run id), each scenario is carried out
from its beginning instead; and a sample of them is so in any case, to see whether it is the same.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path

from resumeproof.crash.forked import BoundaryNotice, ForkedLife
from resumeproof.crash.plan import CrashPlan, CrashPoint
from resumeproof.domain.verdict import Finding
from resumeproof.errors import SubjectFailed
from resumeproof.proof.image import state_digest
from resumeproof.proof.lives import Host
from resumeproof.proof.living import Boundary, LifeOutcome, LivingSubject, Order, Remains
from resumeproof.proof.look import left_behind, sound_outcome, verify_forked_kill
from resumeproof.proof.oracle import Seen
from resumeproof.proof.recall import Recall
from resumeproof.proof.sample import Course, require_alike
from resumeproof.proof.share import Baseline, NotShareable, Settings, Share, scenario_run_id
from resumeproof.proof.stage import Stage


@dataclass(frozen=True)
class _Killed:
    """Lives that died as planned, and how many effects were committed at each of their deaths.

    `problem` tells what the last one did instead, None where it died as planned, too.
    """

    lives: Sequence[ForkedLife]
    committed: Sequence[int]
    problem: str | None = None


@dataclass(frozen=True)
class BaselineRun:
    """A life without a crash: what there was to see of it in the end, and what it brought there."""

    seen: Seen
    outcome: LifeOutcome


class Worker:
    """One host of lives, in one directory, for one subject."""

    def __init__(
        self,
        subject: LivingSubject,
        settings: Settings,
        host: Host,
        base: Path,
        progress: Callable[[Sequence[Finding]], None],
    ) -> None:
        self._settings = settings
        self._stage = Stage(subject, settings, host, base, progress)
        self._site = self._stage.site
        self._recall = Recall()
        self._sample: Set[Boundary] = frozenset()
        self._committed: list[int] = []  # effects at each death of what is tried now

    @property
    def share(self) -> Share:
        """What has been done so far."""
        return self._stage.share

    # -- the baseline --------------------------------------------------------------------------

    def baseline_run(self) -> BaselineRun:
        """Run the subject without a crash. Raises `SubjectFailed` where it fails."""
        self._site.lay_out()
        order = self._stage.order(self._settings.run_id, 1)
        life = self._stage.run(order)
        outcome = sound_outcome(life, "the baseline")
        seen = self._stage.look(life, order, in_full=True)
        if seen.hung or seen.raised is not None:
            how = seen.raised or "it did not end in time"
            raise SubjectFailed("the baseline's fresh life", how)
        return BaselineRun(seen, outcome)

    # -- a share of the crash points, over shared prefixes ---------------------------------------

    def explore(
        self, baseline: Baseline, points: frozenset[Boundary], sample: Set[Boundary]
    ) -> Share:
        """Try all these crash points; those in `sample` are carried out in full, too.

        Raises `NotShareable` where sharing the prefix would prove something else.
        """
        self._sample = sample
        self._site.lay_out()
        life = self._trace(baseline, self._stage.order(self._settings.run_id, 1), (), points)
        self._require_shareable(sound_outcome(life, "the traced life"))
        return self.share

    def _trace(
        self,
        baseline: Baseline,
        order: Order,
        deaths: tuple[CrashPoint, ...],
        only: frozenset[Boundary] | None,
    ) -> ForkedLife:
        """Run a life that stands at its boundaries, or only at these, and try a death at each."""

        def stand(notice: BoundaryNotice) -> None:
            points = (*deaths, CrashPoint(notice.name, notice.occurrence))
            if notice.copy_status is None:
                raise NotShareable("it has threads or child processes at a boundary")
            self._account(CrashPlan(points), notice.copy_status)
            with self._site.put_aside() as image:
                self._try_image(baseline, image, points)

        standing = replace(order, stands_at=self._settings.boundaries, only=only)
        return self._stage.run(standing, at_boundary=stand)

    def _account(self, plan: CrashPlan, copy_status: int) -> None:
        self.share.enumerated += 1
        self.share.fired += 1
        kill = self._settings.kill
        if os.waitstatus_to_exitcode(copy_status) == kill.returncode:
            self.share.verified += 1
            self._stage.note_scenario(plan)
        else:
            self._stage.note_scenario(plan, f"the copy did not die by {kill}")

    def _try_image(self, baseline: Baseline, image: Path, deaths: tuple[CrashPoint, ...]) -> None:
        """Resume what a death left, unless its like was resumed before; judge it either way."""
        remains = self._stage.subject.remains(image)
        if len(deaths) == 1:
            self._recall.enter(self._share_of(deaths[0]))
        self._committed[len(deaths) - 1 :] = [remains.effect_count]
        in_flight = self._stage.unknowable(baseline, remains, deaths[-1])
        digest = remains.image_digest()
        self.share.images.add(digest)
        meanings = remains.meanings() if self._is_sampled(deaths) else None
        seen = self._recalled(digest, len(deaths))
        if seen is None:
            self.share.states.add(state_digest(meanings or remains.meanings()))
            seen, asked_run_id = self._resume(baseline, image, deaths)
            if not asked_run_id:
                self._recall.keep(digest, len(deaths), seen)
        if meanings is not None:
            shared = Course(meanings, seen)
            require_alike(shared, lambda: self._in_full(CrashPlan(deaths)))
        plan = CrashPlan(deaths)
        seen = replace(seen, in_flight=in_flight)
        self._stage.judge(baseline, plan, self._committed[: len(deaths)], seen)

    def _is_sampled(self, deaths: tuple[CrashPoint, ...]) -> bool:
        return len(deaths) == 1 and (deaths[0].boundary, deaths[0].occurrence) in self._sample

    def _recalled(self, digest: str, deaths: int) -> Seen | None:
        return self._recall.find(digest, deaths) if self._settings.dedupe else None

    def _resume(
        self, baseline: Baseline, image: Path, deaths: tuple[CrashPoint, ...]
    ) -> tuple[Seen, bool]:
        """Resume an image; tell what was seen, and whether the resume asked for its run id."""
        self.share.resumed += 1
        self._site.lay_out(image)
        order = self._stage.order(scenario_run_id(self._settings.run_id, deaths), len(deaths) + 1)
        deeper = len(deaths) < self._settings.depth
        life = self._trace(baseline, order, deaths, None) if deeper else self._stage.run(order)
        outcome = life.outcome
        asked = isinstance(outcome, LifeOutcome) and outcome.run_id_was_read
        if deeper and isinstance(outcome, LifeOutcome):
            self._require_shareable(outcome)
        return self._stage.look(life, order), asked

    def _require_shareable(self, outcome: LifeOutcome) -> None:
        if outcome.run_id_was_read:
            raise NotShareable("it asks for its run id")
        if not outcome.shareable:
            raise NotShareable("it has threads or child processes at a boundary")

    # -- one plan, from its beginning ------------------------------------------------------------

    def carry_out(self, baseline: Baseline, plan: CrashPlan) -> tuple[Boundary, ...]:
        """Carry one plan out, each life in full; return the boundaries of the last life.

        A life that does not die as planned makes the scenario invalid.
        """
        share = self.share
        share.enumerated += 1
        self._recall.enter(self._share_of(plan.points[0]))
        killed = self._killed(plan)
        self._stage.note_scenario(plan, killed.problem)
        if killed.problem is not None:
            self._stage.progress(())
            return ()
        share.fired += 1
        share.verified += 1
        remains = self._stage.subject.remains(self._site.root)
        in_flight = self._stage.unknowable(baseline, remains, plan.points[-1])
        seen, passed = self._resume_in_place(remains, self._last_order(plan))
        seen = replace(left_behind(seen, killed.lives, self._site.root), in_flight=in_flight)
        self._stage.judge(baseline, plan, killed.committed, seen)
        return passed

    def _killed(self, plan: CrashPlan) -> _Killed:
        """Run the lives that are to die, from an empty scenario."""
        self._site.lay_out()
        lives: list[ForkedLife] = []
        committed: list[int] = []
        for number, point in enumerate(plan.points, start=1):
            order = replace(
                self._stage.order(self._run_id(plan), number),
                dies_at=(point.boundary, point.occurrence),
            )
            life = self._stage.run(order)
            self._stage.keep(number, life)
            lives.append(life)
            problem = verify_forked_kill(life, point, self._settings.kill)
            if problem is not None:
                return _Killed(lives, committed, problem)
            committed.append(self._stage.subject.remains(self._site.root).effect_count)
        return _Killed(lives, committed)

    def _in_full(self, plan: CrashPlan) -> Course:
        """What a plan comes to that is carried out in full, for comparison only.

        Raises `NotShareable` where a life does not die as planned.
        """
        killed = self._killed(plan)
        if killed.problem is not None:
            raise NotShareable("one that is run only to its death does not come so far")
        left = self._stage.subject.remains(self._site.root).meanings()
        order = self._last_order(plan)
        seen = self._stage.look(self._stage.run(order), order)
        return Course(left, left_behind(seen, killed.lives, self._site.root))

    def _last_order(self, plan: CrashPlan) -> Order:
        return self._stage.order(self._run_id(plan), len(plan.points) + 1)

    def _run_id(self, plan: CrashPlan) -> str:
        return scenario_run_id(self._settings.run_id, plan.points)

    def _resume_in_place(self, remains: Remains, order: Order) -> tuple[Seen, tuple[Boundary, ...]]:
        """Resume what lies there, unless its like was: then no boundary is left to try."""
        digest = remains.image_digest()
        self.share.images.add(digest)
        seen = self._recalled(digest, order.life - 1)
        if seen is not None:
            return seen, ()
        self.share.states.add(state_digest(remains.meanings()))
        self.share.resumed += 1
        life = self._stage.run(order)
        self._stage.keep(order.life, life)
        seen = self._stage.look(life, order)
        if not isinstance(life.outcome, LifeOutcome):
            return seen, ()
        if not life.outcome.run_id_was_read:
            self._recall.keep(digest, order.life - 1, seen)
        return seen, life.outcome.passed

    def _share_of(self, point: CrashPoint) -> int:
        return self._stage.subject.share_of((point.boundary, point.occurrence))
