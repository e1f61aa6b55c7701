"""Canonical bytes of a JSON value, and the digest of bytes, for whatever is approved or chained.

Source: RFC 8785, JSON Canonicalization Scheme, by way of the `rfc8785` package.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import TypeAlias

JsonValue: TypeAlias = (
    "bool | int | float | str | Sequence[JsonValue] | Mapping[str, JsonValue] | None"
)


def canonical_bytes(value: JsonValue) -> bytes:
    """Return the RFC 8785 canonical bytes of `value`: dicts, lists, tuples and scalars, str keys.

    Equal values give equal bytes: `1.0` is written as `1`, `-0.0` as `0`, members are ordered by
    the UTF-16 code units of their names, strings are kept as they are (no Unicode normalisation).

    Raises ValueError for what JSON cannot carry unchanged: an int outside -(2^53-1)..2^53-1, NaN,
    an infinity, a lone surrogate, a name that is no string, a value of any other type.
    """
    import rfc8785

    return rfc8785.dumps(value)


def digest_of(data: bytes) -> str:
    """Return the SHA-256 of `data` as 64 lowercase hex characters. Source: FIPS 180-4."""
    return sha256(data).hexdigest()
