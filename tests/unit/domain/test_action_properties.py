"""Any document, and any bytes: refused by name, or read and written back the same."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resumeproof.domain.action import Action, parse_action
from resumeproof.errors import ActionRefused

HIGH_SURROGATE = "\ud800"  # never followed by a low one here, so it is always alone
NUMBERS = (
    st.integers()
    | st.integers(-(2**53) - 2, -(2**53) + 2)
    | st.integers(2**53 - 2, 2**53 + 2)
    | st.floats()
)
TEXTS = st.text(st.characters(codec="utf-8") | st.just(HIGH_SURROGATE))
NAMES = TEXTS | st.sampled_from(["a", "amount", "tool", "arguments"])
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=4)


def acceptable(value: Any) -> bool:
    match value:
        case dict():
            return all(acceptable(part) for pair in value.items() for part in pair)
        case list():
            return all(map(acceptable, value))
        case str():
            return HIGH_SURROGATE not in value
        case bool() | None:
            return True
        case _:
            return math.isfinite(value) and abs(value) < 2**53


def acceptable_form(document: dict[str, Any]) -> bool:
    if set(document) != {"tool", "arguments"}:
        return True
    tool, arguments = document["tool"], document["arguments"]
    return isinstance(tool, str) and tool != "" and isinstance(arguments, dict)


def outcome(data: bytes) -> Action | str:
    try:
        return parse_action(data)
    except ActionRefused as refused:
        return str(refused)


@given(OBJECTS, st.sampled_from([None, 1]), st.booleans())
def test_any_object_is_refused_or_comes_back_equal(
    document: dict[str, Any], indent: int | None, ascii_only: bool
) -> None:
    ascii_only = ascii_only or not acceptable(document)  # a raw surrogate has no UTF-8
    data = json.dumps(document, indent=indent, ensure_ascii=ascii_only).encode()
    if not (acceptable(document) and acceptable_form(document)):
        with pytest.raises(ActionRefused):
            parse_action(data)
        return
    action = parse_action(data)
    assert (json.loads(action.canonical), parse_action(action.canonical)) == (document, action)


@given(OBJECTS.filter(acceptable), st.text(min_size=1))
def test_action_form_comes_back_equal(arguments: dict[str, Any], tool: str) -> None:
    action = parse_action(json.dumps({"tool": tool, "arguments": arguments}).encode())
    assert (action.tool, action.arguments) == (tool, arguments)


@given(
    st.binary()
    | st.text('{}[]":,\\ \n0123456789.eE+-naNtruflsIiy').map(str.encode)
    | st.tuples(OBJECTS, st.integers(0), st.binary(max_size=3)).map(
        lambda torn: (text := json.dumps(torn[0]).encode())[: torn[1] % len(text)] + torn[2]
    )
)
def test_any_bytes_are_refused_by_name_or_read(data: bytes) -> None:
    found = outcome(data)
    if isinstance(found, Action):
        assert parse_action(found.canonical) == found
    else:
        assert len(found.splitlines()) == 1
