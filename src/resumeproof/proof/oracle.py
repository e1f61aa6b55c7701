"""The judge: what a scenario came to, held against the baseline. Pure.

What is judged is what is there: a subject without `state()` is compared by its effects alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from resumeproof.domain.contract import Lookup, ToolContract
from resumeproof.domain.verdict import Finding, FindingKind, Violation
from resumeproof.proof.comparison import (
    EffectCount,
    count_effects,
    is_empty,
    matches,
    same_keys,
    same_value,
    shown,
    shown_apart,
)
from resumeproof.proof.context import Effect

NO_STATE: Any = object()
"""Stands for the state of a subject that has none to show."""


@dataclass(frozen=True)
class Seen:
    """What one scenario left to be seen.

    `effects` are those that the receiver applied; `state` is that of the last life, `reread` that
    of a fresh one which only opened the subject. `in_flight` is the key of the effect at which the
    (last) death struck, None where it has none. `doubts_told`: the subject called `ctx.in_doubt`,
    and its state need not show where. `locked` are the files of the scenario on which a process
    that outlived a life held a kernel lock. `violations` are what its lives found in their stores,
    `absorbed` the calls that were answered with an earlier receipt. The run id is replaced in all
    of them but the last two.
    """

    effects: Sequence[Effect]
    state: Any = NO_STATE
    reread: Any = NO_STATE
    doubts: Sequence[str] = ()
    doubts_told: bool = False
    in_flight: str | None = None
    raised: str | None = None
    hung: bool = False
    orphans: int = 0
    locked: frozenset[str] = frozenset()
    violations: Sequence[Violation] = ()
    absorbed: int = 0


@dataclass(frozen=True)
class Place:
    """Which scenario is judged: its plan, and how many effects were committed before it died."""

    plan: str
    crash_after: int

    def finding(self, kind: FindingKind, detail: str) -> Finding:
        return Finding(kind, self.crash_after, detail, self.plan)


def judge(place: Place, baseline: Seen, seen: Seen) -> list[Finding]:
    """All guarantees that a scenario broke, in the order of their seriousness."""
    findings = list(_effects(place, baseline, seen))
    if seen.hung:
        findings.append(place.finding(FindingKind.RESUME_HUNG, "the resume did not end in time"))
    elif seen.raised is not None:
        findings.append(place.finding(FindingKind.RESUME_CRASHED, seen.raised))
    else:
        findings += _state(place, baseline, seen)
    findings += _in_stores(place, seen)
    findings += _left_behind(place, seen)
    return findings


def judge_baseline(seen: Seen) -> list[Finding]:
    """What the baseline itself breaks: a state that was never durable, a process left behind."""
    place = Place("baseline", 0)
    findings = []
    if seen.state is not NO_STATE and not same_value(seen.state, seen.reread):
        findings.append(place.finding(FindingKind.STATE_LOST, _not_durable(seen)))
    findings += _in_stores(place, seen)
    findings += _left_behind(place, seen)
    return findings


def _in_stores(place: Place, seen: Seen) -> Iterator[Finding]:
    # The same is found again by each life that looks.
    for violation in dict.fromkeys(seen.violations):
        yield place.finding(violation.kind, violation.detail)


def _left_behind(place: Place, seen: Seen) -> Iterator[Finding]:
    for name in sorted(seen.locked):
        holder = f"a process that outlived its life holds a kernel lock on {name}"
        yield place.finding(FindingKind.LOCK_LEAKED, holder)
    if seen.orphans:
        counted = f"{seen.orphans} process(es) outlived the life that started them"
        yield place.finding(FindingKind.ORPHAN_PROCESS, counted)


def _effects(place: Place, baseline: Seen, seen: Seen) -> Iterator[Finding]:
    if same_keys(baseline.effects, seen.effects):
        return
    ended = not seen.hung and seen.raised is None
    for count in count_effects(baseline.effects, seen.effects):
        if count.scenario > count.baseline:
            times = (
                f"{count.name} happened {count.scenario} times, {count.baseline} in the baseline"
            )
            yield place.finding(FindingKind.EFFECT_REPLAYED, times)
        # An honest doubt is no loss, and a resume that never ended had no chance.
        elif count.scenario < count.baseline and ended and not _is_doubted(count, seen):
            times = (
                f"{count.name} happened {count.scenario} times, {count.baseline} in the baseline"
            )
            yield place.finding(FindingKind.EFFECT_LOST, times)


def _is_doubted(count: EffectCount, seen: Seen) -> bool:
    """An effect without a key cannot be named: any doubt may be about it."""
    return bool(seen.doubts) if count.key is None else count.key in seen.doubts


def _state(place: Place, baseline: Seen, seen: Seen) -> Iterator[Finding]:
    if baseline.state is NO_STATE or seen.state is NO_STATE:
        return
    if is_empty(seen.reread) and not is_empty(baseline.reread):
        detail = (
            f"final state {shown(seen.reread)} is empty, the baseline's {shown(baseline.reread)}"
        )
        yield place.finding(FindingKind.STATE_LOST, detail)
    elif not same_value(seen.state, seen.reread):
        yield place.finding(FindingKind.STATE_LOST, _not_durable(seen))
    elif not seen.doubts_told and not matches(baseline.reread, seen.reread):
        found, expected = shown_apart(seen.reread, baseline.reread)
        detail = f"final state {found}, the baseline's {expected}"
        yield place.finding(FindingKind.RESUME_DIVERGED, detail)


def _not_durable(seen: Seen) -> str:
    last, fresh = shown_apart(seen.state, seen.reread)
    return (
        f"the last life saw {last}, a fresh one {fresh}: "
        "what they do not agree on was never durable"
    )


def is_ambiguous(contract: ToolContract) -> bool:
    """Whether a subject that died at an effect may have no way to know if it happened."""
    settled = contract.idempotent and contract.key_lifetime_seconds is None
    return not settled and contract.lookup is not Lookup.CONSISTENT


def ambiguity_hidden(place: Place, seen: Seen) -> Finding | None:
    """The finding of a subject that reports doubts elsewhere, and here recorded a guess."""
    if seen.in_flight is None or seen.in_flight in seen.doubts or seen.raised or seen.hung:
        return None
    detail = f"whether the effect with key {seen.in_flight!r} happened could not be known"
    return place.finding(FindingKind.AMBIGUITY_HIDDEN, f"{detail}, and was recorded as known")
