"""A receipt that somebody changed, met by the driver that needs it to settle a doubt."""

from __future__ import annotations

from collections.abc import Callable
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


InDoubt = Callable[[str], tuple[Desk, str]]


@pytest.fixture(scope="module")
def masters() -> dict[str, tuple[Desk, str]]:
    return {}


@pytest.fixture
def in_doubt(
    masters: dict[str, tuple[Desk, str]],
    tmp_path_factory: pytest.TempPathFactory,
    tmp_path: Path,
) -> InDoubt:
    """A desk of one's own whose driver died after the effect that the next one asks for."""

    def at(asks: str) -> tuple[Desk, str]:
        if asks not in masters:
            master = Desk(tmp_path_factory.mktemp("master"))
            masters[asks] = master, master.crashed(*ASKS[asks], at="tool:after")
        master, workflow_id = masters[asks]
        return master.copy_to(tmp_path / "desk"), workflow_id

    return at


@pytest.mark.parametrize("asks", ASKS)
@pytest.mark.parametrize("column", CHANGES)
def test_a_changed_receipt_ends_the_workflow_as_unknown(
    column: str, asks: str, in_doubt: InDoubt
) -> None:
    desk, workflow_id = in_doubt(asks)
    desk.sql(LEDGER, f"UPDATE effects SET {column} = {CHANGES[column]}")
    resumed = desk.call("resume", "--workflow", workflow_id)
    again = desk.call("resume", "--workflow", workflow_id)
    workflow = desk.show(workflow_id)
    assert (resumed.status, again.status, workflow["reason"], desk.totals()["effects"]) == (
        4, 4, "receipt_unverifiable", 1,
    )  # fmt: skip
    assert workflow["receipt"] is None


@pytest.mark.parametrize("asks", ASKS)
def test_an_effect_that_is_gone_is_not_applied_again(asks: str, in_doubt: InDoubt) -> None:
    desk, workflow_id = in_doubt(asks)
    desk.sql(LEDGER, "DELETE FROM effects")
    resumed = desk.call("resume", "--workflow", workflow_id)
    workflow = desk.show(workflow_id)
    assert (resumed.status, workflow["in_doubt"], desk.totals()["effects"]) == (7, True, 0)
