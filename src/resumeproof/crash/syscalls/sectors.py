"""What pending changes make of a single sector of a file."""

from __future__ import annotations

from typing import Final

from resumeproof.crash.syscalls import operations as op
from resumeproof.crash.syscalls.device import POSIX
from resumeproof.crash.syscalls.pending import Loss, LossKind, Pending

_SECTOR: Final = POSIX.sector_bytes


def touches(one: Pending, sector: int, loss: Loss | None) -> bool:
    """Whether a change makes something of the sector that begins there, where this became of it."""
    if loss is not None and loss.kind in (LossKind.GONE, LossKind.HOLLOW):
        return False
    match one.call.operation:
        case op.Write():
            start, stop = one.start, one.start + len(one.image)
            if loss is not None and loss.kind is LossKind.HEAD:
                stop = loss.at
            elif loss is not None:
                start = loss.at
            return start <= sector < stop
        case op.Truncate(_, _, size):
            return size < sector + _SECTOR
        case op.Allocate(_, _, offset, length, _, zeroes):
            return zeroes and offset < sector + _SECTOR and sector < offset + length
    return False


def made_of(one: Pending, sector: int, before: bytes) -> bytes:
    """What a change that touches a sector makes of what it held."""
    match one.call.operation:
        case op.Truncate(_, _, size):
            first, last = size - sector, _SECTOR
        case op.Allocate(_, _, offset, length):
            first, last = offset - sector, offset + length - sector
        case _:
            return one.image[sector - one.start : sector - one.start + _SECTOR]
    first, last = max(first, 0), min(last, _SECTOR)
    return before[:first] + bytes(last - first) + before[last:]


def makes_whole(one: Pending, sector: int) -> bool:
    """Whether nothing of what a sector held before such a change is left."""
    return made_of(one, sector, bytes(_SECTOR)) == made_of(one, sector, b"\xff" * _SECTOR)
