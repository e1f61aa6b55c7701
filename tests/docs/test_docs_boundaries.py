"""The words about the boundaries agree with what is due of processes that really die there."""

from __future__ import annotations

from itertools import product

import pytest

from docs_boundaries import CONTRACTS, Stop, stop
from resumeproof.crash.plan import Boundary
from tests.crash.expected import ONE_CRASH

AS_KILLED = {
    "idempotent, key alive": "idempotent",
    "consistent lookup": "consistent",
    "eventual lookup, lag over": "eventual",
    "idempotent, key expired": "expired",
    "neither key nor lookup": "none",
}


def test_every_contract_is_told_of() -> None:
    assert (set(AS_KILLED), set(AS_KILLED.values())) == (set(CONTRACTS), set(ONE_CRASH))


@pytest.mark.parametrize(("contract", "boundary"), [*product(CONTRACTS, Boundary)], ids=str)
def test_a_resume_ends_as_one_after_a_real_death(contract: str, boundary: Boundary) -> None:
    told = stop(boundary, *CONTRACTS[contract])
    due = ONE_CRASH[AS_KILLED[contract]][boundary]
    assert (told.end, told.effects_at_end) == (due.status, due.effects)


def test_a_stop_tells_what_both_stores_hold_there() -> None:
    assert stop(Boundary.TOOL_AFTER, *CONTRACTS["idempotent, key alive"]) == Stop(
        status="running",
        in_doubt=True,
        effects=1,
        asked=("call: replayed",),
        end="completed",
        effects_at_end=1,
    )
