"""Every kind of tool contract, with times that a few ticks of the model's clock can pass."""

from __future__ import annotations

from typing import NamedTuple

from resumeproof.domain.contract import Lookup, ToolContract


class Kind(NamedTuple):
    """A contract, the key that its workflow has, and the ticks until it has changed its mind."""

    contract: ToolContract
    key: str | None
    ticks: int


KINDS = {
    "none": Kind(ToolContract("simulated"), None, 0),
    "idempotent": Kind(ToolContract("simulated", idempotent=True), "key-1", 0),
    "key_lifetime": Kind(
        ToolContract("simulated", idempotent=True, key_lifetime_seconds=10), "key-1", 2
    ),
    "consistent": Kind(ToolContract("simulated", lookup=Lookup.CONSISTENT), "key-1", 0),
    "eventual": Kind(
        ToolContract("simulated", lookup=Lookup.EVENTUAL, lookup_lag_seconds=5), "key-1", 2
    ),
    "idempotent_consistent": Kind(
        ToolContract("simulated", idempotent=True, lookup=Lookup.CONSISTENT), "key-1", 0
    ),
    "key_lifetime_consistent": Kind(
        ToolContract(
            "simulated", idempotent=True, key_lifetime_seconds=10, lookup=Lookup.CONSISTENT
        ),
        "key-1",
        2,
    ),
}
