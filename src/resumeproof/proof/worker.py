"""Carries scenarios out in forked lives, and judges them; one worker does one share of a proof.

A *traced* life runs undisturbed and stands at each boundary: there a copy of it is killed, its
directory is put aside as an image, and the image is resumed in fresh lives before the traced one
goes on. So a prefix is run once, and not once for each crash point. Where a copy would not be the
whole life (it has threads or children, or has asked for its run id), each scenario is carried out
from its beginning instead.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from resumeproof.crash.forked import BoundaryNotice, ForkedLife, LifeHost
from resumeproof.crash.kill import Kill
from resumeproof.crash.plan import CrashPlan, CrashPoint
from resumeproof.domain.verdict import Finding
from resumeproof.errors import PayloadRefused, SubjectFailed
from resumeproof.proof.agent import Agent, AgentOutcome, Order, life_of
from resumeproof.proof.comparison import shown, without_run_id
from resumeproof.proof.context import EFFECT_BEFORE, Effect, effect_of
from resumeproof.proof.oracle import (
    NO_STATE,
    Place,
    Seen,
    ambiguity_hidden,
    is_ambiguous,
    judge,
    judge_baseline,
)
from resumeproof.proof.payload import unpack
from resumeproof.proof.site import ScenarioSite, image_digest, state_digest
from resumeproof.stores.receiver import read_receiver


@dataclass(frozen=True)
class Settings:
    """How a proof is carried out. `sides` are boundaries; `depth` counts deaths in a row."""

    run_id: str
    kill: Kill
    sides: tuple[str, ...]
    depth: int
    timeout_seconds: float
    dedupe: bool


@dataclass(frozen=True)
class Baseline:
    """Two runs without a crash: what they came to, and what they allow."""

    seen: Seen
    effects_asked: int
    findings: tuple[Finding, ...]
    nondeterminism: str | None
    shareable: bool
    awaited: bool


@dataclass
class Share:
    """What one worker has done so far. `unshareable` says why prefixes cannot be shared here."""

    enumerated: int = 0
    fired: int = 0
    verified: int = 0
    judged: int = 0
    resumed: int = 0
    images: set[str] = field(default_factory=set)
    states: set[str] = field(default_factory=set)
    findings: list[Finding] = field(default_factory=list)
    invalid: list[str] = field(default_factory=list)
    hidden: list[Finding] = field(default_factory=list)
    ambiguous: int = 0
    reported: int = 0
    needless: int = 0


class NotShareable(Exception):
    """A prefix cannot be shared between scenarios after all; the reason is the argument."""


class Worker:
    """One host of lives, in one directory, for one subject."""

    def __init__(
        self,
        agent: Agent,
        settings: Settings,
        host: LifeHost,
        base: Path,
        progress: Callable[[int], None],
    ) -> None:
        self._agent = agent
        self._settings = settings
        self._host = host
        self._site = ScenarioSite(base)
        self._progress = progress
        self._share = Share()
        self._seen: dict[str, Seen] = {}

    # -- the baseline --------------------------------------------------------------------------

    def baseline(self) -> Baseline:
        """Run the subject twice without a crash. Raises `SubjectFailed` where it fails."""
        first, outcome = self._undisturbed()
        second, _ = self._undisturbed()
        return Baseline(
            seen=first,
            effects_asked=outcome.effects_asked,
            findings=tuple(judge_baseline(first)),
            nondeterminism=_difference(first, second),
            shareable=not outcome.run_id_was_read,
            awaited=outcome.awaited,
        )

    def _undisturbed(self) -> tuple[Seen, AgentOutcome]:
        self._site.lay_out()
        order = self._order(self._settings.run_id, 1)
        life = self._host.run(
            life_of(self._agent, order), timeout_seconds=self._settings.timeout_seconds
        )
        outcome = _sound_outcome(life, "the baseline")
        seen = self._look(life, order, None)
        if seen.hung or seen.raised is not None:
            raise SubjectFailed(
                "the baseline's fresh life", seen.raised or "it did not end in time"
            )
        return seen, outcome

    # -- a share of the crash points -----------------------------------------------------------

    def explore(self, baseline: Baseline, points: Callable[[str, int], bool]) -> Share:
        """Try all crash points that `points` picks, sharing one prefix between them.

        Raises `NotShareable` where that would prove something else.
        """
        self._baseline = baseline
        self._site.lay_out()
        order = self._order(self._settings.run_id, 1)
        life = self._trace(order, (), points)
        outcome = _sound_outcome(life, "the traced life")
        self._require_shareable(outcome)
        return self._share

    def _trace(
        self,
        order: Order,
        deaths: tuple[CrashPoint, ...],
        points: Callable[[str, int], bool],
    ) -> ForkedLife:
        """Run a life that stands at each of its boundaries, and try a death there."""

        def stand(notice: BoundaryNotice) -> None:
            point = CrashPoint(notice.name, notice.occurrence)
            if notice.copy_status is None:
                raise NotShareable("a life has threads or child processes at a boundary")
            self._account(CrashPlan((*deaths, point)), notice.copy_status)
            with self._site.put_aside() as image:
                self._try_image(image, (*deaths, point), order.run_id)

        def wanted(name: str, occurrence: int) -> bool:
            return name in self._settings.sides and points(name, occurrence)

        return self._host.run(
            life_of(self._agent, replace(order, stands_at=wanted)),
            timeout_seconds=self._settings.timeout_seconds,
            at_boundary=stand,
        )

    def _account(self, plan: CrashPlan, copy_status: int) -> None:
        self._share.enumerated += 1
        self._share.fired += 1
        if os.WIFSIGNALED(copy_status) and os.WTERMSIG(copy_status) == signal.SIGKILL:
            self._share.verified += 1
        else:
            self._share.invalid.append(f"{plan}: the copy did not die by SIGKILL")

    def _try_image(self, image: Path, deaths: tuple[CrashPoint, ...], first_run_id: str) -> None:
        """Resume what a death left, unless its like was resumed before; judge it either way."""
        digest = image_digest(image)
        self._share.images.add(digest)
        seen = self._seen.get(digest) if self._settings.dedupe else None
        if seen is None:
            self._share.states.add(state_digest(image))
            seen, shareable = self._resume(image, deaths)
            if shareable:
                self._seen[digest] = seen
        self._judge(CrashPlan(deaths), seen)

    def _resume(self, image: Path, deaths: tuple[CrashPoint, ...]) -> tuple[Seen, bool]:
        self._share.resumed += 1
        self._site.lay_out(image)
        in_flight = self._in_flight(deaths[-1])
        order = self._order(scenario_run_id(self._settings.run_id, deaths), len(deaths) + 1)
        if len(deaths) < self._settings.depth:
            life = self._trace(order, deaths, lambda name, occurrence: True)
        else:
            life = self._host.run(
                life_of(self._agent, order), timeout_seconds=self._settings.timeout_seconds
            )
        outcome = life.outcome
        if isinstance(outcome, AgentOutcome) and len(deaths) < self._settings.depth:
            self._require_shareable(outcome)
        asked = isinstance(outcome, AgentOutcome) and outcome.run_id_was_read
        return self._look(life, order, in_flight), not asked

    def _require_shareable(self, outcome: AgentOutcome) -> None:
        if outcome.run_id_was_read:
            raise NotShareable("a life asks for its run id")
        if not outcome.shareable:
            raise NotShareable("a life has threads or child processes at a boundary")

    # -- one plan, from its beginning ----------------------------------------------------------

    def carry_out(self, baseline: Baseline, plan: CrashPlan) -> int:
        """Carry one plan out, each life in full; return the effects that the last life asked for.

        A life that does not die as planned makes the scenario invalid.
        """
        self._baseline = baseline
        self._share.enumerated += 1
        run_id = scenario_run_id(self._settings.run_id, plan.points)
        self._site.lay_out()
        orphans = 0
        for number, point in enumerate(plan.points, start=1):
            order = replace(
                self._order(run_id, number),
                dies_at=(point.boundary, point.occurrence),
                kill=self._settings.kill,
            )
            life = self._host.run(
                life_of(self._agent, order), timeout_seconds=self._settings.timeout_seconds
            )
            orphans += len(life.orphans)
            problem = verify_forked_kill(life, point, self._settings.kill)
            if problem is not None:
                self._share.invalid.append(f"{plan}: {problem}")
                return 0
        self._share.fired += 1
        self._share.verified += 1
        with self._site.put_aside() as image:
            self._share.images.add(image_digest(image))
            self._share.states.add(state_digest(image))
            self._site.lay_out(image)
            self._share.resumed += 1
            order = self._order(run_id, len(plan.points) + 1)
            life = self._host.run(
                life_of(self._agent, order), timeout_seconds=self._settings.timeout_seconds
            )
            seen = self._look(life, order, self._in_flight(plan.points[-1]))
        self._judge(plan, replace(seen, orphans=seen.orphans + orphans))
        return life.outcome.effects_asked if isinstance(life.outcome, AgentOutcome) else 0

    @property
    def share(self) -> Share:
        return self._share

    # -- looking and judging -------------------------------------------------------------------

    def _order(self, run_id: str, life: int) -> Order:
        return Order(
            run_id=run_id,
            life=life,
            directory=self._site.subject,
            receiver=self._site.receiver,
            kill=self._settings.kill,
        )

    def _in_flight(self, point: CrashPoint) -> str | None:
        """The key of the effect at which a life died, where nobody could know its outcome."""
        effects = self._baseline.seen.effects
        if not is_ambiguous(self._agent.contract) or point.occurrence > len(effects):
            return None
        return effects[point.occurrence - 1].key

    def _look(self, life: ForkedLife, order: Order, in_flight: str | None) -> Seen:
        """Read the receiver, open the subject afresh, and tell what there is to see."""
        raised, outcome = _how_it_ended(life)
        received = read_receiver(order.receiver)
        effects = [
            _effect(effect_of(invocation), order.run_id)
            for invocation in received
            if invocation.absorbed_by is None
        ]
        seen = Seen(
            effects=effects,
            in_flight=in_flight,
            raised=raised,
            hung=life.timed_out,
            orphans=len(life.orphans),
        )
        if outcome is None:
            return seen
        seen = replace(seen, doubts=outcome.doubts, doubts_told=outcome.doubts_told)
        if outcome.state is None:
            return seen
        fresh = self._host.run(
            life_of(self._agent, replace(order, life=order.life + 1, inputs_fed=False)),
            timeout_seconds=self._settings.timeout_seconds,
        )
        raised, reread = _how_it_ended(fresh)
        state = without_run_id(unpack(outcome.state), order.run_id)
        if reread is None or reread.state is None:
            return replace(seen, state=state, raised=raised, hung=fresh.timed_out)
        return replace(
            seen,
            state=state,
            reread=without_run_id(unpack(reread.state), order.run_id),
            orphans=seen.orphans + len(fresh.orphans),
        )

    def _judge(self, plan: CrashPlan, seen: Seen) -> None:
        place = Place(str(plan), committed_before(plan.points[0]))
        share = self._share
        share.judged += 1
        share.findings += judge(place, self._baseline.seen, seen)
        if seen.in_flight is not None:
            share.ambiguous += 1
            hidden = ambiguity_hidden(place, seen)
            if hidden is not None:
                share.hidden.append(hidden)
        share.reported += len(seen.doubts)
        if not is_ambiguous(self._agent.contract):
            share.needless += len(seen.doubts)
        self._progress(1)


def committed_before(point: CrashPoint) -> int:
    """How many effects a life had committed when it died at this point."""
    return point.occurrence - (point.boundary == EFFECT_BEFORE)


def scenario_run_id(run_id: str, deaths: tuple[CrashPoint, ...]) -> str:
    """ "run-<k>" for a death after effect k, "run-<k>-before" for one just before it."""
    parts = [
        f"{point.occurrence}" + ("-before" if point.boundary == EFFECT_BEFORE else "")
        for point in deaths
    ]
    return "-".join([run_id, *parts])


def verify_forked_kill(life: ForkedLife, point: CrashPoint, kill: Kill) -> str | None:
    """Why this life did not die by `kill` at `point`; None if it did just that."""
    if life.timed_out:
        return f"planned a death at {point}, but it hung and was killed for that"
    if life.witness != (point.boundary, point.occurrence):
        return f"planned a death at {point}, but it ended by itself with {life.exit.text}"
    planned = kill.returncode
    found = -life.exit.code if life.exit.kind == "signal" else life.exit.code
    if found != planned:
        return f"planned {kill} at {point}, but it was {life.exit.text}"
    return None


def _how_it_ended(life: ForkedLife) -> tuple[str | None, AgentOutcome | None]:
    """What ended a life early, and what it brought back if nothing did."""
    outcome = life.outcome
    if not isinstance(outcome, AgentOutcome):
        return f"it ended with {life.exit.text}, without coming to its end", None
    if outcome.refused is not None:
        raise PayloadRefused(*outcome.refused)
    if outcome.raised is not None:
        return outcome.raised, None
    return None, outcome


def _sound_outcome(life: ForkedLife, name: str) -> AgentOutcome:
    if life.timed_out:
        raise SubjectFailed(name, "it did not end in time")
    raised, outcome = _how_it_ended(life)
    if outcome is None:
        raise SubjectFailed(name, str(raised))
    return outcome


def _effect(effect: Effect, run_id: str) -> Effect:
    key = None if effect.key is None else without_run_id(effect.key, run_id)
    return replace(effect, payload=without_run_id(effect.payload, run_id), key=key)


def _difference(first: Seen, second: Seen) -> str | None:
    """How two runs without a crash differ, in effects or in state."""
    for one, other in _pairs(first, second):
        if one != other:
            return f"{shown(one)} and {shown(other)}"
    return None


def _pairs(first: Seen, second: Seen) -> Iterator[tuple[object, object]]:
    yield list(first.effects), list(second.effects)
    if first.state is not NO_STATE and second.state is not NO_STATE:
        yield first.reread, second.reread
