"""How a scenario went, as far as one needs it to draw a picture of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EffectName:
    """What an effect is told apart by: its kind and key, or its payload where it has no key."""

    kind: str
    key: str | None = None
    payload: str | None = None


Run = tuple[int, int]
"""Effects of the baseline, one after the other: the first of them and the last, from 1."""


@dataclass(frozen=True, slots=True)
class Undisturbed:
    """What a run without a crash came through.

    `passed` are its boundaries in order, each with its occurrence, such as `effect:after#2`;
    `words` say what each of them is where its name does not, and are as many, or none. `state` is
    its final state in words, None where the subject shows none.
    """

    passed: tuple[str, ...] = ()
    effects: tuple[EffectName, ...] = ()
    state: str | None = None
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Course:
    """How a scenario went. `committed` counts the effects that there were at each death.

    `effects` are all that there were in the end, in order, by the baseline's where they are its.
    `raised` and `hung` say how the last life ended otherwise than well, `doubts` what it reported
    as unknown, `absorbed` how many calls were answered with the receipt of an earlier one.
    """

    committed: tuple[int, ...]
    effects: tuple[Run | EffectName, ...] = ()
    raised: str | None = None
    hung: bool = False
    doubts: tuple[str, ...] = ()
    absorbed: int = 0
