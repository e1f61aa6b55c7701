"""A receipt's hash covers every column of its effect."""

from __future__ import annotations

import hashlib
from dataclasses import fields, replace
from typing import Any

import pytest
import rfc8785

from resumeproof.domain.receipt import Receipt
from tests.unit.domain.samples import DIGEST, OTHER_DIGEST, receipt

CHANGED: dict[str, Any] = {
    "sequence": 2,
    "receipt_id": "receipt-2",
    "ledger_id": "ledger-2",
    "workflow_id": "wf-2",
    "step": "other",
    "attempt": 2,
    "tool": "refund",
    "key": None,
    "fingerprint": OTHER_DIGEST,
    "applied_at": "2026-01-01T00:00:02.000001Z",
    "hash": "f" * 64,
}


def test_the_hash_can_be_recomputed_by_anyone() -> None:
    covered = receipt().to_json()
    claimed = covered.pop("hash")
    assert claimed == hashlib.sha256(rfc8785.dumps(covered)).hexdigest()


def test_a_good_receipt_has_no_damage() -> None:
    assert receipt().damage(fingerprint=DIGEST) is None


def test_every_column_is_tried() -> None:
    assert list(CHANGED) == [field.name for field in fields(Receipt)]


@pytest.mark.parametrize("column", CHANGED)
def test_a_changed_column_shows(column: str) -> None:
    damaged = replace(receipt(), **{column: CHANGED[column]})
    assert damaged.damage(fingerprint=DIGEST) == (
        f"receipt {damaged.receipt_id}: its hash does not match its contents"
    )


@pytest.mark.parametrize("sequence", [2**53, float("nan"), "\ud800"], ids=ascii)
def test_contents_that_cannot_be_hashed_are_damage(sequence: Any) -> None:
    damaged = replace(receipt(), sequence=sequence)
    assert str(damaged.damage(fingerprint=DIGEST)).startswith(
        "receipt receipt-1: its contents cannot be hashed ("
    )


def test_a_good_receipt_of_other_bytes_proves_nothing_of_these() -> None:
    other = receipt(fingerprint=OTHER_DIGEST)
    assert other.damage(fingerprint=DIGEST) == (
        f"receipt receipt-1 is of other bytes: {OTHER_DIGEST}"
    )


def test_json_keeps_every_column() -> None:
    assert Receipt.from_json(receipt().to_json()) == receipt()


@pytest.mark.parametrize("column", CHANGED)
def test_a_missing_member_is_an_error(column: str) -> None:
    value = receipt().to_json()
    del value[column]
    with pytest.raises(KeyError, match=column):
        Receipt.from_json(value)
