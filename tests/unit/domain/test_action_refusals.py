"""What is refused as an action, why, and at which place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from resumeproof.domain.action import parse_action
from resumeproof.errors import ActionRefused

VECTORS: dict[str, Any] = json.loads(
    Path(__file__).with_name("rfc8785_vectors.json").read_text(encoding="utf-8")
)
MEBIBYTE = 1 << 20
UNSAFE = "integral value outside -(2^53-1)..2^53-1"
OVERFLOW = "number overflows to Infinity"
DIGITS = "number of more than 400 digits"
DEEP = "nesting deeper than 100"


def refusal(data: bytes) -> tuple[str, str, str]:
    with pytest.raises(ActionRefused) as caught:
        parse_action(data)
    return caught.value.code, caught.value.reason, caught.value.place


OF_THE_TEXT = {
    "over-1-mib": (
        b'{"a":"' + b"x" * (MEBIBYTE - 7) + b'"}',
        "over 1048576 bytes",
        "at byte 1048576",
    ),
    "bom-utf-8": (b"\xef\xbb\xbf{}", "byte-order mark", "at line 1, column 1, byte 0"),
    "bom-utf-16-le": (b"\xff\xfe{\x00}\x00", "byte-order mark", "at line 1, column 1, byte 0"),
    "bom-utf-16-be": (b"\xfe\xff\x00{\x00}", "byte-order mark", "at line 1, column 1, byte 0"),
    "utf-8-stray-byte": (b'{"a":"\xff"}', "invalid UTF-8", "at line 1, column 7, byte 6"),
    "utf-8-after-a-letter-of-two-bytes": (
        '{\n"é":"'.encode() + b'\xe9"}',
        "invalid UTF-8",
        "at line 2, column 6, byte 8",
    ),
    "utf-8-cut-off": (b'{"a":"\xe2\x82', "invalid UTF-8", "at line 1, column 7, byte 6"),
    "utf-8-overlong": (b'{"a":"\xc0\x80"}', "invalid UTF-8", "at line 1, column 7, byte 6"),
    "utf-8-surrogate": (b'{"a":"\xed\xa0\x80"}', "invalid UTF-8", "at line 1, column 7, byte 6"),
    "deep-101": (b'{"a":' + b"[" * 100, DEEP, "at line 1, column 105, byte 104"),
    "deep-objects": (b'{"a":' * 101, DEEP, "at line 1, column 501, byte 500"),
    "deep-100000": (b"[" * 100_000, DEEP, "at line 1, column 101, byte 100"),
    "deep-after-brackets-in-a-string": (
        b'{"]]\\"]]":' + b"[" * 100,
        DEEP,
        "at line 1, column 110, byte 109",
    ),
    "deep-after-an-escaped-backslash": (
        b'{"\\\\":' + b"[" * 100_000,
        DEEP,
        "at line 1, column 106, byte 105",
    ),
    "empty": (b"", "invalid JSON: Expecting value", "at line 1, column 1, byte 0"),
    "white-space": (b" \n", "invalid JSON: Expecting value", "at line 2, column 1, byte 2"),
    "bare-word": (b'{"a": yes}', "invalid JSON: Expecting value", "at line 1, column 7, byte 6"),
    "no-colon": (
        b'{"a" 1}',
        "invalid JSON: Expecting ':' delimiter",
        "at line 1, column 6, byte 5",
    ),
    "no-comma": (
        '{"é":\n1 "b":2}'.encode(),
        "invalid JSON: Expecting ',' delimiter",
        "at line 2, column 3, byte 9",
    ),
    "single-quotes": (
        b"{'a':1}",
        "invalid JSON: Expecting property name enclosed in double quotes",
        "at line 1, column 2, byte 1",
    ),
    "leading-zero": (
        b'{"a":01}',
        "invalid JSON: Expecting ',' delimiter",
        "at line 1, column 7, byte 6",
    ),
    "string-not-ended": (
        b'{"a":"b',
        "invalid JSON: Unterminated string",
        "at line 1, column 6, byte 5",
    ),
    "string-not-ended-of-half-a-million-quotes": (  # quadratic reading would take hours
        b'{"' + b'\\"' * 500_000,
        "invalid JSON: Unterminated string",
        "at line 1, column 2, byte 1",
    ),
    "control-character": (
        b'{"a":"\n"}',
        "invalid JSON: Invalid control character",
        "at line 1, column 7, byte 6",
    ),
    "no-break-space": (
        "{}\u00a0".encode(),
        "invalid JSON: Extra data",
        "at line 1, column 3, byte 2",
    ),
    "trailing-data": (b"{}\n{}", "invalid JSON: Extra data", "at line 2, column 1, byte 3"),
}

OF_THE_DOCUMENT = {
    "top-level-array": (b"[]", "not an object", "at the top level"),
    "top-level-string": (b'"a"', "not an object", "at the top level"),
    "top-level-number": (b"NaN", "not an object", "at the top level"),
    "top-level-null": (b"null", "not an object", "at the top level"),
    "canonical-form-over-1-mib": (
        b'{"a":[' + b"9e15," * 70_000 + b"1]}",
        "canonical form over 1048576 bytes",
        "at the top level",
    ),
    "tool-number": (b'{"tool":7,"arguments":{}}', "tool is not a string", "at /tool"),
    "tool-null": (b'{"tool":null,"arguments":{}}', "tool is not a string", "at /tool"),
    "tool-empty": (b'{"tool":"","arguments":{}}', "tool is empty", "at /tool"),
    "arguments-array": (
        b'{"tool":"t","arguments":[]}',
        "arguments is not an object",
        "at /arguments",
    ),
    "duplicate": (b'{"a":1,"b":2,"a":1}', "duplicate member", "at /a"),
    "duplicate-otherwise-escaped": (b'{"a":1,"\\u0061":1}', "duplicate member", "at /a"),
    "duplicate-empty-name": (b'{"":1,"":1}', "duplicate member", "at /"),
    "duplicate-tool": (b'{"tool":"a","tool":"b","arguments":{}}', "duplicate member", "at /tool"),
    "duplicate-inside": (
        b'{"tool":"t","arguments":{"lines":[{},{"amount":1,"amount":2}]}}',
        "duplicate member",
        "at /arguments/lines/1/amount",
    ),
    "duplicate-name-of-pointer-characters": (
        b'{"a/b~c":{"d":1,"d":1}}',
        "duplicate member",
        "at /a~1b~0c/d",
    ),
    "duplicate-name-of-more-than-one-line": (
        b'{"a\\n\\u001b[2J":1,"a\\n\\u001b[2J":1}',
        "duplicate member",
        "at /a\\n\\u001b[2J",
    ),
    "duplicate-long-name": (
        b'{"' + b"k" * 1000 + b'":{"d":1,"d":1}}',
        "duplicate member",
        "at /" + "k" * 60 + "/d",
    ),
    "surrogate-high": (b'{"a":"x\\ud800"}', "lone surrogate", "at /a"),
    "surrogate-low": (b'{"a":["\\udc00"]}', "lone surrogate", "at /a/0"),
    "surrogates-reversed": (b'{"a":"\\ude00\\ud83d"}', "lone surrogate", "at /a"),
    "surrogate-in-a-name": (b'{"a":{"\\ud800":1}}', "lone surrogate", "at /a/\\ud800"),
    "nan": (b'{"a":NaN}', "NaN is not JSON", "at /a"),
    "infinity": (b'{"a":[1,Infinity]}', "Infinity is not JSON", "at /a/1"),
    "minus-infinity": (b'{"a":{"b":-Infinity}}', "-Infinity is not JSON", "at /a/b"),
}

OF_A_NUMBER = {
    "1e400": OVERFLOW,
    "-1e400": OVERFLOW,
    "1.8e308": OVERFLOW,
    "9007199254740992": UNSAFE,
    "-9007199254740992": UNSAFE,
    "9007199254740993": UNSAFE,
    "9007199254740993.0": UNSAFE,
    "900719925474099300e-2": UNSAFE,
    "0.9007199254740993e16": UNSAFE,
    "9007199254740991.9": UNSAFE,
    "1e16": UNSAFE,
    "1E+16": UNSAFE,
    "-1e16": UNSAFE,
    "1e21": UNSAFE,
    "1.5e300": UNSAFE,
    "1" * 300: UNSAFE,
    "1" * 400: OVERFLOW,
    "1" * 401: DIGITS,
    "-" + "1" * 401: DIGITS,
    "1" * 5000: DIGITS,
    "0." + "0" * 399 + "1": DIGITS,
    "1e" + "0" * 399 + "1": DIGITS,
}


@pytest.mark.parametrize(
    ("data", "reason", "place"),
    [pytest.param(*case, id=name) for name, case in (OF_THE_TEXT | OF_THE_DOCUMENT).items()],
)
def test_refusal_names_the_place(data: bytes, reason: str, place: str) -> None:
    assert refusal(data) == ("action_refused", reason, place)


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        pytest.param(number, reason, id=number if len(number) < 30 else f"{len(number)}-characters")
        for number, reason in OF_A_NUMBER.items()
    ],
)
def test_refused_number_names_the_place(number: str, reason: str) -> None:
    data = f'{{"tool":"charge","arguments":{{"amount":{number}}}}}'.encode()
    assert refusal(data) == ("action_refused", reason, "at /arguments/amount")


def test_refusal_is_one_line() -> None:
    refused = ActionRefused(*refusal(b'{"a\\n":1,"a\\n":2}')[1:])
    assert str(refused) == "action refused: duplicate member (at /a\\n)"


def test_structure_of_the_rfc_is_refused_for_its_integer_of_31_digits() -> None:
    data = VECTORS["structure"]["input"].encode()
    assert refusal(data) == ("action_refused", UNSAFE, "at /numbers/1")
