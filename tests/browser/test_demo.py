"""The pictures of a demo hold what its receipt says, each thing once."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.browser.conftest import Opens
from tests.browser.reports import Written

COUNT = """picture => Object.fromEntries([...picture.querySelectorAll("[data-mark]")].reduce(
  (counts, mark) => counts.set(mark.dataset.mark, (counts.get(mark.dataset.mark) || 0) + 1),
  new Map()))"""


def told(receipt: dict[str, Any], workflow: dict[str, Any]) -> dict[str, int]:
    """How many marks of each kind the receipt asks for."""
    identifier = workflow["id"]
    scenario = next(each for each in receipt["scenarios"] if each["workflow_id"] == identifier)
    deaths = sum(life["planned"] is not None for life in scenario["lives"])
    lookups = sum(row["workflow_id"] == identifier for row in receipt["ledger"]["lookups"])
    counted = Counter(
        birth=len(scenario["lives"]),
        death=deaths,
        end=len(scenario["lives"]) - deaths,
        record=len(workflow["timeline"]),
        call=workflow["invocations"] + lookups,
        wait=int(workflow["status"] == "unknown"),
    )
    return {kind: count for kind, count in counted.items() if count}


@pytest.mark.parametrize("report", ["demo"], indirect=True)
@pytest.mark.parametrize(("width", "form"), [(1440, "wide"), (390, "narrow")])
def test_each_workflow_has_its_picture(report: Written, width: int, form: str, look: Opens) -> None:
    with look(report.page, width=width) as seen:
        pictures = seen.page.locator(f"svg.picture.{form}:has([data-mark])")
        shown = [picture for picture in pictures.all() if picture.is_visible()]
        found = [picture.evaluate(COUNT) for picture in shown]
        workflows = report.receipt["workflows"]
        assert found == [told(report.receipt, workflow) for workflow in workflows]
