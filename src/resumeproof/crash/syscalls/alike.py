"""Which ways to lose leave the same as one of them, in all that a run of that one has seen."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final

from resumeproof.crash.syscalls import operations as op
from resumeproof.crash.syscalls.cut import Cut, Losses
from resumeproof.crash.syscalls.device import POSIX
from resumeproof.crash.syscalls.file import FileBytes
from resumeproof.crash.syscalls.observation import (
    Observation,
    SawBytes,
    SawName,
    SawNames,
    SawSize,
    Sight,
    Span,
)
from resumeproof.crash.syscalls.pending import Loss, LossKind, Pending
from resumeproof.crash.syscalls.sectors import made_of, makes_whole, touches
from resumeproof.crash.syscalls.tree import Name
from resumeproof.crash.syscalls.ways import KEPT, Ways, WaySet

_SECTOR: Final = POSIX.sector_bytes

Demand = tuple[int, int]
"""The place of a change, and the bits of those fates that it may have had (see `Ways`)."""


class Likeness:
    """What the changes that are pending at a cut can do to each file, each sector and each name."""

    def __init__(self, cut: Cut, ways: Ways) -> None:
        self.cut = cut
        self._ways = ways
        self._modes: list[int] = []
        self.files: dict[int, list[int]] = {}
        self.names: dict[Name, list[int]] = {}
        self._touching: dict[tuple[int, int], Sequence[Demand]] = {}
        self.reaches = [
            [_reach(one, loss) for loss in losses]
            for one, losses in zip(cut.pending, ways.losses, strict=True)
        ]
        for place, one in enumerate(cut.pending):
            if isinstance(one.call.operation, op.ChangeMode):
                self._modes.append(place)
            elif one.node is not None:
                self.files.setdefault(one.node, []).append(place)
            for name in one.names or ():
                self.names.setdefault(name, []).append(place)

    def demands(self, losses: Losses, seen: Observation) -> Sequence[Demand]:
        """What must have become of which change so that a run goes as the one that saw this.

        `losses` are those of the way that it ran. The demands are in the order in which the run
        came to hang on them: up to the first that another way does not meet, it sees the same.
        """
        fates = self._ways.fates_of(losses)
        if seen.opaque:
            return list(enumerate(fates))
        held = _Held(self, fates)
        for place in self._modes:
            held.demand(place, fates[place])  # permissions are never asked for, and always obeyed
        for sight in seen.sights:
            held.see(sight)
        return list(held.demands)

    def on_disk(self, number: int) -> FileBytes:
        """What a file holds for sure."""
        content = self.cut.disk.nodes[number].content
        assert content is not None, "what is written to is a file"
        return content

    def touching(self, number: int, sector: int) -> Sequence[Demand]:
        """The changes that can touch a sector of a file, each with the fates by which it does."""
        key = number, sector
        if key not in self._touching:
            self._touching[key] = [
                (place, bits)
                for place in self.files[number]
                if (bits := self._fates_touching(place, sector))
            ]
        return self._touching[key]

    def _fates_touching(self, place: int, sector: int) -> int:
        one, losses = self.cut.pending[place], self._ways.losses[place]
        return sum(1 << bit for bit, loss in enumerate(losses) if touches(one, sector, loss))

    def reaching(self, place: int, least: int, most: int = sys.maxsize) -> int:
        """The fates by which a change leaves a file so long, at least and at most."""
        return sum(
            1 << bit for bit, reach in enumerate(self.reaches[place]) if least <= reach <= most
        )


class _Held:
    """The demands of one run, whose way has these fates."""

    def __init__(self, likeness: Likeness, fates: WaySet) -> None:
        self._likeness = likeness
        self._pending = likeness.cut.pending
        self._fates = fates
        self.demands: dict[Demand, None] = {}

    def demand(self, place: int, bits: int) -> None:
        self.demands.setdefault((place, bits))

    def see(self, sight: Sight) -> None:
        """Hold fast what was seen."""
        files, names = self._likeness.files, self._likeness.names
        match sight:
            case SawName(name):
                self._hold_name(names.get(name, ()))
            case SawNames(folder):
                for name, places in names.items():
                    if name[0] == folder:
                        self._hold_name(places)
            case SawSize(number) if number in files:
                self._hold_size(number)
            case SawBytes(number, span) if number in files:
                self._hold_bytes(number, span)
            case _:
                pass

    def _hold_name(self, places: Sequence[int]) -> None:
        """A name is what the last change of it that was kept made of it."""
        for place in reversed(places):
            self.demand(place, self._fates[place])
            if self._fates[place] == KEPT:
                return

    def _hold_bytes(self, number: int, span: Span) -> None:
        first, stop = span
        if stop > self._size(number):
            self._hold_size(number)
        else:
            self._hold_reach(number, stop)
        for sector in range(first // _SECTOR * _SECTOR, stop, _SECTOR):
            part = slice(max(first - sector, 0), min(stop - sector, _SECTOR))
            self._hold_sector(number, sector, part)

    def _hold_sector(self, number: int, sector: int, part: slice) -> None:
        """Part of a sector is what the changes that were kept have made of what the disk held.

        A change that finds there what it makes counts for nothing.
        """
        touching = self._likeness.touching(number, sector)
        if not touching:
            return
        held = [self._likeness.on_disk(number).read(sector, _SECTOR).ljust(_SECTOR, b"\0")]
        for place, bits in touching:
            touched = self._fates[place] & bits
            held.append(made_of(self._pending[place], sector, held[-1]) if touched else held[-1])
        for (place, bits), before, after in reversed(
            list(zip(touching, held, held[1:], strict=False))
        ):
            one = self._pending[place]
            if before[part] == after[part] == made_of(one, sector, before)[part]:
                continue
            if self._fates[place] & bits:
                self.demand(place, bits)
                if makes_whole(one, sector):
                    return
            else:
                self.demand(place, ~bits)

    def _hold_size(self, number: int) -> None:
        """A size is that of the last truncation, or what reached farthest behind it since."""
        size = self._size(number)
        cut, base, since = self._base(number)
        self._hold_uncut(since)
        # The farthest first: whoever does not meet it has another size, whatever the others did.
        for place in sorted(since, key=lambda place: -self._likeness.reaches[place][0]):
            self.demand(place, self._likeness.reaching(place, 0, size))
        if base != size:
            witness = self._reaching(since, size)
            self.demand(witness, self._likeness.reaching(witness, size, size))
        elif cut is not None:
            self.demand(cut, KEPT)

    def _hold_reach(self, number: int, least: int) -> None:
        """A file is as long as this, at least, if one change made it so, and none cut it since."""
        cut, base, since = self._base(number)
        if base < least:
            witness = self._reaching(since, least)
            self._hold_uncut([place for place in since if place > witness])
            self.demand(witness, self._likeness.reaching(witness, least))
            return
        self._hold_uncut(since)
        if cut is not None:
            self.demand(cut, KEPT)

    def _hold_uncut(self, places: Sequence[int]) -> None:
        for place in reversed(places):
            if _cuts_to(self._pending[place]) is not None:
                self.demand(place, ~KEPT)

    def _size(self, number: int) -> int:
        _, base, since = self._base(number)
        return max([base, *(self._reach_of(place) for place in since)])

    def _base(self, number: int) -> tuple[int | None, int, Sequence[int]]:
        """The last truncation that was kept, if there is one; the size that the file had after it,
        or on the disk; and the changes since.
        """
        places = self._likeness.files[number]
        for index in reversed(range(len(places))):
            size = _cuts_to(self._pending[places[index]])
            if size is not None and self._fates[places[index]] == KEPT:
                return places[index], size, places[index + 1 :]
        return None, self._likeness.on_disk(number).size, places

    def _reaching(self, places: Sequence[int], least: int) -> int:
        """The last change that made a file so long."""
        return [place for place in places if self._reach_of(place) >= least][-1]

    def _reach_of(self, place: int) -> int:
        return self._likeness.reaches[place][self._fates[place].bit_length() - 1]


def _cuts_to(one: Pending) -> int | None:
    """The size that a change gives a file whatever it was before; None if it does no such thing."""
    operation = one.call.operation
    return operation.size if isinstance(operation, op.Truncate) else None


def _reach(one: Pending, loss: Loss | None) -> int:
    """The size that a file has at least after a change."""
    match one.call.operation:
        case op.Write():
            if loss is not None and loss.kind is LossKind.GONE:
                return 0
            return loss.at if loss is not None and loss.kind is LossKind.HEAD else one.end
        case op.Allocate(keeps_size=False) as allocate if loss is None:
            return allocate.offset + allocate.length
    return 0
