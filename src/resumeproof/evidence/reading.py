"""Reading a receipt file strictly: what is empty, torn or of another shape is told apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from resumeproof.errors import EvidenceBroken, StoreNotFound
from resumeproof.evidence.files import open_regular
from resumeproof.evidence.shape import shape_problem
from resumeproof.stores.strict_json import strict_json

MAX_RECEIPT_BYTES = 1 << 28


def read_receipt(path: Path) -> dict[str, Any]:
    """The receipt file's document, which has the shape of its schema.

    Raises `StoreNotFound` where there is none; `EvidenceBroken` for one that cannot be read, is
    too large, empty, filled or ended with NUL bytes (what a file system leaves of a write that it
    had not finished), truncated, no JSON, or of another shape.
    """
    try:
        receipt = strict_json(_bytes(path))
    except ValueError as error:
        raise _broken(path, str(error)) from error
    problem = shape_problem(receipt)
    if problem is not None:
        place, detail = problem
        raise EvidenceBroken(str(path), f"the shape of {place or 'the document'}", detail)
    return dict(receipt)


def _bytes(path: Path) -> bytes:
    try:
        with open_regular(path) as file:
            data = file.read(MAX_RECEIPT_BYTES + 1)
    except FileNotFoundError:
        raise StoreNotFound("receipt file", str(path)) from None
    except OSError as error:
        raise _broken(path, f"it cannot be read: {error.strerror or error}") from error
    if len(data) > MAX_RECEIPT_BYTES:
        raise _broken(path, f"it is larger than {MAX_RECEIPT_BYTES} bytes")
    return data


def _broken(path: Path, detail: str) -> EvidenceBroken:
    return EvidenceBroken(str(path), "the receipt file", detail)
