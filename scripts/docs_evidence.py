"""Tell of a receipt file from its published schema: each member, and what it holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from resumeproof.evidence.shape import receipt_schema

Schema = Mapping[str, Any]


def receipt_rows(kind: str) -> Iterator[tuple[str, str]]:
    """Each member that the schema describes, outermost first: its place, and what it says."""
    schema = receipt_schema(kind)
    yield from _rows(schema, schema["$defs"], "")


def _rows(schema: Schema, defs: Mapping[str, Schema], place: str) -> Iterator[tuple[str, str]]:
    for name, member in schema.get("properties", {}).items():
        whole = _resolved(member, defs)
        array = "items" in whole
        here = f"{place}{name}{'[]' if array else ''}"
        inner = _resolved(whole["items"], defs) if array else whole
        names = ", ".join(f"`{each}`" for each in inner.get("properties", {}))
        # Of what is shared, such as a hash, the name says enough.
        shared = inner.get("description") if names else whole.get("description") if array else None
        told = member.get("description") or shared
        yield f"`{here}`", " ".join(part for part in (told, names and f"({names})") if part) or "-"
        if not place:
            yield from (row for row in _rows(inner, defs, f"{here}.") if row[1] != "-")


def _resolved(schema: Schema, defs: Mapping[str, Schema]) -> Schema:
    if "$ref" not in schema:
        return schema
    return defs[schema["$ref"].removeprefix("#/$defs/")]
