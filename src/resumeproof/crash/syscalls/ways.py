"""All ways to lose what is pending at one power cut, in sets that are told without being listed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Final

from resumeproof.crash.syscalls.order import count_prefixes
from resumeproof.crash.syscalls.pending import Loss, LossKind, Pending, tears

KEPT: Final = 0b01
"""The bit of the fate of a change that was kept."""

_GONE: Final = 0b10

Claim = tuple[int, int]
"""That a change, told by its place, had one of these fates, given by their bits."""

Demand = tuple[Claim, ...]
"""That at least one of these claims holds."""

Fates = tuple[int, ...]
"""For each pending change the bits of those fates that it may have had."""


@dataclass(frozen=True, slots=True)
class WaySet:
    """The ways in which each change had one of its `fates`, and that meet all `demands`."""

    fates: Fates
    demands: tuple[Demand, ...] = ()

    def holds(self, way: Fates) -> bool:
        """Whether a way, which has one fate a change, is in the set."""
        return all(bits & fate for bits, fate in zip(self.fates, way, strict=True)) and all(
            meets(way, demand) for demand in self.demands
        )


def meets(way: Fates, demand: Demand) -> bool:
    """Whether a way, which has one fate a change, meets a demand."""
    return any(way[place] & bits for place, bits in demand)


class Ways:
    """The fates of each pending change: kept, lost, hollow where it grew, or torn.

    A way gives each one fate. At most one is torn, and what needs something that is lost is lost.
    `losses` has, for each change and each of its fates, what is lost by it: None where it is kept.
    """

    def __init__(self, pending: Sequence[Pending]) -> None:
        self.losses = [_losses(one) for one in pending]
        self._places = {one.ordinal: place for place, one in enumerate(pending)}
        self._needs = [
            [self._places[needed] for needed in one.needs if needed in self._places]
            for one in pending
        ]
        # The torn come last.
        self._torn = [
            (1 << len(losses)) - (1 << sum(not _is_torn(loss) for loss in losses))
            for losses in self.losses
        ]
        self._preferred = [
            sorted(range(len(losses)), key=lambda bit: (_is_torn(losses[bit]), bit != 1, -bit))
            for losses in self.losses
        ]
        self._several = [any(_is_partly_lost(loss) for loss in losses) for losses in self.losses]

    @property
    def every(self) -> WaySet:
        """All ways there are."""
        found = self._tidy(tuple((1 << len(losses)) - 1 for losses in self.losses), ())
        assert found is not None, "all can be kept"
        return found

    def way_of(self, losses: Sequence[Loss]) -> Fates:
        """The way in which this was lost."""
        found = [KEPT] * len(self.losses)
        for loss in losses:
            place = self._places[loss.ordinal]
            found[place] = 1 << self.losses[place].index(loss)
        return tuple(found)

    def pick(self, ways: WaySet) -> tuple[Loss, ...]:
        """A way of a set that is not empty, in which as much is lost as can be."""
        way = self._way_in(ways)
        assert way is not None, "there is a way in each set that was yielded"
        losses = (
            losses[fate.bit_length() - 1] for losses, fate in zip(self.losses, way, strict=True)
        )
        return tuple(loss for loss in losses if loss is not None)

    def count(self, ways: WaySet | None = None) -> int:
        """How many ways there are, or are in a set."""
        ways = self.every if ways is None else ways
        if not ways.demands:
            return self._count_free(ways.fates)
        return sum(self.count(case) for case in self._cases(ways, ways.demands[0]))

    def without(self, ways: WaySet, demands: Iterable[Demand]) -> Iterator[WaySet]:
        """What is left of a set without the ways that meet all demands.

        Each of the sets that are yielded meets all demands before one that it does not meet.
        """
        met: WaySet | None = ways
        for demand in demands:
            if met is None:
                return
            fates = list(met.fates)
            for place, bits in demand:
                fates[place] &= ~bits
            piece = self._tidy(tuple(fates), met.demands)
            if piece is not None and self._way_in(piece) is not None:
                yield piece
            met = self._tidy(met.fates, (*met.demands, demand))

    def _way_in(self, ways: WaySet) -> Fates | None:
        """The way in which as much is lost as can be, but for what the demands ask; or None."""
        way = tuple(
            next(1 << bit for bit in preferred if bits >> bit & 1)
            for preferred, bits in zip(self._preferred, ways.fates, strict=True)
        )
        unmet = next((demand for demand in ways.demands if not meets(way, demand)), None)
        if unmet is None:
            return way
        found = (self._way_in(case) for case in self._cases(ways, unmet))
        return next((way for way in found if way is not None), None)

    def _cases(self, ways: WaySet, demand: Demand) -> Iterator[WaySet]:
        """Part a set by one of its demands, into sets that share no way: by the claim that holds
        and is the first in it.
        """
        rest = [other for other in ways.demands if other != demand]
        fates = list(ways.fates)
        for place, bits in demand:
            case = self._tidy((*fates[:place], fates[place] & bits, *fates[place + 1 :]), rest)
            if case is not None:
                yield case
            fates[place] &= ~bits

    def _tidy(self, fates: Fates, demands: Sequence[Demand]) -> WaySet | None:
        """A set without fates that none of its ways has; None where it is seen to be empty."""
        found, left = list(fates), list(dict.fromkeys(demands))
        while all(found):
            before = found[:]
            self._spread_losses(found)
            self._spread_tear(found)
            left = [demand for demand in left if not _is_met(found, demand)]
            left = [tuple(claim for claim in demand if _is_open(found, claim)) for demand in left]
            for demand in left:
                if len(demand) == 1:
                    ((place, bits),) = demand
                    found[place] &= bits
            if not all(left):
                return None
            if found == before:
                return WaySet(tuple(found), tuple(dict.fromkeys(left)))
        return None

    def _spread_losses(self, fates: list[int]) -> None:
        """What needs something lost is lost; what something kept needs is not."""
        for place, needs in enumerate(self._needs):
            for needed in needs:
                if fates[needed] == _GONE:
                    fates[place] &= _GONE
                if not fates[place] & _GONE:
                    fates[needed] &= ~_GONE

    def _spread_tear(self, fates: list[int]) -> None:
        """Where one is torn for sure, nothing else is."""
        for place, torn in enumerate(self._torn):
            if fates[place] and not fates[place] & ~torn:
                for other, torn_other in enumerate(self._torn):
                    if other != place:
                        fates[other] &= ~torn_other

    def _count_free(self, fates: Fates) -> int:
        """How many ways there are in tidy fates without demands."""
        free = [
            place
            for place, bits in enumerate(fates)
            if not self._several[place] and bits == KEPT | _GONE
        ]
        ordered = count_prefixes(
            {place: frozenset(self._needs[place]) & frozenset(free) for place in free}
        )
        writes = [
            ((bits & ~torn).bit_count(), (bits & torn).bit_count())
            for bits, torn, several in zip(fates, self._torn, self._several, strict=True)
            if several
        ]
        whole = prod(plain for plain, _ in writes)
        torn = sum(
            torn * prod(plain for other, (plain, _) in enumerate(writes) if other != place)
            for place, (_, torn) in enumerate(writes)
            if torn
        )
        return ordered * (whole + torn)


def _is_met(fates: Sequence[int], demand: Demand) -> bool:
    """Whether every way meets it."""
    return any(not fates[place] & ~bits for place, bits in demand)


def _is_open(fates: Sequence[int], claim: Claim) -> bool:
    place, bits = claim
    return bool(fates[place] & bits)


def _losses(one: Pending) -> tuple[Loss | None, ...]:
    if one.kept:
        return (None,)
    hollow = (Loss(one.ordinal, LossKind.HOLLOW),) if one.grows else ()
    return (None, Loss(one.ordinal), *hollow, *tears(one))


def _is_torn(loss: Loss | None) -> bool:
    return loss is not None and loss.kind in (LossKind.HEAD, LossKind.TAIL)


def _is_partly_lost(loss: Loss | None) -> bool:
    return loss is not None and loss.kind is not LossKind.GONE
