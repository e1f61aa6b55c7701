"""Whether a document has the shape of the published JSON Schema.

The schema is the single source. Of JSON Schema (draft 2020-12) this knows the part that the schema
uses; a keyword that is not known here is an error of the schema. As in JSON Schema, a keyword says
nothing of values of another type than its own, `1.0` is an integer, and `true` is not 1.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from importlib import resources
from types import MappingProxyType
from typing import Any

Schema = Mapping[str, Any]
Problem = tuple[str, str]
"""The place that does not fit, as a JSON pointer (RFC 6901), and why."""


SCHEMA_FILES = MappingProxyType(
    {
        "demo": ("receipt-1.json",),
        "conform": ("proof-receipt-1.json", "proof-receipt-2.json"),
        "shapes": ("proof-receipt-2.json",),
        "explore": ("proof-receipt-2.json",),
    }
)
"""The schemas of each kind of receipt file, the newest last: older ones are read for good."""


def receipt_schema(kind: str = "demo", version: object = None) -> dict[str, Any]:
    """The published schema of a kind of receipt file; the newest where there is no such version."""
    files = SCHEMA_FILES[kind]
    ending = f"-{version}.json"
    name = next((file for file in files if file.endswith(ending)), files[-1])
    source = resources.files("resumeproof.evidence").joinpath("schema", name)
    schema: dict[str, Any] = json.loads(source.read_text(encoding="utf-8"))
    return schema


def shape_problem(document: object) -> Problem | None:
    """The first place that is not of its kind's shape; None where all of it is."""
    told = document if isinstance(document, dict) else {}
    kind = told.get("kind")
    known = kind if isinstance(kind, str) and kind in SCHEMA_FILES else "demo"
    schema = receipt_schema(known, told.get("schema_version"))
    return _Checker(schema.get("$defs", {})).problem(document, schema, "")


def _is_number(value: Any) -> bool:
    # Python's True is an int; JSON has no number that is a boolean.
    return isinstance(value, int | float) and not isinstance(value, bool)


_IS: Mapping[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: _is_number(value) and value == value // 1,
    "number": _is_number,
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}
_ANNOTATIONS = frozenset({"$schema", "$id", "$defs", "title", "description"})


class _Checker:
    def __init__(self, defs: Mapping[str, Schema]) -> None:
        self._defs = defs

    def problem(self, value: Any, schema: Schema, place: str) -> Problem | None:
        for keyword, wanted in schema.items():
            if keyword in _ANNOTATIONS:
                continue
            check = _KEYWORDS.get(keyword)
            if check is None:
                raise ValueError(f"keyword {keyword} of the schema is not implemented")
            if problem := check(self, value, wanted, schema, place):
                return problem
        return None

    def _first(self, parts: Iterable[tuple[Any, Schema, str]]) -> Problem | None:
        for value, schema, place in parts:
            if problem := self.problem(value, schema, place):
                return problem
        return None

    def reference(self, value: Any, wanted: str, _: Schema, place: str) -> Problem | None:
        return self.problem(value, self._defs[wanted.removeprefix("#/$defs/")], place)

    def type(self, value: Any, wanted: str | list[str], _: Schema, place: str) -> Problem | None:
        names = [wanted] if isinstance(wanted, str) else wanted
        if any(_IS[name](value) for name in names):
            return None
        return place, f"it is no {' or '.join(names)}"

    def const(self, value: Any, wanted: Any, _: Schema, place: str) -> Problem | None:
        if value == wanted and isinstance(value, bool) is isinstance(wanted, bool):
            return None
        return place, f"it is {value!r}, and not {wanted!r}"

    def enum(self, value: Any, wanted: list[str], _: Schema, place: str) -> Problem | None:
        if isinstance(value, str) and value in wanted:
            return None
        return place, f"{value!r} is none of {', '.join(wanted)}"

    def pattern(self, value: Any, wanted: str, _: Schema, place: str) -> Problem | None:
        if not isinstance(value, str) or re.search(wanted, value):
            return None
        return place, f"{value!r} does not match {wanted}"

    def minimum(self, value: Any, wanted: float, _: Schema, place: str) -> Problem | None:
        if not _is_number(value) or value >= wanted:
            return None
        return place, f"{value!r} is below {wanted}"

    def min_items(self, value: Any, wanted: int, _: Schema, place: str) -> Problem | None:
        if not isinstance(value, list) or len(value) >= wanted:
            return None
        return place, f"it has {len(value)} items, and needs {wanted}"

    def required(self, value: Any, wanted: list[str], _: Schema, place: str) -> Problem | None:
        missing = [name for name in wanted if isinstance(value, dict) and name not in value]
        return (place, f"member {missing[0]!r} is missing") if missing else None

    def properties(
        self, value: Any, wanted: Mapping[str, Schema], _: Schema, place: str
    ) -> Problem | None:
        if not isinstance(value, dict):
            return None
        return self._first(
            (value[name], part, f"{place}/{name}") for name, part in wanted.items() if name in value
        )

    def no_others(self, value: Any, _: bool, schema: Schema, place: str) -> Problem | None:
        """`additionalProperties`, which this schema only ever forbids."""
        if not isinstance(value, dict):
            return None
        strange = sorted(value.keys() - schema["properties"].keys())
        return (place, f"member {strange[0]!r} is not known") if strange else None

    def items(self, value: Any, wanted: Schema, _: Schema, place: str) -> Problem | None:
        if not isinstance(value, list):
            return None
        return self._first((item, wanted, f"{place}/{index}") for index, item in enumerate(value))


_KEYWORDS: Mapping[str, Callable[..., Problem | None]] = {
    "$ref": _Checker.reference,
    "type": _Checker.type,
    "const": _Checker.const,
    "enum": _Checker.enum,
    "pattern": _Checker.pattern,
    "minimum": _Checker.minimum,
    "minItems": _Checker.min_items,
    "required": _Checker.required,
    "properties": _Checker.properties,
    "additionalProperties": _Checker.no_others,
    "items": _Checker.items,
}
