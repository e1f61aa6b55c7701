"""A receipt that somebody changed, met by the driver that needs it to settle a doubt."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.desk import LEDGER, Desk

pytestmark = pytest.mark.crash

CHANGES = {
    "receipt_id": "'receipt_other'",
    "step": "'other'",
    "attempt": "9",
    "tool": "'other_tool'",
    "key": "'other-key'",
    "fingerprint": "printf('%064d', 0)",
    "applied_at": "'2020-01-01T00:00:00.000000Z'",
    "receipt_hash": "printf('%064d', 0)",
}
"""The columns that a receipt's hash covers. `action` is none of them: its digest, the fingerprint,
is; a changed action is damage for `verify`, and no reason for a driver to doubt its receipt."""

ASKS = {"a replay": ("--key", "k1"), "a lookup": ("--key", "k1", "--mode", "non_idempotent",
                                                 "--lookup", "consistent")}  # fmt: skip


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.mark.parametrize("words", ASKS.values(), ids=ASKS)
@pytest.mark.parametrize("column", CHANGES)
def test_a_changed_receipt_ends_the_workflow_as_unknown(
    column: str, words: tuple[str, ...], desk: Desk
) -> None:
    workflow_id = desk.crashed(*words, at="tool:after")
    desk.sql(LEDGER, f"UPDATE effects SET {column} = {CHANGES[column]}")
    resumed = desk.run("resume", "--workflow", workflow_id)
    again = desk.run("resume", "--workflow", workflow_id)
    workflow = desk.show(workflow_id)
    assert (resumed.status, again.status, workflow["reason"], desk.totals()["effects"]) == (
        4, 4, "receipt_unverifiable", 1,
    )  # fmt: skip
    assert workflow["receipt"] is None


@pytest.mark.parametrize("words", ASKS.values(), ids=ASKS)
def test_an_effect_that_is_gone_is_not_applied_again(words: tuple[str, ...], desk: Desk) -> None:
    workflow_id = desk.crashed(*words, at="tool:after")
    desk.sql(LEDGER, "DELETE FROM effects")
    resumed = desk.run("resume", "--workflow", workflow_id)
    workflow = desk.show(workflow_id)
    assert (resumed.status, workflow["in_doubt"], desk.totals()["effects"]) == (7, True, 0)
