"""Counting an object's calls in one life, and what happens at the one that a plan names."""

from __future__ import annotations

import errno
import os
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from resumeproof.crash.kill import Kill, die
from resumeproof.crash.plan import CrashPlan, CrashPoint
from resumeproof.crash.witness import write_witness
from resumeproof.errors import PlanRefused, UsageRefused

AtBoundary = Callable[[str, int], None]
"""Told of each boundary: its name, and for the how many-th call, from 1."""


class CountedCalls:
    """The calls of one life, over all its threads and all objects that share this.

    `passed` are the boundaries that the life came to, in order.
    """

    def __init__(self, at_boundary: AtBoundary) -> None:
        self._at_boundary = at_boundary
        self._counts: Counter[str] = Counter()
        # Reentrant, since a signal handler of this thread may make a call, too.
        self._lock = threading.RLock()
        self.passed: list[tuple[str, int]] = []

    @contextmanager
    def call(self, name: str) -> Iterator[None]:
        """Stand round one call: its number is that of its beginning, however calls overlap.

        What ends a life or a task (a `BaseException`) comes to no boundary.
        """
        with self._lock:
            self._counts[name] += 1
            number = self._counts[name]
            self._reach(f"{name}:before", number)
        try:
            yield
        except Exception:
            self._reach(f"{name}:after", number)
            raise
        self._reach(f"{name}:after", number)

    def _reach(self, boundary: str, number: int) -> None:
        with self._lock:
            self.passed.append((boundary, number))
            self._at_boundary(boundary, number)


@dataclass(frozen=True)
class Strike:
    """What happens at one crash point (None: nothing, anywhere), and at no other."""

    point: CrashPoint | None
    at_point: AtBoundary

    @classmethod
    def of(
        cls, plan: str | CrashPoint | None, names: Mapping[str, str], kill: Kill, error: int | None
    ) -> Strike:
        """A death by `kill`, or an `OSError`, where `error` is its number.

        Raises `UsageRefused` for a plan that no call of these names could ever come to.
        """
        point = _one_point(plan)
        if point is not None and point.boundary.partition(":")[0] not in names.values():
            counted = ", ".join(sorted(names.values()))
            raise UsageRefused(reason=f"crash point {point} is at no counted call ({counted})")
        number = checked_error(error)
        return cls(point, dying(partial(die, kill)) if number is None else _failing(number))

    def __call__(self, boundary: str, number: int) -> None:
        point = self.point
        if point is not None and (boundary, number) == (point.boundary, point.occurrence):
            self.at_point(boundary, number)


def dying(death: Callable[[], None]) -> AtBoundary:
    """Write the witness, so that no death is taken on trust; then die. `death` does not return."""

    def die_there(boundary: str, number: int) -> None:
        write_witness(boundary, number)
        death()

    return die_there


def _failing(error: int) -> AtBoundary:
    def fail_there(boundary: str, number: int) -> None:
        raise injected_error(error)

    return fail_there


def checked_error(number: int | None) -> int | None:
    """A number that errno(3) knows, or None. Raises `UsageRefused`."""
    if number is not None and number not in errno.errorcode:
        raise UsageRefused(reason=f"error {number!r} is no number of an error, as errno.ENOSPC is")
    return number


def injected_error(number: int) -> OSError:
    """The error that a system call would have left behind, as errno(3) numbers it."""
    return OSError(number, os.strerror(number))


def named_calls(calls: Collection[str] | Mapping[str, str]) -> Mapping[str, str]:
    """The boundary's name for each name that is counted. Raises `UsageRefused`."""
    if isinstance(calls, str):
        raise UsageRefused(reason=f"calls are several names: {{{calls!r}}}")
    names = dict(calls) if isinstance(calls, Mapping) else {name: name for name in calls}
    if not names:
        raise UsageRefused(reason="no call is named, so none is counted")
    for called, name in names.items():
        try:
            CrashPoint(f"{name}:before")
        except PlanRefused as error:
            raise UsageRefused(
                reason=f"a crash plan has no place for {name!r}; give it a name of small letters: "
                f"calls={{{called!r}: 'save'}}"
            ) from error
    return names


def _one_point(plan: str | CrashPoint | None) -> CrashPoint | None:
    if not isinstance(plan, str):
        return plan
    points = CrashPlan.parse(plan).points
    if len(points) > 1:
        raise UsageRefused(reason=f"one life dies once: give each its own point of {plan!r}")
    return points[0] if points else None
