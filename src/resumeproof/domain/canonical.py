"""Canonical bytes of a JSON value, and the digest of bytes, for whatever is approved or chained.

Source: RFC 8785, JSON Canonicalization Scheme, by way of the `rfc8785` package.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final, TypeAlias

JsonValue: TypeAlias = (
    "bool | int | float | str | Sequence[JsonValue] | Mapping[str, JsonValue] | None"
)

MAX_INTEGER: Final = 2**53 - 1
"""The largest integer that every reader of JSON understands alike (RFC 7493, section 2.2)."""


def canonical_bytes(value: JsonValue) -> bytes:
    """Return the RFC 8785 canonical bytes of `value`: dicts, lists, tuples and scalars, str keys.

    Equal values give equal bytes: `1.0` is written as `1`, `-0.0` as `0`, members are ordered by
    the UTF-16 code units of their names, strings are kept as they are (no Unicode normalisation).

    Raises ValueError for what JSON cannot carry unchanged: an int outside -(2^53-1)..2^53-1, NaN,
    an infinity, a lone surrogate, a name that is no string, a value of any other type.
    """
    text = plain_text(value)
    if text is not None:
        return text.encode()
    import rfc8785

    return rfc8785.dumps(value)


def plain_text(value: JsonValue) -> str | None:
    """The canonical text of a dict or list that reads back as it was; None for any other value.

    It is made of JSON's own types, integers of every reader's included, and all of it is ASCII,
    which sorts alike in any code units: then Python's own encoder writes what RFC 8785 asks for, at
    a fifth of the price.
    """
    if not _is_plain(value):
        return None
    text = _encode(value)
    return text if text.isascii() else None


_encode = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, sort_keys=True, separators=(",", ":")
).encode

_NAMES: Final = {str}
_SIMPLE: Final = {str, bool, type(None)}
_PLAIN: Final = {*_SIMPLE, int, dict, list}


def _is_plain(value: object) -> bool:
    if type(value) is dict:
        if not _NAMES.issuperset(map(type, value)):
            return False
        items: Collection[Any] = value.values()
    elif type(value) is list:
        items = value
    else:
        return False
    kinds = set(map(type, items))
    if kinds <= _SIMPLE:
        return True
    if not kinds <= _PLAIN:
        return False
    for item in items:
        kind = type(item)
        if kind is int:
            if not -MAX_INTEGER <= item <= MAX_INTEGER:
                return False
        elif (kind is dict or kind is list) and not _is_plain(item):
            return False
    return True


def digest_of(data: bytes) -> str:
    """Return the SHA-256 of `data` as 64 lowercase hex characters. Source: FIPS 180-4."""
    return sha256(data).hexdigest()
