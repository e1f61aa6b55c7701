"""Looks for the ways of one power cut that a run can tell apart, going by what runs have seen."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from resumeproof.crash.syscalls.alike import Likeness
from resumeproof.crash.syscalls.cut import Cut, Losses
from resumeproof.crash.syscalls.observation import Observation
from resumeproof.crash.syscalls.ways import Ways, WaySet


class Search:
    """What is still to be tried of a cut: sets of ways that share none, none in the end.

    Runs that see the same do the same next, so that they make a tree: they part where one sees what
    another does not. An open set is a branch of it that no run has taken.
    """

    def __init__(self, cut: Cut) -> None:
        self.cut = cut
        self._ways = Ways(cut.pending)
        self._likeness = Likeness(cut, self._ways)
        self._open: dict[WaySet, None] = {self._ways.every: None}
        self._aside: list[WaySet] = []
        self._picked: dict[Losses, WaySet] = {}
        self._telling: list[Losses] | None = list(dict.fromkeys(cut.telling()))

    def candidates(self, most: int) -> Sequence[Losses]:
        """Ways to try next, at most so many: first what tells most, then one of each open set."""
        if self._telling is not None:
            telling, self._telling = self._telling[:most], None
            return telling
        self._picked = {self._ways.pick(ways): ways for ways in islice(self._open, most)}
        return list(self._picked)

    def learn(self, losses: Losses, seen: Observation) -> None:
        """A run that found this way saw that: whatever looks the same needs no run."""
        ways = self._holding(losses)
        if ways is not None:
            demands = self._likeness.demands(losses, seen)
            del self._open[ways]
            self._open |= dict.fromkeys(self._ways.without(ways, demands))

    def set_aside(self, losses: Losses) -> None:
        """Nobody can run this way, so that the set that it was to stand for stays untried."""
        ways = self._holding(losses)
        if ways is not None:
            del self._open[ways]
            self._aside.append(ways)

    def _holding(self, losses: Losses) -> WaySet | None:
        """The open set that a way is in. None: a run stands for it already."""
        if losses in self._picked:
            return self._picked.pop(losses)
        way = self._ways.way_of(losses)
        return next((ways for ways in self._open if ways.holds(way)), None)

    @property
    def is_over(self) -> bool:
        return not self._open

    @property
    def untried(self) -> int:
        """How many ways there are that no run stands for."""
        return sum(self._ways.count(ways) for ways in (*self._open, *self._aside))
