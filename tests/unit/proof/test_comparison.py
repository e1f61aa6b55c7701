from __future__ import annotations

import math
import subprocess
import sys
from collections import OrderedDict, namedtuple
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from resumeproof import Effect, Unknown
from resumeproof.proof.comparison import (
    EffectCount,
    Wording,
    count_effects,
    is_empty,
    matches,
    same_keys,
    same_value,
    shown,
    shown_apart,
)


class Plain:
    """Defines no equality, as most classes do."""

    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)


class Slotted:
    __slots__ = ("inner",)

    def __init__(self, inner: Any) -> None:
        self.inner = inner


class Array:
    """Its equality is another array, as numpy's is."""

    def __init__(self, *numbers: int) -> None:
        self.numbers = numbers

    def __eq__(self, other: object) -> Any:
        return self

    def __bool__(self) -> bool:
        raise ValueError("the truth value is ambiguous")

    __hash__ = None  # type: ignore[assignment]


@dataclass
class Record:
    inner: Any


Pair = namedtuple("Pair", "one other")


def looped(number: int) -> list[Any]:
    loop: list[Any] = [number]
    loop.append(loop)
    return loop


SAME = {
    "numbers": (1, 1.0),
    "nan": (math.nan, float("nan")),
    "nan inside": ([{"a": (math.nan,)}], [{"a": (float("nan"),)}]),
    "objects": (Plain(a=1, b=[2]), Plain(a=1, b=[2])),
    "objects inside": ({"x": [Plain(a=Plain())]}, {"x": [Plain(a=Plain())]}),
    "slots": (Slotted(Plain(a=1)), Slotted(Plain(a=1))),
    "a dataclass of objects": (Record(Plain(a=1)), Record(Plain(a=1))),
    "arrays": ([Array(1, 2)], [Array(1, 2)]),
    "order in a dict": ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    "named tuples": (Pair(1, Plain()), Pair(1, Plain())),
    "dict kinds of objects": (OrderedDict(a=Plain()), OrderedDict(a=Plain())),
    "loops": (looped(1), looped(1)),
}
DIFFERENT = {
    "numbers": (1, 2),
    "texts": ("a", "b"),
    "number and text": (1, "1"),
    "objects": (Plain(a=1), Plain(a=2)),
    "attributes": (Plain(a=1), Plain(b=1)),
    "classes": (Plain(inner=1), Slotted(1)),
    "arrays": (Array(1, 2), Array(1, 3)),
    "length": ([1], [1, 1]),
    "list and tuple": ([1], (1,)),
    "sets": ({1}, {2}),
    "keys": ({"a": 1}, {"b": 1}),
    "loops": ([looped(1)], [looped(2)]),
    "deep inside": (Record([Plain(a={"b": 1})]), Record([Plain(a={"b": 2})])),
    "nothing and something": (None, 0),
    "functions": (len, max),
}


@pytest.mark.parametrize(("one", "other"), SAME.values(), ids=SAME)
def test_values_that_are_the_same(one: Any, other: Any) -> None:
    assert (same_value(one, other), same_value(other, one), matches(one, other)) == (
        True,
        True,
        True,
    )


@pytest.mark.parametrize(("one", "other"), DIFFERENT.values(), ids=DIFFERENT)
def test_values_that_differ(one: Any, other: Any) -> None:
    assert (same_value(one, other), same_value(other, one), matches(one, other)) == (
        False,
        False,
        False,
    )


HONEST: dict[str, tuple[Any, Any, bool]] = {
    "whole": ([1], Unknown("k"), True),
    "in a dict": ({"a": "sent", "b": 1}, {"a": Unknown("a"), "b": 1}, True),
    "in a list": (["sent", "sent"], ["sent", Unknown("b")], True),
    "in an object": (Plain(a="sent"), Plain(a=Unknown("a")), True),
    "in a set": ({"a", "b"}, {"a", Unknown("b")}, True),
    "one for two": ({"a", "b"}, {Unknown("b")}, False),
    "beside a lie": ({"a": "sent", "b": 1}, {"a": Unknown("a"), "b": 2}, False),
    "expected, and not found": ({"a": Unknown("a")}, {"a": "sent"}, False),
}


@pytest.mark.parametrize(("expected", "found", "honest"), HONEST.values(), ids=HONEST)
def test_an_honest_doubt_stands_for_what_it_might_be(
    expected: Any, found: Any, honest: bool
) -> None:
    assert (matches(expected, found), same_value(expected, found)) == (honest, False)


EMPTY: list[Any] = [None, False, "", b"", [], (), {}, set(), {"a": [], "b": {"c": None}}]
FULL: list[Any] = [0, 0.0, True, "a", [0], {"a": 0}, Plain()]


@pytest.mark.parametrize("value", EMPTY, ids=repr)
def test_what_is_empty(value: Any) -> None:
    assert is_empty(value)


@pytest.mark.parametrize("value", FULL, ids=[repr(value) for value in FULL[:-1]] + ["object"])
def test_what_is_not_empty(value: Any) -> None:
    assert not is_empty(value)


# -- effects --------------------------------------------------------------------------------------


def test_effects_are_told_apart_by_key_else_by_kind_and_payload() -> None:
    a, b = Effect("send", "a"), Effect("send", "b")
    keyed, other = Effect("send", 1, "k"), Effect("call", 2, "k")
    assert count_effects([a, a, keyed], [b, a, other, keyed]) == [
        EffectCount("effect 'send' of 'a'", 2, 1, None),
        EffectCount("effect 'send' with key 'k'", 1, 2, "k"),
        EffectCount("effect 'send' of 'b'", 0, 1, None),
    ]


@pytest.mark.parametrize(
    ("one", "other", "entries"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, 1),
        ((1, Plain(a=1)), (1, Plain(a=1)), 1),
        ((1, 2), [1, 2], 2),
        ("1", 1, 2),
    ],
    ids=["order", "objects", "tuple and list", "text and number"],
)
def test_payloads_are_compared_by_value(one: Any, other: Any, entries: int) -> None:
    assert len(count_effects([Effect("send", one)], [Effect("send", other)])) == entries


def test_counting_many_effects_without_keys_is_not_quadratic() -> None:
    effects = [Effect("send", {"number": number}) for number in range(20_000)]
    assert len(count_effects(effects, effects)) == 20_000


# -- words ----------------------------------------------------------------------------------------

WORDING = Wording("run-1", "run", "/tmp/worker-2/scenario")

NEUTRAL: dict[str, tuple[Any, Any]] = {
    "the run id": ("run-1", "run"),
    "in a text": ("charge:run-1:a", "charge:run:a"),
    "before a hyphen": ("run-1-a", "run-a"),
    "another number": ("run-12", "run-12"),
    "the end of another word": ("dryrun-1", "dryrun-1"),
    "in names and parts": ({"run-1": ["run-1", ("run-1",)]}, {"run": ["run", ("run",)]}),
    "in a set": ({"run-1"}, {"run"}),
    "the place": ("in /tmp/worker-2/scenario/subject/a", "in <scenario>/subject/a"),
    "a path": (Path("/tmp/worker-2/scenario/subject"), Path("<scenario>/subject")),
    "what is no text": (1, 1),
}


@pytest.mark.parametrize(("value", "neutral"), NEUTRAL.values(), ids=NEUTRAL)
def test_what_only_a_scenarios_name_and_place_put_there_is_left_out(
    value: Any, neutral: Any
) -> None:
    assert WORDING.neutral(value) == neutral


def test_the_baseline_keeps_its_words() -> None:
    assert Wording("a", "a").neutral(["banana a"]) == ["banana a"]


def test_long_values_are_cut_where_they_differ() -> None:
    same = "x" * 500
    one, other = shown_apart([same, 1, same], [same, 2, same])
    assert (len(one), one.replace("1,", "2,"), one[0], one[-1]) == (122, other, "…", "…")


def test_short_values_are_shown_whole() -> None:
    assert (shown_apart([1], {2}), shown("a" * 200)) == (("[1]", "{2}"), f"'{'a' * 118}…")


def test_a_value_is_shown_alike_in_each_process() -> None:
    program = (
        "from resumeproof.proof.comparison import shown\n"
        "print(shown([{'b', 'a', ('c', frozenset({'e', 'd'}))}, object(), (1,), set()]))"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert texts == {"[{'a', 'b', ('c', frozenset({'d', 'e'}))}, <object object>, (1,), set()]\n"}


def test_a_value_that_holds_itself_is_shown() -> None:
    assert shown(looped(1)) == "[1, [...]]"


@pytest.mark.parametrize(
    ("keys", "same"),
    [
        pytest.param(["a", "b"], True, id="the same"),
        pytest.param(["b", "a"], False, id="in another order"),
        pytest.param(["a", "b", "b"], False, id="one more"),
        pytest.param(["a", None], False, id="one without a key"),
    ],
)
def test_effects_with_the_same_keys_need_no_counting(keys: list[str | None], same: bool) -> None:
    expected = [Effect("send", number, key) for number, key in enumerate(["a", "b"])]
    assert same_keys(expected, [Effect("send", None, key) for key in keys]) == same


def test_effects_without_keys_are_always_counted() -> None:
    assert not same_keys([Effect("send", 1)], [Effect("send", 1)])
