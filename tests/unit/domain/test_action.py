"""What is accepted as an action, what its digest depends on, and what it does not."""

from __future__ import annotations

import pickle
import unicodedata
from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from resumeproof.domain.action import Action, parse_action
from resumeproof.errors import ActionRefused

MEBIBYTE = 1 << 20

# -- the edge of what is accepted -------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "canonical"),
    [
        ("9007199254740991", "9007199254740991"),
        ("-9007199254740991", "-9007199254740991"),
        ("9007199254740991.0", "9007199254740991"),
        ("9007199254740991.4", "9007199254740991"),
        ("9e15", "9000000000000000"),
        ("1.0", "1"),
        ("0.1e1", "1"),
        ("100e-2", "1"),
        ("-0", "0"),
        ("-0.0", "0"),
        ("0e400", "0"),
        ("1e-400", "0"),
        ("1.50", "1.5"),
        ("0.1", "0.1"),
        ("0.1000000000000000055", "0.1"),
        ("1e-7", "1e-7"),
        ("0.000001", "0.000001"),
        ("5e-324", "5e-324"),
    ],
)
def test_number_is_the_nearest_double(number: str, canonical: str) -> None:
    assert parse_action(f'{{"a":{number}}}'.encode()).canonical == f'{{"a":{canonical}}}'.encode()


def test_number_of_400_digits_is_read() -> None:
    assert parse_action(b'{"a":0.' + b"3" * 399 + b"}").canonical == b'{"a":0.3333333333333333}'


def test_nesting_of_100_is_read() -> None:
    data = b'{"a":' + b"[" * 99 + b"]" * 99 + b"}"
    assert parse_action(data).canonical == data


def test_brackets_in_a_string_are_not_nesting() -> None:
    data = b'{"a":"\\"' + b"[" * 101 + b"\\n" + b"[" * 101 + b'"}'
    assert parse_action(data).canonical == data


def test_brackets_side_by_side_are_not_nesting() -> None:
    data = b'{"a":[' + b"[]," * 200 + b"[]]}"
    assert parse_action(data).canonical == data


def test_text_of_1_mib_is_read() -> None:
    data = b'{"a":"' + b"x" * (MEBIBYTE - 8) + b'"}'
    assert (len(data), parse_action(data).canonical) == (MEBIBYTE, data)


def test_byte_order_mark_inside_a_string_is_a_character() -> None:
    data = '{"a":"\ufeff"}'.encode()
    assert parse_action(data).canonical == data


def test_surrogate_pair_is_one_character() -> None:
    assert parse_action(b'{"a":"\\ud83d\\ude00"}').canonical == '{"a":"\U0001f600"}'.encode()


def test_one_name_in_two_objects_is_no_duplicate() -> None:
    data = b'{"a":{"a":1},"b":{"a":1}}'
    assert parse_action(data).canonical == data


# -- the digest -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(b'{"arguments":{"b":"x","a":1},"tool":"t"}', id="key-order"),
        pytest.param(
            b' {\n\t"tool" : "t",\r\n"arguments": {"a":1, "b":"x"} } \n', id="white-space"
        ),
        pytest.param(b'{"tool":"t","arguments":{"a":1.0,"b":"x"}}', id="1.0"),
        pytest.param(b'{"tool":"t","arguments":{"a":10e-1,"b":"x"}}', id="10e-1"),
        pytest.param(b'{"\\u0074ool":"t","arguments":{"a":1,"b":"\\u0078"}}', id="escapes"),
    ],
)
def test_spelling_does_not_matter(other: bytes) -> None:
    first = parse_action(b'{"tool":"t","arguments":{"a":1,"b":"x"}}')
    assert parse_action(other).digest == first.digest


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param('{"a":"7"}', '{"a":7}', id="text-and-number"),
        pytest.param('{"a":1}', '{"a":true}', id="number-and-true"),
        pytest.param('{"a":null}', "{}", id="null-and-absent"),
        pytest.param('{"a":[1,2]}', '{"a":[2,1]}', id="order-of-an-array"),
        pytest.param('{"a":"x"}', '{"a":"x "}', id="blank"),
        pytest.param(
            f'{{"a":"{unicodedata.normalize("NFC", "é")}"}}',
            f'{{"a":"{unicodedata.normalize("NFD", "é")}"}}',
            id="nfc-and-nfd",
        ),
        pytest.param(
            '{"a":1}', '{"tool":"simulated","arguments":{"a":1}}', id="whole-and-action-form"
        ),
    ],
)
def test_meaning_matters(one: str, other: str) -> None:
    assert parse_action(one.encode()).digest != parse_action(other.encode()).digest


def test_digest_is_sha256_of_the_canonical_bytes() -> None:
    # echo -n '{"arguments":{"amount":1200},"tool":"charge"}' | sha256sum
    expected = "08e8e61ba2d8e9f82806cc0247de6b514e2f1c43c907bd28b6b5631606b47dda"
    assert parse_action(b'{"tool":"charge","arguments":{"amount":1200.0}}').digest == expected


def test_stored_bytes_are_hashed_as_they_are() -> None:
    # echo -n '{"b":1.0, "a":1}' | sha256sum
    expected = "f25cb17f10ae4c1a91afb70a695c4cf075bd8d6e8a4b0711c45d2611f601546d"
    stored = Action.from_canonical(b'{"b":1.0, "a":1}')
    assert (stored.canonical, stored.digest) == (b'{"b":1.0, "a":1}', expected)


# -- tool and arguments -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "tool", "arguments"),
    [
        pytest.param(
            b'{"tool":"charge","arguments":{"amount":12.50}}',
            "charge",
            {"amount": 12.5},
            id="action-form",
        ),
        pytest.param(b'{"arguments":{},"tool":"t"}', "t", {}, id="action-form-empty"),
        pytest.param(b'{"amount":1}', "simulated", {"amount": 1}, id="any-object"),
        pytest.param(b"{}", "simulated", {}, id="empty-object"),
        pytest.param(b'{"tool":"t"}', "simulated", {"tool": "t"}, id="tool-alone"),
        pytest.param(b'{"arguments":[]}', "simulated", {"arguments": []}, id="arguments-alone"),
        pytest.param(
            b'{"tool":"t","arguments":{},"note":"n"}',
            "simulated",
            {"tool": "t", "arguments": {}, "note": "n"},
            id="third-member",
        ),
    ],
)
def test_form_tells_tool_and_arguments(data: bytes, tool: str, arguments: dict[str, Any]) -> None:
    action = parse_action(data)
    assert (action.tool, action.arguments) == (tool, arguments)


def test_integral_arguments_are_integers_and_the_others_floats() -> None:
    arguments = parse_action(b'{"a":[1,1.0,-0.0,1e2,2.5]}').arguments
    assert repr(arguments) == "{'a': [1, 1, 0, 100, 2.5]}"


def test_arguments_changed_by_the_reader_change_nothing() -> None:
    action = parse_action(b'{"a":{"b":1}}')
    action.arguments["a"]["b"] = 2
    assert (action.canonical, action.arguments) == (b'{"a":{"b":1}}', {"a": {"b": 1}})


@pytest.mark.parametrize(
    ("stored", "reason"),
    [
        pytest.param(b"\x00" * 16, "invalid JSON: Expecting value", id="nul-bytes"),
        pytest.param(b'{"a":1,"a":2}', "duplicate member", id="duplicate"),
        pytest.param(b'{"tool":"","arguments":{}}', "tool is empty", id="no-tool"),
    ],
)
@pytest.mark.parametrize("fact", ["tool", "arguments"])
def test_stored_bytes_changed_by_hand_are_refused_when_read(
    stored: bytes, reason: str, fact: str
) -> None:
    with pytest.raises(ActionRefused) as caught:
        getattr(Action.from_canonical(stored), fact)
    assert caught.value.reason == reason


def test_action_cannot_be_changed() -> None:
    action = parse_action(b"{}")
    with pytest.raises(FrozenInstanceError):
        action.canonical = b""  # type: ignore[misc]


def test_action_and_refusal_travel_between_processes() -> None:
    action, refused = parse_action(b'{"a":1}'), ActionRefused("byte-order mark", "at byte 0")
    again, refused_again = pickle.loads(pickle.dumps((action, refused)))
    assert (again, refused_again.facts) == (action, refused.facts)
