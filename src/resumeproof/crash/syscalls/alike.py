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
from resumeproof.crash.syscalls.ways import KEPT, Claim, Demand, Fates, Ways

FATES_MAX: Final = 3_000
"""More fates of the changes of one cut, as a write of megabytes has, would take too long to hold
against what was seen; each run stands for itself then."""

_SECTOR: Final = POSIX.sector_bytes


class Likeness:
    """What the changes that are pending at a cut can do to each file, each sector and each name."""

    def __init__(self, cut: Cut, ways: Ways) -> None:
        self.cut = cut
        self._ways = ways
        self._has_too_many = sum(map(len, ways.losses)) > FATES_MAX
        self._modes: list[int] = []
        self.files: dict[int, list[int]] = {}
        self.names: dict[Name, list[int]] = {}
        self._touching: dict[tuple[int, int], Sequence[Claim]] = {}
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
        """What must hold of a way so that a run of it goes as the one that saw this.

        `losses` are those of the way that it ran. The demands are in the order in which the run
        came to hang on them: up to the first that another way does not meet, it sees the same.
        """
        way = self._ways.way_of(losses)
        if seen.opaque or self._has_too_many:
            return [((place, fate),) for place, fate in enumerate(way)]
        held = _Held(self, way)
        for place in self._modes:
            held.demand((place, way[place]))  # permissions are never asked for, and always obeyed
        for sight in seen.sights:
            held.see(sight)
        return list(held.demands)

    def on_disk(self, number: int) -> FileBytes:
        """What a file holds for sure."""
        content = self.cut.disk.nodes[number].content
        assert content is not None, "what is written to is a file"
        return content

    def touching(self, number: int, sector: int) -> Sequence[Claim]:
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
    """The demands of one run."""

    def __init__(self, likeness: Likeness, way: Fates) -> None:
        self._likeness = likeness
        self._pending = likeness.cut.pending
        self._way = way
        self.demands: dict[Demand, None] = {}

    def demand(self, *claims: Claim) -> None:
        self.demands.setdefault(claims)

    def see(self, sight: Sight) -> None:
        """Hold fast what was seen."""
        files, names = self._likeness.files, self._likeness.names
        match sight:
            case SawName(name):
                self._hold_name(name)
            case SawNames(folder):
                for name in names:
                    if name[0] == folder:
                        self._hold_name(name)
            case SawSize(number) if number in files:
                self._hold_size(number)
            case SawBytes(number, span) if number in files:
                self._hold_bytes(number, span)
            case _:
                pass

    def _hold_last(self, changes: Sequence[tuple[Claim, object]], before: object) -> None:
        """Something is what the last of these changes made of it that touched it at all.

        Each makes something, whatever it finds, by the fates that it has here; `before` is what
        there was without any. What makes another thing must be followed by what makes the same.
        """
        seen = before
        for (place, bits), made in changes:
            seen = made if self._way[place] & bits else seen
        alike: list[Claim] = []
        for (place, bits), made in reversed(changes):
            if made == seen:
                alike.append((place, bits))
            else:
                self.demand(*alike, (place, ~bits))
        if before != seen:
            self.demand(*alike)

    def _hold_name(self, name: Name) -> None:
        changes = [
            ((place, KEPT), (self._pending[place].names or {})[name])
            for place in self._likeness.names.get(name, ())
        ]
        self._hold_last(changes, self._likeness.cut.disk.names.get(name))

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
        touching = self._likeness.touching(number, sector)
        if not touching:
            return
        if not all(makes_whole(self._pending[place], sector) for place, _ in touching):
            self._hold_changes(touching, sector)
            return
        before = self._likeness.on_disk(number).read(sector, _SECTOR).ljust(_SECTOR, b"\0")
        changes = [
            (claim, made_of(self._pending[claim[0]], sector, before)[part]) for claim in touching
        ]
        self._hold_last(changes, before[part])

    def _hold_changes(self, touching: Sequence[Claim], sector: int) -> None:
        """What a change leaves of a sector hangs on what it finds: all are held fast."""
        for place, bits in reversed(touching):
            touched = self._way[place] & bits
            self.demand((place, bits if touched else ~bits))
            if touched and makes_whole(self._pending[place], sector):
                return

    def _hold_size(self, number: int) -> None:
        """A size is that of the last truncation, or what reached farthest behind it since."""
        size = self._size(number)
        cut, base, since = self._base(number)
        self._hold_uncut(since)
        if cut is not None:
            self.demand((cut, KEPT))
        # The farthest first: whoever does not meet it has another size, whatever the others did.
        for place in sorted(since, key=lambda place: -self._likeness.reaches[place][0]):
            self.demand((place, self._likeness.reaching(place, 0, size)))
        if base != size:
            self._hold_one(since, size, size)

    def _hold_reach(self, number: int, least: int) -> None:
        """A file is so long, at least, if one change made it so, and none has cut it since."""
        cut, base, since = self._base(number)
        if base >= least:
            self._hold_uncut(since)
            if cut is not None:
                self.demand((cut, KEPT))
        elif any(_cuts_to(self._pending[place]) is not None for place in since):
            last = [place for place in since if self._reach_of(place) >= least][-1]
            self._hold_uncut([place for place in since if place > last])
            self._hold_one([last], least)
        else:
            self._hold_one(since, least)

    def _hold_one(self, places: Sequence[int], least: int, most: int = sys.maxsize) -> None:
        """At least one of these leaves the file so long."""
        claims = [(place, self._likeness.reaching(place, least, most)) for place in places]
        self.demand(*(claim for claim in claims if claim[1]))

    def _hold_uncut(self, places: Sequence[int]) -> None:
        for place in reversed(places):
            if _cuts_to(self._pending[place]) is not None:
                self.demand((place, ~KEPT))

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
            if size is not None and self._way[places[index]] == KEPT:
                return places[index], size, places[index + 1 :]
        return None, self._likeness.on_disk(number).size, places

    def _reach_of(self, place: int) -> int:
        return self._likeness.reaches[place][self._way[place].bit_length() - 1]


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
