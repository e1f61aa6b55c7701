"""What a forked life showed, made comparable: by value, and with its run id replaced."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from resumeproof.crash.forked import ForkedLife
from resumeproof.crash.kill import Kill
from resumeproof.crash.plan import CrashPoint
from resumeproof.errors import PayloadRefused, SubjectFailed
from resumeproof.proof.comparison import Wording, same_value, shown_apart
from resumeproof.proof.context import Effect
from resumeproof.proof.living import LifeOutcome
from resumeproof.proof.oracle import NO_STATE, Seen
from resumeproof.proof.payload import unpack


def verify_forked_kill(life: ForkedLife, point: CrashPoint, kill: Kill) -> str | None:
    """Why this life did not die by `kill` at `point`; None if it did just that."""
    if life.timed_out:
        return f"planned a death at {point}, but it hung and was killed for that"
    if life.witness != (point.boundary, point.occurrence):
        return f"planned a death at {point}, but it ended by itself with {life.exit.text}"
    found = -life.exit.code if life.exit.kind == "signal" else life.exit.code
    if found != kill.returncode:
        return f"planned {kill} at {point}, but it was {life.exit.text}"
    return None


def brought_back(life: ForkedLife) -> tuple[str | None, LifeOutcome | None]:
    """What ended a life early, and what it brought back if nothing did.

    Raises `PayloadRefused` for a state that cannot leave its process.
    """
    outcome = life.outcome
    if not isinstance(outcome, LifeOutcome):
        return f"it ended with {life.exit.text}, without coming to its end", None
    if outcome.refused is not None:
        raise PayloadRefused(*outcome.refused)
    if outcome.raised is not None:
        return outcome.raised, None
    return None, outcome


def sound_outcome(life: ForkedLife, name: str) -> LifeOutcome:
    """What an undisturbed life brought back. Raises `SubjectFailed` if it did not come so far."""
    if life.timed_out:
        raise SubjectFailed(name, "it did not end in time")
    raised, outcome = brought_back(life)
    if outcome is None:
        raise SubjectFailed(name, str(raised))
    return outcome


def effects_seen(effects: Sequence[Effect], wording: Wording) -> list[Effect]:
    """The effects in the baseline's words."""
    # Nearly always there is nothing to replace, and one look at all the texts tells.
    texts = [effect.key or "" for effect in effects]
    texts += [effect.payload for effect in effects if type(effect.payload) is str]
    if not wording.touches("\n".join(texts)):
        return [
            effect if type(effect.payload) in _SIMPLE else _worded(effect, wording)
            for effect in effects
        ]
    return [_worded(effect, wording) for effect in effects]


_SIMPLE = frozenset({str, int, float, bool, type(None)})


def _worded(effect: Effect, wording: Wording) -> Effect:
    payload, key = wording.neutral(effect.payload), wording.neutral(effect.key)
    if payload is effect.payload and key is effect.key:
        return effect
    return replace(effect, payload=payload, key=key)


def left_behind(seen: Seen, lives: Sequence[ForkedLife], root: Path) -> Seen:
    """What was seen, with what outlived these lives; a lock on another file is not theirs."""
    if not any(life.orphans for life in lives):
        return seen
    place = root.resolve()
    files = frozenset[Path]().union(*(life.locked for life in lives))
    ours = {str(file.relative_to(place)) for file in files if file.is_relative_to(place)}
    return replace(
        seen,
        orphans=seen.orphans + sum(len(life.orphans) for life in lives),
        locked=seen.locked | ours,
    )


def told_by(life: ForkedLife, seen: Seen) -> Seen:
    """What was seen, with what a life says of its stores, however it ended."""
    outcome = life.outcome
    if not isinstance(outcome, LifeOutcome):
        return seen
    return replace(
        seen,
        violations=(*seen.violations, *outcome.violations),
        absorbed=max(seen.absorbed, outcome.absorbed),
    )


def state_of(outcome: LifeOutcome, wording: Wording) -> Any:
    """The state that a life brought back, in the baseline's words; `NO_STATE` if it has none."""
    return NO_STATE if outcome.state is None else wording.neutral(unpack(outcome.state))


def difference(first: Seen, second: Seen) -> str | None:
    """How two runs without a crash differ, in effects or in state."""
    for one, other in _compared(first, second):
        if not same_value(one, other):
            return " and ".join(shown_apart(one, other))
    return None


def _compared(first: Seen, second: Seen) -> Iterator[tuple[object, object]]:
    yield list(first.effects), list(second.effects)
    if first.state is not NO_STATE and second.state is not NO_STATE:
        yield first.reread, second.reread
