"""What a tool may promise, and what contradicts itself."""

from __future__ import annotations

from typing import Any

import pytest

from resumeproof.domain.contract import Lookup, ToolContract

NAN = float("nan")


@pytest.mark.parametrize(
    ("promises", "reason"),
    [
        ({"idempotent": True, "key_lifetime_seconds": 0}, "more than 0 seconds"),
        ({"idempotent": True, "key_lifetime_seconds": -1}, "more than 0 seconds"),
        ({"idempotent": True, "key_lifetime_seconds": NAN}, "more than 0 seconds"),
        ({"idempotent": True, "key_lifetime_seconds": 1e10}, "at most a century"),
        ({"lookup": Lookup.EVENTUAL, "lookup_lag_seconds": 1e10}, "at most a century"),
        ({"idempotent": True, "key_lifetime_seconds": 1e300}, "at most a century"),
        ({"key_lifetime_seconds": 10}, "only an idempotent tool"),
        ({"lookup": Lookup.EVENTUAL, "lookup_lag_seconds": -1}, "0 seconds or more"),
        ({"lookup": Lookup.EVENTUAL, "lookup_lag_seconds": NAN}, "0 seconds or more"),
        ({"lookup": Lookup.EVENTUAL, "lookup_lag_seconds": float("inf")}, "at most a century"),
        ({"lookup": Lookup.CONSISTENT, "lookup_lag_seconds": 1}, "only an eventual lookup"),
        ({"lookup_lag_seconds": 1}, "only an eventual lookup"),
    ],
    ids=str,
)
def test_a_promise_that_contradicts_itself_is_refused(
    promises: dict[str, Any], reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        ToolContract("charge", **promises)


@pytest.mark.parametrize(
    "contract",
    [
        ToolContract("charge"),
        ToolContract("charge", idempotent=True, key_lifetime_seconds=10.5),
        ToolContract("charge", lookup=Lookup.CONSISTENT),
        ToolContract("charge", idempotent=True, lookup=Lookup.EVENTUAL, lookup_lag_seconds=2),
    ],
    ids=lambda contract: f"{contract.idempotent}-{contract.lookup}",
)
def test_json_keeps_every_promise(contract: ToolContract) -> None:
    assert ToolContract.from_json(contract.to_json()) == contract


@pytest.mark.parametrize("member", ToolContract("charge").to_json())
def test_a_missing_member_is_an_error(member: str) -> None:
    value = ToolContract("charge").to_json()
    del value[member]
    with pytest.raises(KeyError, match=member):
        ToolContract.from_json(value)


def test_an_unknown_lookup_is_an_error() -> None:
    with pytest.raises(ValueError, match="sometimes"):
        ToolContract.from_json(ToolContract("charge").to_json() | {"lookup": "sometimes"})


@pytest.mark.parametrize(("lifetime", "relied"), [(None, None), (10, 9), (100, 90)])
def test_a_tenth_of_a_keys_life_is_not_relied_upon(
    lifetime: float | None, relied: float | None
) -> None:
    contract = ToolContract("charge", idempotent=True, key_lifetime_seconds=lifetime)
    assert contract.relied_lifetime_seconds == relied
