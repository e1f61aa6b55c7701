"""How a scenario went, told by the baseline's effects: what a picture of it is drawn from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from resumeproof.domain.course import Course, EffectName, Run, Undisturbed
from resumeproof.proof.comparison import same_keys, shown
from resumeproof.proof.context import Effect
from resumeproof.proof.living import Boundary
from resumeproof.proof.oracle import NO_STATE, Seen


def undisturbed(seen: Seen, passed: Sequence[Boundary]) -> Undisturbed:
    """What a run without a crash came through."""
    return Undisturbed(
        passed=tuple(f"{name}#{occurrence}" for name, occurrence in passed),
        effects=tuple(map(_name, seen.effects)),
        state=None if seen.reread is NO_STATE else shown(seen.reread),
    )


class Courses:
    """Tells how scenarios went, by the effects of their baseline."""

    def __init__(self, baseline: Sequence[Effect]) -> None:
        self._baseline = baseline

    def of(self, committed: Sequence[int], seen: Seen) -> Course:
        """The course of a scenario that had so many effects at each of its deaths."""
        return Course(
            committed=tuple(committed),
            effects=self._told(seen.effects),
            raised=seen.raised,
            hung=seen.hung,
            doubts=tuple(seen.doubts),
            absorbed=seen.absorbed,
        )

    def _told(self, effects: Sequence[Effect]) -> tuple[Run | EffectName, ...]:
        if same_keys(self._baseline, effects):
            return ((1, len(effects)),) if effects else ()
        return tuple(self._runs(effects))

    def _runs(self, effects: Sequence[Effect]) -> Iterator[Run | EffectName]:
        first = last = 0
        for effect in effects:
            name = _name(effect)
            follows = 0 < last < len(self._names) and self._names[last] == name
            number = last + 1 if follows else self._numbers.get(name, 0)
            if last and not follows:
                yield first, last
            if number == 0:
                yield name
            first, last = first if follows else number, number
        if last:
            yield first, last

    @cached_property
    def _names(self) -> Sequence[EffectName]:
        return [_name(effect) for effect in self._baseline]

    @cached_property
    def _numbers(self) -> Mapping[EffectName, int]:
        """The first effect of each name."""
        numbers: dict[EffectName, int] = {}
        for number, name in enumerate(self._names, start=1):
            numbers.setdefault(name, number)
        return numbers


def _name(effect: Effect) -> EffectName:
    payload = shown(effect.payload) if effect.key is None else None
    return EffectName(effect.kind, effect.key, payload)
