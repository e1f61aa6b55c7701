"""Comparing what a scenario came to with what the baseline did, by value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from resumeproof.proof.context import Effect, Unknown

BASELINE_RUN_ID = "run"


@dataclass(frozen=True)
class EffectCount:
    """How often one effect happened. Effects with a key are told apart by it alone."""

    name: str
    baseline: int
    scenario: int
    key: str | None


def without_run_id(value: Any, run_id: str) -> Any:
    """The value with a scenario's own run id replaced by the baseline's, in all its texts."""
    if isinstance(value, str):
        return value.replace(run_id, BASELINE_RUN_ID)
    if type(value) in (list, tuple, set, frozenset):
        return type(value)(without_run_id(part, run_id) for part in value)
    if type(value) is dict:
        return {
            without_run_id(name, run_id): without_run_id(part, run_id)
            for name, part in value.items()
        }
    return value


def is_empty(value: Any) -> bool:
    """Whether a state holds nothing: absent, or containers of nothing. A number is something."""
    if value is None or value is False:
        return True
    if isinstance(value, dict):
        return all(is_empty(part) for part in value.values())
    if isinstance(value, str | bytes):
        return not value
    if isinstance(value, list | tuple | set | frozenset):
        return all(is_empty(part) for part in value)
    return False


def matches(expected: Any, found: Any) -> bool:
    """Whether two states are equal, an honest `Unknown` standing for whatever it might be."""
    if isinstance(found, Unknown):
        return True
    if type(expected) is dict and type(found) is dict:
        return expected.keys() == found.keys() and all(
            matches(expected[name], found[name]) for name in expected
        )
    if type(expected) is type(found) and isinstance(expected, list | tuple):
        return len(expected) == len(found) and all(map(matches, expected, found))
    return bool(expected == found)


def count_effects(baseline: Sequence[Effect], scenario: Sequence[Effect]) -> list[EffectCount]:
    """Both sides' effects, one entry for each that either has; in order of first appearance."""
    kinds: list[tuple[Effect, list[int]]] = []
    by_key: dict[str, list[int]] = {}
    for side, effects in enumerate((baseline, scenario)):
        for effect in effects:
            counts = _entry(effect, kinds, by_key)
            counts[side] += 1
    return [
        EffectCount(_name(effect), counts[0], counts[1], effect.key) for effect, counts in kinds
    ]


def _entry(
    effect: Effect, kinds: list[tuple[Effect, list[int]]], by_key: dict[str, list[int]]
) -> list[int]:
    if effect.key is not None:
        counts = by_key.get(effect.key)
        if counts is None:
            counts = by_key[effect.key] = [0, 0]
            kinds.append((effect, counts))
        return counts
    for known, counts in kinds:
        same = known.key is None and known.kind == effect.kind
        if same and known.payload == effect.payload:
            return counts
    counts = [0, 0]
    kinds.append((effect, counts))
    return counts


def _name(effect: Effect) -> str:
    if effect.key is not None:
        return f"effect {effect.kind!r} with key {effect.key!r}"
    return f"effect {effect.kind!r} of {shown(effect.payload)}"


def shown(value: Any, limit: int = 120) -> str:
    """A value in one line of bounded length."""
    text = repr(value)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
