"""Keeps the beginning and the end of an output, however long it is."""

from __future__ import annotations

from typing import Final

_HALF_BYTES: Final = 1 << 19
CAPTURE_LIMIT_BYTES: Final = 2 * _HALF_BYTES


class Capture:
    """At most `CAPTURE_LIMIT_BYTES` of a stream: its first half of them and its last."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail = bytearray()
        self.left_out_bytes = 0

    def add(self, piece: bytes) -> None:
        room = _HALF_BYTES - len(self._head)
        self._head += piece[:room]
        self._tail += piece[room:]
        excess = len(self._tail) - _HALF_BYTES
        if excess > 0:
            del self._tail[:excess]
            self.left_out_bytes += excess

    def text(self) -> str:
        """What was kept, as UTF-8; a line between the halves counts what was left out."""
        note = f"\n[{self.left_out_bytes} bytes left out]\n" if self.left_out_bytes else ""
        if not note:
            return (self._head + self._tail).decode(errors="replace")
        head, tail = (half.decode(errors="replace") for half in (self._head, self._tail))
        return f"{head}{note}{tail}"
