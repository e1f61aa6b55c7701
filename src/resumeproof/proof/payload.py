"""How values leave a life's process: as canonical text where that keeps them whole, else pickled.

The text form is the same for equal values, so that a receiver can compare payloads by their bytes.
"""

from __future__ import annotations

import json
import pickle
from typing import Any

from resumeproof.errors import PayloadRefused

_TEXT = b"j"
_PICKLE = b"p"
_encode = json.JSONEncoder(sort_keys=True, ensure_ascii=False).encode


def pack(value: Any, place: str) -> bytes:
    """The value's bytes.

    Raises `PayloadRefused`, naming the part below `place` that cannot be pickled.
    """
    text = canonical(value)
    if text is not None:
        return _TEXT + text
    try:
        return _PICKLE + pickle.dumps(value)
    except Exception as error:
        raise PayloadRefused(_culprit(value, place), str(error)) from error


def canonical(value: Any) -> bytes | None:
    """The value's text form, the same for equal values; None where it would not keep it whole."""
    if not _is_plain(value):
        return None
    return _encode(value).encode("utf-8", "surrogatepass")


def unpack(data: bytes) -> Any:
    """The value that `pack` took. Raises `PayloadRefused` where its class cannot be found again."""
    if data[:1] == _TEXT:
        return json.loads(data[1:].decode("utf-8", "surrogatepass"))
    try:
        return pickle.loads(data[1:])
    except Exception as error:
        raise PayloadRefused("a value", f"what was pickled cannot be read: {error}") from error


def _is_plain(value: Any) -> bool:
    """Whether JSON gives the value back as it was; a tuple would come back as a list."""
    kind = type(value)
    if kind in (str, int, bool, type(None)):
        return True
    if kind is float:
        return bool(value - value == 0)
    if kind is list:
        return all(map(_is_plain, value))
    if kind is dict:
        return all(type(name) is str for name in value) and all(map(_is_plain, value.values()))
    return False


def _culprit(value: Any, place: str) -> str:
    """The innermost part that cannot be pickled, as an expression."""
    parts: list[tuple[str, Any]] = []
    if isinstance(value, dict):
        parts = [(f"{place}[{name!r}]", part) for name, part in value.items()]
    elif isinstance(value, list | tuple):
        parts = [(f"{place}[{index}]", part) for index, part in enumerate(value)]
    elif hasattr(value, "__dict__"):
        parts = [(f"{place}.{name}", part) for name, part in vars(value).items()]
    for inner_place, part in parts:
        try:
            pickle.dumps(part)
        except Exception:
            return _culprit(part, inner_place)
    return f"{place} ({type(value).__name__})"
