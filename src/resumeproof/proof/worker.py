"""Carries scenarios out in forked lives, and judges them; one worker does one share of a proof.

A *traced* life runs undisturbed and stands at each boundary: there a copy of it is killed, its
directory is put aside as an image, and the image is resumed in fresh lives before the traced one
goes on. So a prefix is run once, and not once for each crash point. Where a copy would not be the
whole life (it has threads or children, or has asked for its run id), each scenario is carried out
from its beginning instead.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from resumeproof.crash.forked import BoundaryNotice, ForkedLife
from resumeproof.crash.plan import CrashPlan, CrashPoint
from resumeproof.domain.conformance import Scenario
from resumeproof.domain.verdict import Finding
from resumeproof.errors import SubjectFailed
from resumeproof.proof.comparison import Wording
from resumeproof.proof.kept import keep_life
from resumeproof.proof.lives import Host
from resumeproof.proof.living import Boundary, LifeOutcome, LivingSubject, Order
from resumeproof.proof.look import (
    brought_back,
    difference,
    effects_seen,
    left_behind,
    sound_outcome,
    state_of,
    verify_forked_kill,
)
from resumeproof.proof.oracle import (
    Place,
    Seen,
    ambiguity_hidden,
    is_ambiguous,
    judge,
    judge_baseline,
)
from resumeproof.proof.recall import Recall
from resumeproof.proof.share import Baseline, NotShareable, Settings, Share, scenario_run_id
from resumeproof.proof.site import ScenarioSite

Picks = Callable[[Boundary], bool]
"""Which boundaries belong to a worker's share."""


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
        self._subject = subject
        self._settings = settings
        self._host = host
        self._site = ScenarioSite(base, subject.lay_out)
        self._progress = progress
        self._recall = Recall()
        self._committed = 0  # effects before the first death of what is tried now
        self.share = Share()

    # -- the baseline --------------------------------------------------------------------------

    def baseline(self) -> Baseline:
        """Run the subject twice without a crash. Raises `SubjectFailed` where it fails."""
        first, outcome = self._undisturbed()
        second, _ = self._undisturbed()
        return Baseline(
            seen=first,
            passed=outcome.passed,
            findings=tuple(judge_baseline(first)),
            nondeterminism=difference(first, second),
            unshareable="it asks for its run id" if outcome.run_id_was_read else None,
            awaited=outcome.awaited,
        )

    def _undisturbed(self) -> tuple[Seen, LifeOutcome]:
        self._site.lay_out()
        order = self._order(self._settings.run_id, 1)
        life = self._run(order)
        outcome = sound_outcome(life, "the baseline")
        seen = self._look(life, order)
        if seen.hung or seen.raised is not None:
            how = seen.raised or "it did not end in time"
            raise SubjectFailed("the baseline's fresh life", how)
        return seen, outcome

    # -- a share of the crash points, over shared prefixes ---------------------------------------

    def explore(self, baseline: Baseline, picks: Picks) -> Share:
        """Try all crash points that `picks` picks.

        Raises `NotShareable` where sharing the prefix would prove something else.
        """
        self._site.lay_out()
        life = self._trace(baseline, self._order(self._settings.run_id, 1), (), picks)
        self._require_shareable(sound_outcome(life, "the traced life"))
        return self.share

    def _trace(
        self, baseline: Baseline, order: Order, deaths: tuple[CrashPoint, ...], picks: Picks
    ) -> ForkedLife:
        """Run a life that stands at its boundaries, and try a death at each."""

        def stand(notice: BoundaryNotice) -> None:
            points = (*deaths, CrashPoint(notice.name, notice.occurrence))
            if notice.copy_status is None:
                raise NotShareable("it has threads or child processes at a boundary")
            self._account(CrashPlan(points), notice.copy_status)
            with self._site.put_aside() as image:
                self._try_image(baseline, image, points)

        def wanted(name: str, occurrence: int) -> bool:
            return name in self._settings.boundaries and picks((name, occurrence))

        return self._run(replace(order, stands_at=wanted), at_boundary=stand)

    def _account(self, plan: CrashPlan, copy_status: int) -> None:
        self.share.enumerated += 1
        self.share.fired += 1
        kill = self._settings.kill
        if os.waitstatus_to_exitcode(copy_status) == kill.returncode:
            self.share.verified += 1
            self._note_scenario(plan)
        else:
            self._note_scenario(plan, f"the copy did not die by {kill}")

    def _try_image(self, baseline: Baseline, image: Path, deaths: tuple[CrashPoint, ...]) -> None:
        """Resume what a death left, unless its like was resumed before; judge it either way."""
        if len(deaths) == 1:
            self._recall.enter(self._share_of(deaths[0]))
            self._committed = len(self._subject.effects(image))
        in_flight = self._unknowable(baseline, image, deaths[-1])
        digest = self._subject.image_digest(image)
        self.share.images.add(digest)
        seen = self._recalled(digest, len(deaths))
        if seen is None:
            self.share.states.add(self._subject.state_digest(image))
            seen, asked_run_id = self._resume(baseline, image, deaths)
            if not asked_run_id:
                self._recall.keep(digest, len(deaths), seen)
        seen = replace(seen, in_flight=in_flight)
        self._judge(baseline, CrashPlan(deaths), seen)

    def _recalled(self, digest: str, deaths: int) -> Seen | None:
        return self._recall.find(digest, deaths) if self._settings.dedupe else None

    def _resume(
        self, baseline: Baseline, image: Path, deaths: tuple[CrashPoint, ...]
    ) -> tuple[Seen, bool]:
        """Resume an image; tell what was seen, and whether the resume asked for its run id."""
        self.share.resumed += 1
        self._site.lay_out(image)
        order = self._order(scenario_run_id(self._settings.run_id, deaths), len(deaths) + 1)
        deeper = len(deaths) < self._settings.depth
        life = (
            self._trace(baseline, order, deaths, lambda boundary: True)
            if deeper
            else self._run(order)
        )
        outcome = life.outcome
        asked = isinstance(outcome, LifeOutcome) and outcome.run_id_was_read
        if deeper and isinstance(outcome, LifeOutcome):
            self._require_shareable(outcome)
        return self._look(life, order), asked

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
        run_id = scenario_run_id(self._settings.run_id, plan.points)
        self._site.lay_out()
        killed: list[ForkedLife] = []
        for number, point in enumerate(plan.points, start=1):
            order = replace(
                self._order(run_id, number),
                dies_at=(point.boundary, point.occurrence),
                kill=self._settings.kill,
            )
            life = self._run(order)
            self._keep(number, life)
            killed.append(life)
            problem = verify_forked_kill(life, point, self._settings.kill)
            if problem is not None:
                self._note_scenario(plan, problem)
                self._progress(())
                return ()
            if number == 1:
                self._committed = len(self._subject.effects(self._site.root))
        share.fired += 1
        share.verified += 1
        self._note_scenario(plan)
        in_flight = self._unknowable(baseline, self._site.root, plan.points[-1])
        seen, passed = self._resume_in_place(self._order(run_id, len(plan.points) + 1))
        seen = replace(left_behind(seen, killed, self._site.root), in_flight=in_flight)
        self._judge(baseline, plan, seen)
        return passed

    def _resume_in_place(self, order: Order) -> tuple[Seen, tuple[Boundary, ...]]:
        """Resume what lies there, unless its like was: then no boundary is left to try."""
        digest = self._subject.image_digest(order.root)
        self.share.images.add(digest)
        seen = self._recalled(digest, order.life - 1)
        if seen is not None:
            return seen, ()
        self.share.states.add(self._subject.state_digest(order.root))
        self.share.resumed += 1
        life = self._run(order)
        self._keep(order.life, life)
        seen = self._look(life, order)
        if not isinstance(life.outcome, LifeOutcome):
            return seen, ()
        if not life.outcome.run_id_was_read:
            self._recall.keep(digest, order.life - 1, seen)
        return seen, life.outcome.passed

    # -- running, looking, judging ---------------------------------------------------------------

    def _note_scenario(self, plan: CrashPlan, invalid: str | None = None) -> None:
        run_id = scenario_run_id(self._settings.run_id, plan.points)
        self.share.scenarios.append(Scenario(str(plan), run_id, invalid))

    def _keep(self, number: int, life: ForkedLife) -> None:
        if self._settings.keep is not None:
            keep_life(self._settings.keep, number, self._site.root, life)

    def _share_of(self, point: CrashPoint) -> int:
        return self._subject.share_of((point.boundary, point.occurrence))

    def _order(self, run_id: str, life: int) -> Order:
        return Order(self._site.root, run_id, life, kill=self._settings.kill)

    def _run(
        self, order: Order, at_boundary: Callable[[BoundaryNotice], None] | None = None
    ) -> ForkedLife:
        return self._host.run(
            self._subject.body(order),
            timeout_seconds=self._settings.timeout_seconds,
            at_boundary=at_boundary,
        )

    def _unknowable(self, baseline: Baseline, image: Path, point: CrashPoint) -> str | None:
        """Asked of what a death left, before anything resumes it."""
        boundary = (point.boundary, point.occurrence)
        return self._subject.unknowable(image, boundary, baseline.seen.effects)

    def _look(self, life: ForkedLife, order: Order) -> Seen:
        """Read what the receiver holds, open the subject afresh, and tell what there is to see."""
        wording = Wording(order.run_id, self._settings.run_id, str(order.root))
        raised, outcome = brought_back(life)
        seen = Seen(
            effects=effects_seen(self._subject.effects(order.root), wording),
            raised=wording.neutral(raised),
            hung=life.timed_out,
        )
        seen = left_behind(seen, [life], order.root)
        if outcome is None:
            return seen
        seen = replace(seen, doubts=outcome.doubts, doubts_told=outcome.doubts_told)
        if outcome.state is None:
            return seen
        fresh = self._run(replace(order, life=order.life + 1, only_reread=True))
        raised, reread = brought_back(fresh)
        seen = left_behind(seen, [fresh], order.root)
        if reread is None:
            return replace(seen, raised=wording.neutral(raised), hung=fresh.timed_out)
        return replace(
            seen,
            state=state_of(outcome, wording),
            reread=state_of(reread, wording),
        )

    def _judge(self, baseline: Baseline, plan: CrashPlan, seen: Seen) -> None:
        place = Place(str(plan), self._committed)
        share = self.share
        share.judged += 1
        findings = judge(place, baseline.seen, seen)
        share.findings += findings
        if seen.in_flight is not None:
            share.ambiguous += 1
            hidden = ambiguity_hidden(place, seen)
            if hidden is not None:
                share.hidden.append(hidden)
        share.reported += len(seen.doubts)
        if not is_ambiguous(self._subject.contract):
            share.needless += len(seen.doubts)
        self._progress(findings)
