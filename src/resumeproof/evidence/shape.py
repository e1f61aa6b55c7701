"""Whether a document has the shape of the published JSON Schema, by the part of JSON Schema
(draft 2020-12) that the schema uses: `type`, `const`, `enum`, `pattern`, `minimum`, `required`,
`properties`, `additionalProperties`, `items`, `$ref` into `$defs`.

The schema is the single source; a keyword that is not known here is an error of the schema.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from resumeproof.errors import EvidenceBroken

_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
_ANNOTATIONS = frozenset({"$schema", "$id", "$defs", "title", "description"})


def receipt_schema() -> dict[str, Any]:
    """The published schema of a receipt file."""
    text = resources.files("resumeproof.evidence").joinpath("schema/receipt-1.json").read_text()
    schema: dict[str, Any] = json.loads(text)
    return schema


def check_shape(document: object, path: Path) -> None:
    """Raises `EvidenceBroken` naming the first place that is not of the schema's shape."""
    schema = receipt_schema()
    problem = _problem(document, schema, schema["$defs"], "")
    if problem is not None:
        place, detail = problem
        raise EvidenceBroken(str(path), f"the shape of {place or 'the document'}", detail)


def _problem(
    value: Any, schema: Mapping[str, Any], defs: Mapping[str, Any], place: str
) -> tuple[str, str] | None:
    """The first place that does not fit, as a JSON pointer, and why; None where all fits."""
    for keyword, wanted in schema.items():
        match keyword:
            case "$ref":
                found = _problem(value, defs[wanted.removeprefix("#/$defs/")], defs, place)
            case "type":
                found = _wrong_type(value, wanted, place)
            case "const" | "enum":
                allowed = [wanted] if keyword == "const" else wanted
                found = None if value in allowed else (place, f"{value!r} is none of {allowed}")
            case "pattern":
                fits = not isinstance(value, str) or re.search(wanted, value)
                found = None if fits else (place, f"{value!r} does not match {wanted}")
            case "minimum":
                fits = not isinstance(value, int | float) or value >= wanted
                found = None if fits else (place, f"{value!r} is below {wanted}")
            case "required":
                missing = [name for name in wanted if name not in value]
                found = (place, f"member {missing[0]!r} is missing") if missing else None
            case "properties":
                found = _first_problem(
                    ((value[name], part, f"{place}/{name}") for name, part in wanted.items()
                     if name in value),
                    defs,
                )  # fmt: skip
            case "additionalProperties":
                strange = [name for name in value if name not in schema["properties"]]
                found = (place, f"member {strange[0]!r} is not known") if strange else None
            case "items":
                found = _first_problem(
                    ((item, wanted, f"{place}/{index}") for index, item in enumerate(value)), defs
                )
            case _ if keyword in _ANNOTATIONS:
                found = None
            case _:
                raise ValueError(f"keyword {keyword} of the schema is not implemented")
        if found is not None:
            return found
    return None


def _first_problem(parts: Any, defs: Mapping[str, Any]) -> tuple[str, str] | None:
    for value, schema, place in parts:
        found = _problem(value, schema, defs, place)
        if found is not None:
            return found
    return None


def _wrong_type(value: Any, wanted: str | list[str], place: str) -> tuple[str, str] | None:
    names = [wanted] if isinstance(wanted, str) else wanted
    # JSON has no number that is a boolean; Python's True is an int.
    for name in names:
        if isinstance(value, _TYPES[name]) and (name == "boolean") == isinstance(value, bool):
            return None
    return place, f"it is no {' or '.join(names)}"
