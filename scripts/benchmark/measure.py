"""Two things timed in turn, and the ratio of their medians.

Absolute figures differ from machine to machine, and from minute to minute on one; so a floor is
always measured in the same run, alternating with what it is a floor for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import median
from time import perf_counter

Act = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Ratio:
    """How long something takes, by what it is measured, and what is promised of the quotient."""

    name: str
    measured_seconds: float
    floor: str
    floor_seconds: float
    target: float
    repeats: int

    @property
    def value(self) -> float:
        return self.measured_seconds / self.floor_seconds

    @property
    def ok(self) -> bool:
        return self.value <= self.target


@dataclass(frozen=True, slots=True)
class Count:
    """Something counted that has to be so many; `found` None where it could not be counted."""

    name: str
    found: float | None
    target: float

    @property
    def ok(self) -> bool | None:
        return None if self.found is None else self.found == self.target


@dataclass(frozen=True, slots=True)
class Bound:
    """Something that must not be more than so much."""

    name: str
    found: float
    target: float
    unit: str

    @property
    def ok(self) -> bool:
        return self.found <= self.target


@dataclass(frozen=True, slots=True)
class Note:
    """A figure of this machine, to read the others by; nothing is promised of it."""

    name: str
    value: str


Finding = Ratio | Count | Bound | Note


def seconds_of(act: Act) -> float:
    started = perf_counter()
    act()
    return perf_counter() - started


def compare(name: str, floor: str, pairs: Iterable[tuple[Act, Act]], *, target: float) -> Ratio:
    """Time each pair, what is measured and its floor, by turns first and second."""
    measured, floors = [], []
    for turn, (act, floor_act) in enumerate(pairs):
        if turn % 2:
            floors.append(seconds_of(floor_act))
        measured.append(seconds_of(act))
        if not turn % 2:
            floors.append(seconds_of(floor_act))
    return Ratio(name, median(measured), floor, median(floors), target, len(measured))
