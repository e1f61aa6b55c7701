"""The bytes of one file in memory, page by page: cheap to copy, to change, and to hash again."""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Iterator
from typing import Final

PAGE_BYTES: Final = 4096

_ZEROS: Final = bytes(PAGE_BYTES)
_AT_ONCE: Final = 256
"""Pages for one call: below what any system takes at once, and so little that it takes them all."""


class FileBytes:
    """What a regular file holds: its size, and its pages.

    A page that is not kept is all zeros, so a sparse file of any size costs nothing, and two files
    of the same bytes have the same digest however they came by them.
    """

    __slots__ = ("_digests", "_pages", "size")

    def __init__(self, data: bytes = b"") -> None:
        self.size = 0
        self._pages: dict[int, bytes] = {}
        self._digests: dict[int, bytes] = {}
        if data:
            self.write(0, data)

    def copy(self) -> FileBytes:
        """Return another file of the same bytes."""
        other = FileBytes()
        other.size = self.size
        other._pages = self._pages.copy()
        other._digests = self._digests.copy()
        return other

    def write(self, offset: int, data: bytes) -> None:
        """Put bytes in; a gap between the old end and `offset` reads as zeros."""
        end = offset + len(data)
        position = offset
        while position < end:
            page, start = divmod(position, PAGE_BYTES)
            stop = min(PAGE_BYTES, start + end - position)
            piece = data[position - offset : position - offset + stop - start]
            if stop - start < PAGE_BYTES:
                old = self._pages.get(page, _ZEROS)
                piece = old[:start] + piece + old[stop:]
            self._put(page, piece)
            position += stop - start
        if data:
            self.size = max(self.size, end)

    def resize(self, size: int) -> None:
        """Cut the file, or extend it with zeros."""
        if size < self.size:
            self.zero(size, self.size - size)
        self.size = size

    def zero(self, offset: int, length: int) -> None:
        """Fill a range with zeros, as far as the file reaches; its size stays."""
        end = min(offset + length, self.size)
        whole = range(-(-offset // PAGE_BYTES), end // PAGE_BYTES)
        for page in [page for page in self._pages if page in whole]:
            self._put(page, _ZEROS)
        size = self.size
        for page in {offset // PAGE_BYTES, max(end - 1, 0) // PAGE_BYTES}:
            start = max(offset, page * PAGE_BYTES)
            stop = min(end, (page + 1) * PAGE_BYTES)
            if start < stop and page in self._pages:
                self.write(start, bytes(stop - start))
        self.size = size

    def read(self, offset: int, length: int) -> bytes:
        """Return up to `length` bytes, fewer at the file's end."""
        end = min(offset + length, self.size)
        pieces = []
        while offset < end:
            page, start = divmod(offset, PAGE_BYTES)
            stop = min(PAGE_BYTES, start + end - offset)
            pieces.append(self._pages.get(page, _ZEROS)[start:stop])
            offset += stop - start
        return b"".join(pieces)

    def digest(self) -> bytes:
        """Return the SHA-256 of size and pages. Only pages that changed are read again."""
        whole = hashlib.sha256(str(self.size).encode())
        for page in sorted(self._pages):
            if page not in self._digests:
                self._digests[page] = hashlib.sha256(self._pages[page]).digest()
            whole.update(page.to_bytes(8, "big") + self._digests[page])
        return whole.digest()

    def write_to(self, descriptor: int) -> None:
        """Write an empty file full; holes stay holes."""
        os.ftruncate(descriptor, self.size)
        for first, pages in self._runs():
            position = first * PAGE_BYTES
            excess = position + len(pages) * PAGE_BYTES - self.size
            if excess > 0:
                pages[-1] = pages[-1][: PAGE_BYTES - excess]
            for place in range(0, len(pages), _AT_ONCE):
                some = pages[place : place + _AT_ONCE]
                if os.pwritev(descriptor, some, position) < sum(map(len, some)):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                position += _AT_ONCE * PAGE_BYTES

    def _runs(self) -> Iterator[tuple[int, list[bytes]]]:
        """Yield the first page of each stretch of kept pages, and all of them."""
        run: list[bytes] = []
        first = 0
        for page in sorted(self._pages):
            if page != first + len(run):
                if run:
                    yield first, run
                first, run = page, []
            run.append(self._pages[page])
        if run:
            yield first, run

    def _put(self, page: int, data: bytes) -> None:
        self._digests.pop(page, None)
        if data == _ZEROS:
            self._pages.pop(page, None)
        else:
            self._pages[page] = data
