"""The canonical bytes are those that RFC 8785 publishes."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from resumeproof.domain.canonical import canonical_bytes, digest_of

VECTORS: dict[str, Any] = json.loads(
    Path(__file__).with_name("rfc8785_vectors.json").read_text(encoding="utf-8")
)


def double(ieee754_hex: str) -> float:
    value: float = struct.unpack(">d", bytes.fromhex(ieee754_hex))[0]
    return value


@pytest.mark.parametrize("vector", VECTORS["numbers"], ids=lambda vector: vector["ieee754_hex"])
def test_number_of_appendix_b(vector: dict[str, str]) -> None:
    assert canonical_bytes(double(vector["ieee754_hex"])).decode() == vector["canonical"]


@pytest.mark.parametrize("ieee754_hex", VECTORS["not_numbers"])
def test_nan_and_infinity_of_appendix_b_are_refused(ieee754_hex: str) -> None:
    with pytest.raises(ValueError, match="not representable"):
        canonical_bytes(double(ieee754_hex))


def test_structure_of_section_3_2_4() -> None:
    value = json.loads(VECTORS["structure"]["input"])
    assert canonical_bytes(value).hex() == VECTORS["structure"]["canonical_hex"]


def test_sorting_of_section_3_2_3() -> None:
    canonical = canonical_bytes(json.loads(VECTORS["sorting"]["input"]))
    assert list(json.loads(canonical).values()) == VECTORS["sorting"]["values_in_canonical_order"]


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(2**53, id="unsafe-integer"),
        pytest.param("\ud800", id="surrogate-in-text"),
        pytest.param({"\ud800": 1}, id="surrogate-in-name"),
        pytest.param({1: 1}, id="name-not-text"),
        pytest.param({"a": b"bytes"}, id="bytes"),
    ],
)
def test_what_json_cannot_carry_is_a_value_error(value: Any) -> None:
    with pytest.raises(ValueError, match=r".+"):
        canonical_bytes(value)


def test_digest_is_sha256_in_lowercase_hex() -> None:
    # FIPS 180-4 example: the one-block message "abc".
    expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert digest_of(b"abc") == expected


SCALARS = (
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(-1e300, 1e300)
)
VALUES = st.recursive(
    SCALARS | st.text() | st.text(st.characters(max_codepoint=127)),
    lambda values: st.lists(values) | st.dictionaries(st.text(), values),
)


@given(VALUES)
def test_they_are_those_of_the_rfc8785_package_whoever_writes_them(value: Any) -> None:
    assert canonical_bytes(value) == rfc8785.dumps(value)
