"""The published schema: it is one, receipt files are of it, and we read it as the standard does."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from resumeproof.evidence.receipt import RECEIPT_NAME, SCHEMA_VERSION
from resumeproof.evidence.shape import receipt_schema, shape_problem
from tests.unit.evidence.scene import Scene

SCHEMA = receipt_schema()
STANDARD = Draft202012Validator(SCHEMA)


def test_it_is_a_schema_of_draft_2020_12() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert (SCHEMA["properties"]["schema_version"]["const"], SCHEMA["$id"]) == (
        SCHEMA_VERSION,
        f"urn:resumeproof:receipt:{SCHEMA_VERSION}",
    )


def test_no_object_of_it_is_open_but_those_that_people_fill() -> None:
    """Facts and arguments are what programs and people put there; all else is closed."""

    def open_objects(schema: Any, place: str) -> list[str]:
        if isinstance(schema, list):
            return [each for item in schema for each in open_objects(item, place)]
        if not isinstance(schema, dict):
            return []
        found = [each for name in schema for each in open_objects(schema[name], f"{place}/{name}")]
        if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
            found.append(place)
        return found

    assert open_objects(SCHEMA, "") == [
        "/$defs/record/properties/facts",
        "/$defs/action/properties/arguments",
    ]


@pytest.mark.parametrize("story", ["small", "varied", "whole"])
def test_a_receipt_file_is_of_it(story: str, request: pytest.FixtureRequest) -> None:
    receipt = document(request.getfixturevalue(story))
    assert (list(STANDARD.iter_errors(receipt)), shape_problem(receipt)) == ([], None)


def document(scene: Scene) -> dict[str, Any]:
    receipt: dict[str, Any] = json.loads((scene.directory / RECEIPT_NAME).read_text())
    return receipt


VALUES = st.recursive(
    st.sampled_from(
        [None, True, False, 0, 1, -1, 1.0, 1.5, -0.0, 10**30, "", "a", "f" * 64, "f" * 64 + "\n",
         "idempotent", "exit", "2026-01-01T00:00:00.000000Z", "../x", "1"]
    ),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner),
    max_leaves=3,
)  # fmt: skip


def mutate(data: st.DataObject, whole: Any) -> Any:
    """Take something away, put something else there, or add something, at any depth."""
    changed = copy.deepcopy(whole)
    inner, depth = changed, data.draw(st.integers(0, 6))
    while True:
        steps = list(inner) if isinstance(inner, dict) else list(range(len(inner)))
        step = data.draw(st.sampled_from(steps)) if steps else None
        if step is None or depth == 0 or not isinstance(inner[step], dict | list):
            break
        inner, depth = inner[step], depth - 1
    deed = data.draw(st.sampled_from(["take", "put", "add"]))
    if deed == "add" or step is None:
        if isinstance(inner, dict):
            inner["strange"] = data.draw(VALUES)
        else:
            inner.append(data.draw(VALUES))
    elif deed == "take":
        del inner[step]
    else:
        inner[step] = data.draw(VALUES)
    return changed


@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_it_is_read_as_the_standard_reads_it(varied: Scene, data: st.DataObject) -> None:
    changed = mutate(data, document(varied))
    problem = shape_problem(changed)
    assert (problem is None) == STANDARD.is_valid(changed), problem


@given(value=VALUES)
def test_what_is_no_receipt_file_is_refused_as_the_standard_refuses_it(value: Any) -> None:
    assert (shape_problem(value) is None) == STANDARD.is_valid(value)


def test_the_place_is_named(small: Scene) -> None:
    receipt = document(small)
    receipt["workflows"][1]["timeline"][0]["sequence"] = "1"
    assert shape_problem(receipt) == ("/workflows/1/timeline/0/sequence", "it is no integer")
