"""The first place where two JSON documents differ, in the words of those who wrote them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Place = tuple[str | int, ...]

_ROWS = {"effects": "effect", "invocations": "invocation", "lookups": "lookup"}


def first_difference(stated: Any, found: Any, place: Place = ()) -> tuple[Place, str] | None:
    """Where and how `found` differs from what was stated; None where they are the same.

    Both are JSON as Python reads it. `1`, `1.0` and `true` are three different things.
    """
    if isinstance(stated, dict) and isinstance(found, dict):
        for name in sorted(stated.keys() | found.keys()):
            if name not in stated or name not in found:
                return (*place, name), "it is missing" if name in stated else "it was not stated"
            if difference := first_difference(stated[name], found[name], (*place, name)):
                return difference
        return None
    if isinstance(stated, list) and isinstance(found, list):
        for index, (one, other) in enumerate(zip(stated, found, strict=False)):
            if difference := first_difference(one, other, (*place, index)):
                return difference
        if len(stated) != len(found):
            index = min(len(stated), len(found))
            missing = len(found) < len(stated)
            return (*place, index), "it is missing" if missing else "it was not stated"
        return None
    if type(stated) is type(found) and stated == found:
        return None
    return place, f"the receipt file says {stated!r}, the stores say {found!r}"


def named(place: Place, receipt: Mapping[str, Any]) -> str:
    """A place in a receipt file for people: which workflow, which row, and below it a pointer."""
    match place:
        case ("workflows", int(index), *rest) if index < len(receipt["workflows"]):
            return _below(f"workflow {receipt['workflows'][index]['id']}", rest)
        case ("ledger", "registrations", int(index), *rest) if index < len(
            receipt["ledger"]["registrations"]
        ):
            workflow_id = receipt["ledger"]["registrations"][index]["workflow_id"]
            return _below(f"the registration of workflow {workflow_id}", rest)
        case ("ledger", str(table), int(index), *rest) if table in _ROWS:
            return _below(f"{_ROWS[table]} {index + 1}", rest)
        case _:
            return "/".join(map(str, place))


def _below(name: str, rest: list[str | int]) -> str:
    return f"{name}, {'/'.join(map(str, rest))}" if rest else name
