"""Where one worker's scenarios take place: lives are run there, looked at, and judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from resumeproof.crash.forked import BoundaryNotice, ForkedLife
from resumeproof.crash.plan import CrashPlan, CrashPoint
from resumeproof.domain.conformance import Scenario
from resumeproof.domain.verdict import Finding
from resumeproof.proof.comparison import Wording
from resumeproof.proof.kept import keep_life
from resumeproof.proof.lives import Host
from resumeproof.proof.living import LivingSubject, Order, Remains
from resumeproof.proof.look import brought_back, effects_seen, left_behind, state_of, told_by
from resumeproof.proof.oracle import Place, Seen, ambiguity_hidden, is_ambiguous, judge
from resumeproof.proof.share import Baseline, Settings, Share, scenario_run_id
from resumeproof.proof.site import ScenarioSite


class Stage:
    """One host of lives, in one directory, for one subject; `share` is what has come of it."""

    def __init__(
        self,
        subject: LivingSubject,
        settings: Settings,
        host: Host,
        base: Path,
        progress: Callable[[Sequence[Finding]], None],
    ) -> None:
        self.subject = subject
        self.settings = settings
        self.site = ScenarioSite(base, subject.lay_out)
        self.progress = progress
        self.share = Share()
        self._host = host

    def order(self, run_id: str, life: int) -> Order:
        return Order(self.site.root, run_id, life, kill=self.settings.kill)

    def run(
        self, order: Order, at_boundary: Callable[[BoundaryNotice], None] | None = None
    ) -> ForkedLife:
        return self._host.run(
            order,
            timeout_seconds=self.settings.timeout_seconds,
            at_boundary=at_boundary,
        )

    def keep(self, number: int, life: ForkedLife) -> None:
        """Put aside what a life left and printed, where somebody wants to see it."""
        if self.settings.keep is not None:
            keep_life(self.settings.keep, number, self.site.root, life)

    def look(self, life: ForkedLife, order: Order) -> Seen:
        """Read what the receiver holds, open the subject afresh, and tell what there is to see."""
        wording = Wording(order.run_id, self.settings.run_id, str(order.root))
        raised, outcome = brought_back(life)
        seen = Seen(
            effects=effects_seen(self.subject.remains(order.root).effects, wording),
            raised=wording.neutral(raised),
            hung=life.timed_out,
        )
        seen = told_by(life, left_behind(seen, [life], order.root))
        if outcome is None:
            return seen
        seen = replace(seen, doubts=outcome.doubts, doubts_told=outcome.doubts_told)
        if outcome.state is None:
            return seen
        fresh = self.run(replace(order, life=order.life + 1, only_reread=True))
        raised, reread = brought_back(fresh)
        seen = told_by(fresh, left_behind(seen, [fresh], order.root))
        if reread is None:
            return replace(seen, raised=wording.neutral(raised), hung=fresh.timed_out)
        return replace(
            seen,
            state=state_of(outcome, wording),
            reread=state_of(reread, wording),
        )

    def note_scenario(self, plan: CrashPlan, invalid: str | None = None) -> None:
        run_id = scenario_run_id(self.settings.run_id, plan.points)
        self.share.scenarios.append(Scenario(str(plan), run_id, invalid))

    def unknowable(self, baseline: Baseline, remains: Remains, point: CrashPoint) -> str | None:
        """Asked of what a death left, before anything resumes it."""
        boundary = (point.boundary, point.occurrence)
        return remains.unknowable(boundary, baseline.seen.effects)

    def judge(
        self, baseline: Baseline, plan: CrashPlan, committed: Sequence[int], seen: Seen
    ) -> None:
        """Judge a scenario; so many effects were committed at each of its deaths."""
        place = Place(str(plan), committed[0])
        share = self.share
        share.courses[place.plan] = baseline.courses.of(committed, seen)
        share.judged += 1
        share.absorbed += seen.absorbed
        findings = judge(place, baseline.seen, seen)
        share.findings += findings
        if seen.in_flight is not None:
            share.ambiguous += 1
            hidden = ambiguity_hidden(place, seen)
            if hidden is not None:
                share.hidden.append(hidden)
        share.reported += len(seen.doubts)
        if not is_ambiguous(self.subject.contract):
            share.needless += len(seen.doubts)
        self.progress(findings)
