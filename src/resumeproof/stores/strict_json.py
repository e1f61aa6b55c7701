"""Reading a JSON file strictly: what is empty, torn or ambiguous is told apart by name."""

from __future__ import annotations

import json
from typing import Any, NoReturn


def strict_json(data: bytes) -> Any:
    """The value of a JSON document.

    Raises `ValueError`, whose text says what is wrong: it is empty, filled or ended with NUL bytes
    (what a file system leaves of a write that it had not finished), truncated, no UTF-8, no JSON,
    nested too deeply, or holds a member twice or a number that is none.
    """
    if not data:
        raise ValueError("it is empty")
    if not data.strip(b"\0"):
        raise ValueError("it holds nothing but NUL bytes")
    if data.endswith(b"\0"):
        raise ValueError("it is truncated: it ends with NUL bytes")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data":
            raise ValueError("it is truncated: its end is missing") from error
        raise ValueError(f"it is not UTF-8 (byte {error.start})") from error
    try:
        return json.loads(
            text, object_pairs_hook=_members, parse_constant=_no_number, parse_float=_finite
        )
    except json.JSONDecodeError as error:
        if _is_cut_short(text, error):
            raise ValueError("it is truncated: its end is missing") from error
        raise ValueError(f"it is no JSON document: {error}") from error
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def _is_cut_short(text: str, error: json.JSONDecodeError) -> bool:
    """Whether what is there could be the beginning of a document, which here is an object."""
    if text.lstrip()[:1] not in ("", "{"):
        return False
    at_the_end = error.pos >= len(text.rstrip())
    return at_the_end or error.msg.startswith("Unterminated string") or text.rstrip()[-1] != "}"


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"member {repeated!r} is there twice")
    return members


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"{text} is beyond what a number can hold")
    return number
