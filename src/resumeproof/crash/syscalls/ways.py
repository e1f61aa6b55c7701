"""All ways to lose what is pending at one power cut, in sets that are told without being listed.

A set of ways says of each pending change what may have become of it, whatever became of the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import prod
from typing import Final

from resumeproof.crash.syscalls.order import count_prefixes
from resumeproof.crash.syscalls.pending import Loss, LossKind, Pending, tears

WaySet = tuple[int, ...]
"""For each pending change the bits of those of its fates that are meant, by their places."""

KEPT: Final = 0b01
"""The bit of the fate of a change that was kept."""

_GONE: Final = 0b10


class Ways:
    """The fates of each pending change: kept, lost, hollow where it grew, or torn.

    A way gives each one fate. At most one is torn, and what needs something that is lost is lost.
    `losses` has, for each change and each of its fates, what is lost by it: None where it is kept.
    """

    def __init__(self, pending: Sequence[Pending]) -> None:
        self.losses = [_fates(one) for one in pending]
        self._places = {one.ordinal: place for place, one in enumerate(pending)}
        self._needs = [
            [self._places[needed] for needed in one.needs if needed in self._places]
            for one in pending
        ]
        self._torn = [
            sum(1 << bit for bit, loss in enumerate(fates) if _is_torn(loss))
            for fates in self.losses
        ]
        self._writes = [any(_is_hollow_or_torn(loss) for loss in fates) for fates in self.losses]

    @property
    def every(self) -> WaySet:
        """All ways there are, as a tidy set."""
        found = self.tidy(tuple((1 << len(fates)) - 1 for fates in self.losses))
        assert found is not None, "all can be kept"
        return found

    def fates_of(self, losses: Sequence[Loss]) -> WaySet:
        """The one way in which this was lost, as a set."""
        found = [KEPT] * len(self.losses)
        for loss in losses:
            place = self._places[loss.ordinal]
            found[place] = 1 << self.losses[place].index(loss)
        return tuple(found)

    def tidy(self, ways: WaySet) -> WaySet | None:
        """The same set without fates that none of its ways has; None if there is no way in it."""
        found = list(ways)
        waiting = True
        while waiting:
            waiting = self._spread_losses(found) or self._spread_tear(found)
        return tuple(found) if all(found) else None

    def _spread_losses(self, ways: list[int]) -> bool:
        """What needs something lost is lost; what something kept needs is not."""
        before = ways[:]
        for place, needs in enumerate(self._needs):
            for needed in needs:
                if ways[needed] == _GONE:
                    ways[place] &= _GONE
                if not ways[place] & _GONE:
                    ways[needed] &= ~_GONE
        return ways != before

    def _spread_tear(self, ways: list[int]) -> bool:
        """Where one is torn for sure, nothing else is."""
        before = ways[:]
        for place, torn in enumerate(self._torn):
            if ways[place] and not ways[place] & ~torn:
                for other, torn_other in enumerate(self._torn):
                    if other != place:
                        ways[other] &= ~torn_other
        return ways != before

    def pick(self, ways: WaySet) -> tuple[Loss, ...]:
        """A way of a tidy set, in which as much is lost as can be."""
        chosen = []
        for fates, bits in zip(self.losses, ways, strict=True):
            order = sorted(
                range(len(fates)), key=lambda bit: (_is_torn(fates[bit]), bit != 1, -bit)
            )
            loss = next(fates[bit] for bit in order if bits >> bit & 1)
            if loss is not None:
                chosen.append(loss)
        return tuple(chosen)

    def count(self, ways: WaySet | None = None) -> int:
        """How many ways there are, or are in a tidy set."""
        ways = self.every if ways is None else ways
        free = [
            place
            for place, bits in enumerate(ways)
            if not self._writes[place] and bits == KEPT | _GONE
        ]
        known = set(free)
        ordered = count_prefixes({place: frozenset(self._needs[place]) & known for place in free})
        writes = [
            ((bits & ~torn).bit_count(), (bits & torn).bit_count())
            for bits, torn, is_write in zip(ways, self._torn, self._writes, strict=True)
            if is_write
        ]
        whole = prod(plain for plain, _ in writes)
        torn = sum(
            torn * prod(plain for other, (plain, _) in enumerate(writes) if other != place)
            for place, (_, torn) in enumerate(writes)
            if torn
        )
        return ordered * (whole + torn)

    def without(self, ways: WaySet, demands: Iterable[tuple[int, int]]) -> Iterator[WaySet]:
        """What is left of a set without the ways that meet all demands.

        A demand is a place, and bits of fates there. Each of the tidy sets that are yielded meets
        all demands before one that it does not meet.
        """
        rest = list(ways)
        for place, bits in demands:
            outside = rest[place] & ~bits
            if outside:
                piece = self.tidy((*rest[:place], outside, *rest[place + 1 :]))
                if piece is not None:
                    yield piece
            rest[place] &= bits


def _fates(one: Pending) -> tuple[Loss | None, ...]:
    if one.kept:
        return (None,)
    hollow = (Loss(one.ordinal, LossKind.HOLLOW),) if one.grows else ()
    return (None, Loss(one.ordinal), *hollow, *tears(one))


def _is_torn(loss: Loss | None) -> bool:
    return loss is not None and loss.kind in (LossKind.HEAD, LossKind.TAIL)


def _is_hollow_or_torn(loss: Loss | None) -> bool:
    return loss is not None and loss.kind is not LossKind.GONE
