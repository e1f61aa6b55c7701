"""Exponential backoff with full jitter stays within its bounds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resumeproof.domain.backoff import RETRY_CAP_SECONDS, backoff_seconds

ALMOST_1 = 1 - 2**-53


@pytest.mark.parametrize(
    ("failures", "ceiling_seconds"),
    [(1, 1), (2, 2), (3, 4), (6, 32), (7, 60), (8, 60), (10_000, 60)],
)
def test_the_ceiling_doubles_up_to_the_cap(failures: int, ceiling_seconds: float) -> None:
    assert backoff_seconds(1.0, failures, ALMOST_1) == pytest.approx(ceiling_seconds)


@pytest.mark.parametrize("failures", [1, 7, 10_000])
def test_a_base_of_0_turns_it_off(failures: int) -> None:
    assert backoff_seconds(0.0, failures, ALMOST_1) == 0


@given(
    base_seconds=st.floats(0, 1e6),
    failures=st.integers(1, 1_000_000),
    jitter=st.floats(0, 1, exclude_max=True),
)
def test_the_wait_is_the_share_of_the_ceiling_that_jitter_says(
    base_seconds: float, failures: int, jitter: float
) -> None:
    wait_seconds = backoff_seconds(base_seconds, failures, jitter)
    ceiling_seconds = RETRY_CAP_SECONDS
    if failures < 100:
        ceiling_seconds = min(ceiling_seconds, base_seconds * 2 ** (failures - 1))
    assert 0 <= wait_seconds <= ceiling_seconds
    assert backoff_seconds(base_seconds, failures, 0.0) == 0
