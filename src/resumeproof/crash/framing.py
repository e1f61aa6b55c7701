"""Messages in a stream of bytes: a header, whose last field counts the bytes that follow it."""

from __future__ import annotations

import os
import pickle
import struct
from collections.abc import Iterator, Sequence
from typing import Any, Final

_FRAME: Final = struct.Struct("!I")


def messages(received: bytearray, header: struct.Struct) -> Iterator[tuple[Sequence[int], bytes]]:
    """Take the messages that have come in whole: what their headers say, and what follows these."""
    while len(received) >= header.size:
        *numbers, length = header.unpack_from(received)
        end = header.size + length
        if len(received) < end:
            return
        body = bytes(received[header.size : end])
        del received[:end]
        yield numbers, body


def framed(frame: tuple[object, ...]) -> bytes:
    """One frame, a message that is a pickled tuple, as it goes through a pipe."""
    body = pickle.dumps(frame)
    return _FRAME.pack(len(body)) + body


def write_whole(descriptor: int, message: bytes) -> None:
    """Write all of it, in as many pieces as that takes. Raises `OSError`."""
    view = memoryview(message)
    while view:
        view = view[os.write(descriptor, view) :]


class Frames:
    """Puts frames together again at their other end."""

    def __init__(self) -> None:
        self._received = bytearray()

    def add(self, piece: bytes) -> None:
        self._received += piece

    def whole(self) -> Iterator[tuple[Any, ...]]:
        """Take the frames that have come in whole."""
        for _, body in messages(self._received, _FRAME):
            yield pickle.loads(body)
