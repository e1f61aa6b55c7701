from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, replace
from typing import Any

import pytest

from resumeproof.domain.frozen import frozen


@frozen
class Point:
    x: int
    y: int = 0
    names: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Standard:
    x: int
    y: int = 0
    names: list[str] = field(default_factory=list)


@frozen
class Pair:
    x: int
    y: int = 0


@frozen
class Even:
    number: int

    def __post_init__(self) -> None:
        if self.number % 2:
            raise ValueError("odd")


def test_it_is_a_dataclass_like_any_other() -> None:
    def told(cls: Callable[..., Any]) -> tuple[object, ...]:
        one, other = cls(1), replace(cls(1, y=2), x=3)
        return (
            [each.name for each in fields(one)],
            asdict(other),
            (one == cls(1, 0), one == other, one == (1, 0, [])),
            repr(other).replace(type(other).__name__, ""),
            one.names is other.names,
        )

    assert told(Point) == told(Standard)


def test_equal_ones_hash_equal_and_those_of_another_class_are_not_equal() -> None:
    other: object = Even(2)
    assert (len({Pair(2), Pair(2, 0), Pair(2, 1)}), Pair(2) == other) == (2, False)


def test_it_is_matched_by_position_and_pickled_by_value() -> None:
    match pickle.loads(pickle.dumps(Pair(1, 2))):
        case Pair(x, y):
            assert (x, y) == (1, 2)
        case other:
            pytest.fail(repr(other))


@pytest.mark.parametrize(
    "alter",
    [
        lambda pair: setattr(pair, "x", 2),
        lambda pair: setattr(pair, "z", 2),
        lambda pair: delattr(pair, "x"),
    ],
    ids=["set", "add", "delete"],
)
def test_it_is_never_altered(alter: Callable[[Pair], None]) -> None:
    pair = Pair(1)
    with pytest.raises(FrozenInstanceError):
        alter(pair)
    assert pair == Pair(1)


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ((), {}),
        ((), {"y": 1}),
        ((1, 2, 3), {}),
        ((1,), {"x": 1}),
        ((1,), {"z": 1}),
        ((), {"y": 1, "z": 1}),
    ],
    ids=["none", "missing", "too many", "twice", "unknown", "missing and unknown"],
)
def test_it_takes_each_value_once(values: tuple[int, ...], named: dict[str, int]) -> None:
    with pytest.raises(TypeError, match="Pair takes"):
        Pair(*values, **named)


def test_values_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(ValueError, match="odd"):
        replace(Even(2), number=3)
