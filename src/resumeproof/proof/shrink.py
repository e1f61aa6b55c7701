"""Fewer inputs that still fail: what a failing report comes down to.

First the shortest beginning that still fails is looked for, then whatever can be left out of it,
in ever smaller pieces. "Still fails" means a finding of the same kind as the report's first one.
Source: Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input" (2002).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from resumeproof.domain.conformance import ConformanceReport
from resumeproof.errors import ResumeproofError

BUDGET_RUNS: Final = 60
BUDGET_SECONDS: Final = 60.0

ProveAgain = Callable[[tuple[Any, ...]], ConformanceReport]
"""Proves the same subject in the same way with other inputs."""

Indexes = tuple[int, ...]


def shrunk(
    report: ConformanceReport,
    inputs: Sequence[Any],
    prove_again: ProveAgain,
    *,
    budget_runs: int = BUDGET_RUNS,
    budget_seconds: float = BUDGET_SECONDS,
    now: Callable[[], float] = time.monotonic,
) -> ConformanceReport:
    """Note in a failing report, as `fewest_inputs`, the fewest inputs found that still fail.

    Leaves a report alone that has no findings, or not more than one input. No proof is begun once
    a budget is spent, and then the fewest so far are noted. `now` gives seconds.
    """
    if report.findings and len(inputs) > 1:
        budget = _Budget(budget_runs, now() + budget_seconds, now)
        search = _Search(report, tuple(inputs), prove_again, budget)
        report.fewest_inputs = [inputs[index] for index in search.fewest()]
    return report


class _Budget:
    def __init__(self, runs: int, deadline: float, now: Callable[[], float]) -> None:
        self._runs = runs
        self._deadline = deadline
        self._now = now

    def take_run(self) -> bool:
        """Whether one more run may begin."""
        if self._runs <= 0 or self._now() >= self._deadline:
            return False
        self._runs -= 1
        return True


class _Search:
    def __init__(
        self,
        report: ConformanceReport,
        inputs: tuple[Any, ...],
        prove_again: ProveAgain,
        budget: _Budget,
    ) -> None:
        self._kind = report.findings[0].kind
        self._inputs = inputs
        self._prove_again = prove_again
        self._budget = budget
        self._tried: dict[Indexes, bool] = {}

    def fewest(self) -> Indexes:
        """The fewest inputs found, by their places; with these the subject did fail."""
        fewest = self._shortest_beginning(tuple(range(len(self._inputs))))
        size = len(fewest) // 2
        while size > 0:
            fewer = self._without_pieces(fewest, size)
            # What could be left out may let other single inputs be left out, too.
            size = size if size == 1 and fewer != fewest else size // 2
            fewest = fewer
        return fewest

    def _shortest_beginning(self, failing: Indexes) -> Indexes:
        """Doubling, then halving the gap, as if every longer beginning failed as well."""
        passing_length, length = 0, 1
        while length < len(failing) and not self._fails(failing[:length]):
            passing_length, length = length, length * 2
        best = failing[:length]
        while len(best) - passing_length > 1:
            middle = (len(best) + passing_length) // 2
            if self._fails(failing[:middle]):
                best = failing[:middle]
            else:
                passing_length = middle
        return best

    def _without_pieces(self, failing: Indexes, size: int) -> Indexes:
        start = 0
        while start < len(failing):
            rest = failing[:start] + failing[start + size :]
            if rest and self._fails(rest):
                failing = rest
            else:
                start += size
        return failing

    def _fails(self, indexes: Indexes) -> bool:
        if indexes not in self._tried:
            if not self._budget.take_run():
                return False
            self._tried[indexes] = self._proves_the_same(indexes)
        return self._tried[indexes]

    def _proves_the_same(self, indexes: Indexes) -> bool:
        try:
            again = self._prove_again(tuple(self._inputs[index] for index in indexes))
        except ResumeproofError:
            return False  # Fewer inputs than the subject can do with prove nothing.
        return any(finding.kind is self._kind for finding in again.findings)
