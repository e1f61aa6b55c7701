"""The states that a power cut can leave, each with its plan, within a budget.

    power.l12.l14-20.h13-4096:after#21

reads: the power went after call 21 had returned; of what was not synced by then, calls 12 and 14 to
20 were lost (`l`), and of call 13 only the head up to byte 4096 of the file was kept (`h`; `t` for
its tail, `z` for the new size with zeros instead of the data). All else reached the disk. `before`:
the power went while that call, a synchronous write, was being made. `power.d1.`: only failure
domain 1 lost its power; without it, all did.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Final

from resumeproof.crash.plan import NAME_LIMIT, CrashPoint
from resumeproof.crash.syscalls import operations as op
from resumeproof.crash.syscalls.cut import Cut, Losses, cut_at, cuts
from resumeproof.crash.syscalls.observation import Observation
from resumeproof.crash.syscalls.pending import Loss, LossKind
from resumeproof.crash.syscalls.search import Search
from resumeproof.crash.syscalls.states import Output
from resumeproof.crash.syscalls.tree import Tree
from resumeproof.crash.syscalls.ways import Ways
from resumeproof.errors import PlanRefused

_ITEM: Final = r"[lzht][0-9]+(?:-[0-9]+)?"
_TORN: Final = (LossKind.HEAD, LossKind.TAIL)
_BOUNDARY_TEXT: Final = re.compile(
    rf"power(?:\.d(?P<domain>[0-9]+))?(?P<losses>(?:\.{_ITEM})+):(?P<side>before|after)"
)


@dataclass(frozen=True, slots=True)
class PowerState:
    """The directory after a power cut: the calls up to `ordinal`, without the losses.

    `in_flight`: the last call, a synchronous write, had not returned. `domain`: the one that lost
    its power, or None for all. `name` is what stands before the side in its plan.
    """

    ordinal: int
    losses: Losses
    domain: int | None
    in_flight: bool
    name: str

    @property
    def after(self) -> int:
        """How many calls had returned by then."""
        return self.ordinal - self.in_flight

    @property
    def point(self) -> CrashPoint:
        side = "before" if self.in_flight else "after"
        return CrashPoint(f"{self.name}:{side}", self.ordinal)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A way to lose that nobody has run.

    `state` None: a kill leaves the same. `after` is the ordinal of the last call that had returned;
    `learn` is to be told what a run saw that found `tree`.
    """

    state: PowerState | None
    tree: Tree
    after: int
    losses: Losses
    search: Search

    def learn(self, seen: Observation) -> None:
        """Whatever looks the same for a run that saw this needs no run of its own."""
        self.search.learn(self.losses, seen)


def is_power_point(point: CrashPoint) -> bool:
    """Return whether the point's text is that of a state after a power cut."""
    return _BOUNDARY_TEXT.fullmatch(point.boundary) is not None


class PowerLoss:
    """All power cuts of a recording, and their states, up to `budget` of them.

    `ways` counts those that the device model allows, at every moment that matters. Where they are
    few, all are built: iterating yields each state that differs, in its files or in what had been
    printed, from those yielded before and from those of a mere kill: whoever fails there is not
    safe either. Where they are many, `candidates` asks for runs, and is to be told by `learn` what
    they saw. `untried` counts the ways that no state stands for so far.
    """

    def __init__(self, recording: op.Recording, origin: Tree, budget: int) -> None:
        self._recording = recording
        self._origin = origin
        self._output = Output(recording)
        domains = range(len(recording.domains)) if len(recording.domains) > 1 else ()
        self._domains: tuple[int | None, ...] = (*domains, None)
        counts = [Ways(cut.pending).count() for cut in self._cuts()]
        self._is_built = [
            share == count for share, count in zip(shares(counts, budget), counts, strict=True)
        ]
        self._searches = [
            Search(cut)
            for cut, built in zip(self._cuts(), self._is_built, strict=True)
            if not built
        ]
        self._unbuilt = sum(compress(counts, self._is_built))
        self._left = budget - self._unbuilt
        self.ways = sum(counts)

    @property
    def untried(self) -> int:
        """How many ways no state stands for that was yielded or learned of."""
        return self._unbuilt + sum(search.untried for search in self._searches)

    @property
    def varied(self) -> frozenset[int]:
        """The files that a power cut can leave in several ways, where a run is asked for."""
        pending = (one for search in self._searches for one in search.cut.pending)
        return frozenset(one.node for one in pending if one.node is not None)

    def __iter__(self) -> Iterator[tuple[PowerState, Tree]]:
        seen = self._killed()
        for cut, built in zip(self._cuts(), self._is_built, strict=True):
            for losses, repeats in cut.losses() if built else ():
                ordinal, kept = _earliest(cut, losses)
                state = _named(cut, ordinal, kept)
                if kept and state is None:
                    continue  # what cannot be named cannot be replayed
                self._unbuilt -= 1
                if state is None or repeats:
                    continue
                tree = cut.build(losses)
                known = (tree.digest(), self._output.length_by(state.ordinal))
                if known not in seen:
                    seen.add(known)
                    yield state, tree

    def candidates(self) -> list[Candidate]:
        """The ways that are to be run next, as far as the budget goes; none where it is over."""
        while True:
            searches = [search for search in self._searches if not search.is_over]
            left, asked = self._left, 0
            found: list[Candidate] = []
            for number, search in enumerate(searches):
                chosen = search.candidates((left - asked) // (len(searches) - number))
                asked += len(chosen)
                found += [one for losses in chosen if (one := self._candidate(search, losses))]
            if found or not asked:
                return found

    def spend(self, runs: int) -> None:
        """So much of the budget is gone."""
        self._left -= runs

    def _candidate(self, search: Search, losses: Losses) -> Candidate | None:
        ordinal, kept = _earliest(search.cut, losses)
        state = _named(search.cut, ordinal, kept)
        if kept and state is None:
            search.set_aside(losses)  # what cannot be named cannot be replayed
            return None
        after = search.cut.ordinal - search.cut.in_flight
        return Candidate(state, search.cut.build(losses), after, losses, search)

    def tree(self, state: PowerState) -> Tree:
        """Return the directory of a state."""
        return self._cut_of(state).build(state.losses)

    def losing(self, state: PowerState, losses: Iterable[Loss]) -> PowerState | None:
        """Return the state of the same power cut in which these alone were lost.

        What cannot be kept without them is lost, too. None: nothing was lost but the latest calls,
        so that it is a kill's state; or there is too much to name.
        """
        cut = self._cut_of(state)
        return _named(cut, *_earliest(cut, cut.with_needs(losses)))

    def earlier(self, state: PowerState) -> Iterator[PowerState]:
        """Yield the states in which the power went just before the second of the losses, the third.

        Only what stands before it was lost then.
        """
        for place in range(1, len(state.losses)):
            ordinal, losses = state.losses[place].ordinal - 1, state.losses[:place]
            cut = cut_at(self._recording, self._origin, ordinal, False, state.domain)
            named = _named(cut, *_earliest(cut, losses)) if cut.allows(losses) else None
            if named is not None:
                yield named

    def state(self, point: CrashPoint) -> PowerState:
        """Return the state of a plan's point. Raises `PlanRefused` if the recording has none."""
        match = _BOUNDARY_TEXT.fullmatch(point.boundary)
        if match is None:
            reason = "a state after a power cut is power.l3-5:after#K, see `explore --help`"
            raise PlanRefused(text=str(point), reason=reason)
        domain = None if match["domain"] is None else int(match["domain"])
        if point.occurrence > len(self._recording.calls) or domain not in self._domains:
            raise PlanRefused(text=str(point), reason="the recording has no such call or domain")
        in_flight = match["side"] == "before"
        cut = cut_at(self._recording, self._origin, point.occurrence, in_flight, domain)
        losses = tuple(sorted(_read(match["losses"], cut)))
        if not cut.allows(losses):
            reason = "the device model has no such state: what is lost was synced by then, or more "
            raise PlanRefused(text=str(point), reason=reason + "is lost with it")
        return PowerState(point.occurrence, losses, domain, in_flight, _name(cut, losses))

    def _cuts(self) -> Iterator[Cut]:
        for domain in self._domains:
            yield from cuts(self._recording, self._origin, domain)

    def _cut_of(self, state: PowerState) -> Cut:
        return cut_at(self._recording, self._origin, state.ordinal, state.in_flight, state.domain)

    def _killed(self) -> set[tuple[str, int]]:
        tree = self._origin.clone()
        seen = {(tree.digest(), 0)}
        for call in self._recording.calls:
            tree.apply(call.operation)
            seen.add((tree.digest(), self._output.length_by(call.ordinal)))
        return seen


def _earliest(cut: Cut, losses: Losses) -> tuple[int, Losses]:
    """Return the first moment that the state can be of, and its losses then.

    What was lost at the very end was as good as never done.
    """
    ordinal, kept = cut.ordinal, list(losses)
    while kept and kept[-1] == Loss(ordinal):
        kept.pop()
        ordinal -= 1
    return ordinal, tuple(kept)


def _named(cut: Cut, ordinal: int, losses: Losses) -> PowerState | None:
    in_flight = cut.in_flight and ordinal == cut.ordinal
    state = PowerState(ordinal, losses, cut.domain, in_flight, _name(cut, losses))
    return state if losses and len(state.name) <= NAME_LIMIT else None


def shares(counts: Sequence[int], budget: int) -> list[int]:
    """Deal a budget out evenly; what one does not need goes to the others.

    >>> shares([2, 100, 100], 50)
    [2, 24, 24]
    """
    dealt = [0] * len(counts)
    for rank, place in enumerate(sorted(range(len(counts)), key=lambda place: counts[place])):
        dealt[place] = min(counts[place], budget // (len(counts) - rank))
        budget -= dealt[place]
    return dealt


def _name(cut: Cut, losses: Sequence[Loss]) -> str:
    """Return a plan's name for the losses; neighbours among what was at stake make a range."""
    place = {one.ordinal: place for place, one in enumerate(cut.at_stake)}
    name = "power" if cut.domain is None else f"power.d{cut.domain}"
    first = 0
    for last, loss in enumerate(losses):
        if loss.kind in _TORN:
            name += f".{loss.kind}{loss.ordinal}-{loss.at}"
            first = last + 1
            continue
        after = losses[last + 1] if last + 1 < len(losses) else None
        if after and after.kind is loss.kind and place[after.ordinal] == place[loss.ordinal] + 1:
            continue
        name += f".{loss.kind}{losses[first].ordinal}"
        name += f"-{loss.ordinal}" if first < last else ""
        first = last + 1
    return name


def _read(text: str, cut: Cut) -> Iterator[Loss]:
    for item in text.removeprefix(".").split("."):
        kind = LossKind(item[0])
        first, _, second = item[1:].partition("-")
        if kind in _TORN:
            yield Loss(int(first), kind, int(second or 0))
            continue
        last = int(second or first)
        between = [one.ordinal for one in cut.at_stake if int(first) <= one.ordinal <= last]
        # Without one of its ends, a range is of another recording.
        yield from (Loss(ordinal, kind) for ordinal in {*between, int(first), last})
