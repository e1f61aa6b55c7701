"""The frames of a `-wal`, as SQLite tells those that count. Source: sqlite.org/fileformat2.html,
section 4.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import FileIO

WAL_HEADER_BYTES = 32
_HEAD_BYTES = 24
_WORD = 0xFFFFFFFF


def number(block: bytes, offset: int) -> int:
    """The big-endian 32-bit number at `offset`."""
    return int.from_bytes(block[offset : offset + 4], "big")


@dataclass(frozen=True)
class Frame:
    """A page as it was written. `head` is the frame's header; the page begins at `body_at`."""

    head: bytes
    body_at: int
    page_bytes: int

    @property
    def page(self) -> int:
        """The number of the page, from 1."""
        return number(self.head, 0)

    @property
    def commits(self) -> bool:
        """Whether it is a transaction's last: it bears the size of the database after it."""
        return number(self.head, 4) != 0


def frames_by_salt(stream: FileIO, start: bytes) -> Iterator[Frame]:
    """The frames that may count: up to the first whose salts are not those of the WAL's header.

    `start` is that header. Only the heads are read.
    """
    page_bytes = number(start, 8)
    position = WAL_HEADER_BYTES
    while True:
        stream.seek(position)
        head = stream.read(_HEAD_BYTES)
        if len(head) < _HEAD_BYTES or head[8:16] != start[16:24]:
            return
        yield Frame(head, position + _HEAD_BYTES, page_bytes)
        position += _HEAD_BYTES + page_bytes


def checked(stream: FileIO, start: bytes, frames: Sequence[Frame]) -> int:
    """How many of the frames count for sure: those up to the first whose checksum is not right."""
    order = ">" if number(start, 0) & 1 else "<"
    sums = _sums(start[:24], order, (0, 0))
    if sums != (number(start, 24), number(start, 28)):
        return 0
    for index, frame in enumerate(frames):
        stream.seek(frame.body_at)
        sums = _sums(frame.head[:8] + stream.read(frame.page_bytes), order, sums)
        if sums != (number(frame.head, 16), number(frame.head, 20)):
            return index
    return len(frames)


def _sums(block: bytes, order: str, sums: tuple[int, int]) -> tuple[int, int]:
    """SQLite's checksum of a block, which goes on from that of the block before."""
    first, second = sums
    whole = len(block) // 8 * 8
    for one, other in struct.iter_unpack(f"{order}II", block[:whole]):
        first = (first + one + second) & _WORD
        second = (second + other + first) & _WORD
    return first, second
