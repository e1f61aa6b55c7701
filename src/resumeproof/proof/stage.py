"""Where one worker's scenarios take place: lives are run there, looked at, and judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from resumeproof.crash.forked import BoundaryNotice, ForkedLife
from resumeproof.crash.plan import CrashPlan, CrashPoint
from resumeproof.domain.conformance import Scenario
from resumeproof.domain.contract import Lookup
from resumeproof.domain.verdict import Finding
from resumeproof.proof.comparison import Wording
from resumeproof.proof.kept import keep_life
from resumeproof.proof.lives import Host
from resumeproof.proof.living import LifeOutcome, LivingSubject, Order, Remains
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
        self._reread_last: tuple[str, ForkedLife] | None = None

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

    def look(self, life: ForkedLife, order: Order, *, in_full: bool = False) -> Seen:
        """Read what the receiver holds, open the subject afresh, and tell what there is to see.

        What a life left that is what the one before had left is not opened again, unless that is
        asked for: nearly all scenarios come to the same end.
        """
        wording = Wording(order.run_id, self.settings.run_id, str(order.root))
        raised, outcome = brought_back(life)
        remains = self.subject.remains(order.root)
        seen = Seen(
            effects=effects_seen(remains.effects, wording),
            raised=wording.neutral(raised),
            hung=life.timed_out,
        )
        seen = told_by(life, left_behind(seen, [life], order.root))
        if outcome is None:
            return seen
        seen = replace(seen, doubts=outcome.doubts, doubts_told=outcome.doubts_told)
        if outcome.state is None:
            return seen
        opening = replace(order, life=order.life + 1, only_reread=True)
        fresh = self.run(opening) if in_full else self._reread(opening, remains)
        raised, reread = brought_back(fresh)
        seen = told_by(fresh, left_behind(seen, [fresh], order.root))
        if reread is None:
            return replace(seen, raised=wording.neutral(raised), hung=fresh.timed_out)
        return replace(
            seen,
            state=state_of(outcome, wording),
            reread=state_of(reread, wording),
        )

    def _reread(self, opening: Order, remains: Remains) -> ForkedLife:
        # What an eventual lookup shows hangs on the time as well.
        if not self.settings.dedupe or self.subject.contract.lookup is Lookup.EVENTUAL:
            return self.run(opening)
        digest = remains.image_digest()
        if self._reread_last is not None and self._reread_last[0] == digest:
            return self._reread_last[1]
        fresh = self.run(opening)
        self._reread_last = (digest, fresh) if _says_it_all(fresh) else None
        return fresh

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


def _says_it_all(fresh: ForkedLife) -> bool:
    """Whether another life that opens the same would only do the same."""
    outcome = fresh.outcome
    sound = isinstance(outcome, LifeOutcome) and outcome.raised is None and not fresh.orphans
    return sound and not fresh.timed_out and not outcome.run_id_was_read
