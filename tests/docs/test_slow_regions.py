"""The tables of crash points, which are made by killing very many processes, made anew.

Of the other slow regions the tests of what they tell hold each row to what it came to:
`subjects/test_catalogue.py`, `subjects/test_catalogue_calls.py` and
`subjects/test_broken_kernels.py`.
"""

from __future__ import annotations

import pytest

from docs_regions import CRASH_POINTS, SLOW_REGIONS, standing

pytestmark = pytest.mark.slow


def test_no_other_region_is_slow() -> None:
    assert {*CRASH_POINTS, "broken-kernels", "detection"} == SLOW_REGIONS


@pytest.mark.parametrize("name", CRASH_POINTS)
def test_a_table_says_what_its_processes_came_to(name: str) -> None:
    assert standing(name) == CRASH_POINTS[name]()
