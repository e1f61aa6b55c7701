"""Comparing what a scenario came to with what the baseline did, by value."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from resumeproof.proof.context import Effect, Unknown
from resumeproof.proof.payload import canonical

SCENARIO = "<scenario>"
"""Stands in texts for the directory of a scenario, which lies somewhere else in each run."""

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


@dataclass(frozen=True)
class EffectCount:
    """How often one effect happened. Effects with a key are told apart by it alone."""

    name: str
    baseline: int
    scenario: int
    key: str | None


@dataclass(frozen=True)
class Wording:
    """What a scenario's texts hold only because of its own name and place.

    `root` is the scenario's directory; None where it has none.
    """

    run_id: str
    baseline_run_id: str
    root: str | None = None

    def neutral(self, value: Any) -> Any:
        """The value with run id and root replaced by the baseline's, in all its texts.

        A run id counts only where no letter or digit touches it: `run-1` is not in `run-12`.
        """
        if isinstance(value, str):
            return self._text(value) if type(value) is str else value
        if type(value) in (list, tuple, set, frozenset):
            return type(value)(self.neutral(part) for part in value)
        if type(value) is dict:
            return {self.neutral(name): self.neutral(part) for name, part in value.items()}
        if isinstance(value, PurePath):
            return type(value)(self._text(str(value)))
        return value

    def touches(self, text: str) -> bool:
        """Whether there may be anything to replace in a text."""
        return (self.root is not None and self.root in text) or (
            self.run_id != self.baseline_run_id and self.run_id in text
        )

    def _text(self, text: str) -> str:
        if self.root is not None and self.root in text:
            text = text.replace(self.root, SCENARIO)
        if self.run_id != self.baseline_run_id and self.run_id in text:
            whole = rf"(?<![^\W_]){re.escape(self.run_id)}(?![^\W_])"
            text = re.sub(whole, lambda _: self.baseline_run_id, text)
        return text


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


def same_value(one: Any, other: Any) -> bool:
    """Whether two values are equal, or are built alike of equal parts.

    So objects that define no equality are compared by what they hold, as their pickled forms are,
    and NaN is the same as NaN.
    """
    return _Alike(honest_doubts=False).alike(one, other)


def matches(expected: Any, found: Any) -> bool:
    """The same, an honest `Unknown` in what was found standing for whatever it might be."""
    return _Alike(honest_doubts=True).alike(expected, found)


class _Alike:
    def __init__(self, *, honest_doubts: bool) -> None:
        self._honest_doubts = honest_doubts
        self._asked: dict[tuple[int, int], tuple[Any, Any]] = {}

    def alike(self, one: Any, other: Any) -> bool:
        if one is other or (self._honest_doubts and isinstance(other, Unknown)):
            return True
        if _equal(one, other):
            return True
        if type(one) is not type(other):
            return False
        pair = (id(one), id(other))
        if pair in self._asked:
            return True
        # Kept, since a part that was made for the asking could hand its id on.
        self._asked[pair] = (one, other)
        if isinstance(one, float):
            return bool(one != one and other != other)
        if isinstance(one, dict):
            return one.keys() == other.keys() and all(
                self.alike(one[name], other[name]) for name in one
            )
        if isinstance(one, list | tuple):
            return len(one) == len(other) and all(map(self.alike, one, other))
        if isinstance(one, set | frozenset):
            return self._alike_sets(one, other)
        if type(one).__module__ == "builtins":
            return False
        return self._built_alike(one, other)

    def _alike_sets(self, one: Any, other: Any) -> bool:
        missing, more = one - other, other - one
        doubted = self._honest_doubts and all(isinstance(part, Unknown) for part in more)
        return doubted and len(missing) == len(more)

    def _built_alike(self, one: Any, other: Any) -> bool:
        """What pickle would take them apart into: constructor, arguments, state, items."""
        try:
            return self.alike(_taken_apart(one), _taken_apart(other))
        except Exception:
            return False


def _equal(one: Any, other: Any) -> bool:
    try:
        return bool(one == other)
    except Exception:
        return False  # as an array says, whose equality is another array


def _taken_apart(value: Any) -> Any:
    parts = value.__reduce_ex__(4)
    if not isinstance(parts, tuple):
        return parts
    return tuple(list(part) if isinstance(part, Iterator) else part for part in parts)


def count_effects(baseline: Sequence[Effect], scenario: Sequence[Effect]) -> list[EffectCount]:
    """Both sides' effects, one entry for each that either has; in order of first appearance."""
    tally = _Tally()
    for side, effects in enumerate((baseline, scenario)):
        for effect in effects:
            tally.counts_of(effect)[side] += 1
    return [
        EffectCount(_name(effect), counts[0], counts[1], effect.key)
        for effect, counts in tally.entries
    ]


def same_keys(one: Sequence[Effect], other: Sequence[Effect]) -> bool:
    """Whether all effects have keys, and the same in the same order: then no count differs."""
    keys = [effect.key for effect in one]
    return None not in keys and keys == [effect.key for effect in other]


class _Tally:
    """Entries found by key, or by kind and payload; a payload without a text form by looking."""

    def __init__(self) -> None:
        self.entries: list[tuple[Effect, list[int]]] = []
        self._found: dict[object, list[int]] = {}
        self._others: list[tuple[Effect, list[int]]] = []

    def counts_of(self, effect: Effect) -> list[int]:
        if effect.key is not None:
            return self._by_name(effect, (effect.key,))
        text = canonical(effect.payload)
        if text is not None:
            return self._by_name(effect, (effect.kind, text))
        for known, counts in self._others:
            if known.kind == effect.kind and same_value(known.payload, effect.payload):
                return counts
        counts = [0, 0]
        self._others.append((effect, counts))
        self.entries.append((effect, counts))
        return counts

    def _by_name(self, effect: Effect, name: object) -> list[int]:
        counts = self._found.get(name)
        if counts is None:
            counts = self._found[name] = [0, 0]
            self.entries.append((effect, counts))
        return counts


def _name(effect: Effect) -> str:
    if effect.key is not None:
        return f"effect {effect.kind!r} with key {effect.key!r}"
    return f"effect {effect.kind!r} of {shown(effect.payload)}"


def shown(value: Any, limit: int = 120) -> str:
    """A value in one line of bounded length, the same in each process."""
    text = _text_of(value)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def shown_apart(one: Any, other: Any, limit: int = 120) -> tuple[str, str]:
    """Two values, each in one line of bounded length, so cut that where they differ shows."""
    texts = _text_of(one), _text_of(other)
    if max(map(len, texts)) <= limit:
        return texts
    common = next(
        (place for place, (left, right) in enumerate(zip(*texts, strict=False)) if left != right),
        min(map(len, texts)),
    )
    start = max(0, common - limit // 2)
    first, second = (_cut(text, start, start + limit) for text in texts)
    return first, second


def _cut(text: str, start: int, end: int) -> str:
    return ("…" if start else "") + text[start:end] + ("…" if text[end:] else "")


def without_addresses(text: str) -> str:
    """A text without the addresses of objects, which differ from process to process."""
    return _ADDRESS.sub("", text)


def _text_of(value: Any) -> str:
    try:
        text = _ordered(value)
    except RecursionError:
        text = repr(value)
    return without_addresses(text).replace("\n", " ")


def _ordered(value: Any) -> str:
    """`repr`, with sets in order: theirs hangs on the hash seed of the process."""
    write: Callable[[Any], str] = _ordered
    kind = type(value)
    if kind is dict:
        return "{" + ", ".join(f"{write(k)}: {write(part)}" for k, part in value.items()) + "}"
    if kind is list:
        return "[" + ", ".join(map(write, value)) + "]"
    if kind is tuple:
        return "(" + ", ".join(map(write, value)) + (",)" if len(value) == 1 else ")")
    if kind in (set, frozenset) and value:
        inner = "{" + ", ".join(sorted(map(write, value))) + "}"
        return inner if kind is set else f"frozenset({inner})"
    return repr(value)
