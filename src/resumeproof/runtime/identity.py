"""Ids that nobody else has, and jitter: all the randomness of this package, real or seeded."""

from __future__ import annotations

import hashlib
import os
from typing import Final, Protocol

_ID_BYTES: Final = 16
_JITTER_BITS: Final = 53  # a float's significand (IEEE 754, binary64): the quotient stays below 1


class Identity(Protocol):
    """Where ids and jitter come from."""

    def new_id(self, prefix: str) -> str:
        """A new id: `prefix`, an underscore, and 32 lowercase hex digits, as in `wf_0123...`."""
        ...

    def jitter(self) -> float:
        """A number in [0, 1), uniform."""
        ...


class RandomIdentity:
    """Ids and jitter from the operating system's generator; a fork repeats none of them."""

    def new_id(self, prefix: str) -> str:
        return f"{prefix}_{os.urandom(_ID_BYTES).hex()}"

    def jitter(self) -> float:
        return _fraction(os.urandom(8))


class SeededIdentity:
    """The same ids and the same jitter for the same seed, whichever of the two is asked first."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._ids = 0
        self._jitters = 0

    def new_id(self, prefix: str) -> str:
        self._ids += 1
        return f"{prefix}_{self._draw('id', self._ids)[:_ID_BYTES].hex()}"

    def jitter(self) -> float:
        self._jitters += 1
        return _fraction(self._draw("jitter", self._jitters)[:8])

    def _draw(self, purpose: str, ordinal: int) -> bytes:
        # The seed comes last: whatever it holds, no two draws hash the same text.
        return hashlib.sha256(f"{purpose}:{ordinal}:{self._seed}".encode()).digest()


def _fraction(eight_bytes: bytes) -> float:
    return (int.from_bytes(eight_bytes, "big") >> (64 - _JITTER_BITS)) / 2.0**_JITTER_BITS
