"""Reading a receipt file strictly: what is empty, torn or of another shape is told apart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NoReturn

from resumeproof.errors import EvidenceBroken, StoreNotFound
from resumeproof.evidence.files import open_regular
from resumeproof.evidence.shape import shape_problem

MAX_RECEIPT_BYTES = 1 << 28


def read_receipt(path: Path) -> dict[str, Any]:
    """The receipt file's document, which has the shape of its schema.

    Raises `StoreNotFound` where there is none; `EvidenceBroken` for one that cannot be read, is
    too large, empty, filled or ended with NUL bytes (what a file system leaves of a write that it
    had not finished), truncated, no JSON, or of another shape.
    """
    text = _text(path)
    try:
        receipt = json.loads(
            text, object_pairs_hook=_members, parse_constant=_no_number, parse_float=_finite
        )
    except json.JSONDecodeError as error:
        if _is_cut_short(text, error):
            raise _broken(path, "it is truncated: its end is missing") from error
        raise _broken(path, f"it is no JSON document: {error}") from error
    except RecursionError as error:
        raise _broken(path, "it is nested too deeply") from error
    except ValueError as error:
        raise _broken(path, str(error)) from error
    problem = shape_problem(receipt)
    if problem is not None:
        place, detail = problem
        raise EvidenceBroken(str(path), f"the shape of {place or 'the document'}", detail)
    return dict(receipt)


def _text(path: Path) -> str:
    try:
        with open_regular(path) as file:
            data = file.read(MAX_RECEIPT_BYTES + 1)
    except FileNotFoundError:
        raise StoreNotFound("receipt file", str(path)) from None
    except OSError as error:
        raise _broken(path, f"it cannot be read: {error.strerror or error}") from error
    if len(data) > MAX_RECEIPT_BYTES:
        raise _broken(path, f"it is larger than {MAX_RECEIPT_BYTES} bytes")
    if not data:
        raise _broken(path, "it is empty")
    if not data.strip(b"\0"):
        raise _broken(path, "it holds nothing but NUL bytes")
    if data.endswith(b"\0"):
        raise _broken(path, "it is truncated: it ends with NUL bytes")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data":
            raise _broken(path, "it is truncated: its end is missing") from error
        raise _broken(path, f"it is not UTF-8 (byte {error.start})") from error


def _is_cut_short(text: str, error: json.JSONDecodeError) -> bool:
    """Whether what is there could be the beginning of a document."""
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


def _broken(path: Path, detail: str) -> EvidenceBroken:
    return EvidenceBroken(str(path), "the receipt file", detail)
