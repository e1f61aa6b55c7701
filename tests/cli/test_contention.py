"""Eight processes at once, on one workflow: one wins, and the others are told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cli.conftest import Worked
from tests.cli.desk import JOURNAL, TIMEOUT_SECONDS, Desk, Ran, environment

AT_THE_BARRIER = Path(__file__).parent / "children" / "at_the_barrier.py"
CROWD = 8


def all_at_once(desk: Desk, commands: Sequence[Sequence[str]]) -> list[Ran]:
    """Run the commands in processes that all start working at one moment."""
    place = desk.path.parent / "printed"
    place.mkdir()
    ready_reader, ready_writer = os.pipe()
    go_reader, go_writer = os.pipe()
    told = (str(ready_writer), str(go_reader), str(place), json.dumps(commands))
    crowd = subprocess.Popen(
        [sys.executable, AT_THE_BARRIER, *told],
        cwd=desk.path,
        env=environment(),
        pass_fds=(ready_writer, go_reader),
        stdout=subprocess.PIPE,
    )
    os.close(ready_writer)
    os.close(go_reader)
    arrived = b""
    while piece := os.read(ready_reader, CROWD):
        arrived += piece
    os.close(ready_reader)
    os.close(go_writer)
    statuses = json.loads(crowd.communicate(timeout=TIMEOUT_SECONDS)[0])
    assert len(arrived) == len(statuses) == len(commands)
    return [
        Ran(status, *((place / f"{number}.{stream}").read_text() for stream in ("out", "err")))
        for number, status in enumerate(statuses)
    ]


def events(desk: Desk, workflow_id: str) -> Counter[str]:
    """How often each event stands in the workflow's timeline."""
    entries = desk.done("timeline", "--workflow", workflow_id)["entries"]
    return Counter(entry["what"] for entry in entries if entry["store"] == "journal")


@pytest.mark.parametrize("state", ["approved", "approved without a key", "running"])
def test_eight_resume_and_one_effect_is_acknowledged_once(worked: Worked, state: str) -> None:
    desk, workflow_id = worked(state)
    ran = all_at_once(desk, [("resume", "--workflow", workflow_id)] * CROWD)
    told = {(each.status, each.document.get("status")) for each in ran}
    assert told <= {(0, "completed"), (3, None), (6, None)}, ran
    assert (0, "completed") in told
    assert desk.show(workflow_id)["status"] == "completed"
    assert events(desk, workflow_id)["effect_acknowledged"] == 1
    assert desk.totals()["effects"] == 1
    assert sorted(desk.files()) == ["simulated-tool-ledger.sqlite3", JOURNAL]


def test_eight_resume_in_doubt_and_it_is_marked_unknown_once(desk: Desk) -> None:
    workflow_id = desk.crashed()
    ran = all_at_once(desk, [("resume", "--workflow", workflow_id)] * CROWD)
    assert {each.status for each in ran} == {4}
    assert sum("status" in each.document for each in ran) >= 1
    assert events(desk, workflow_id)["marked_unknown"] == 1
    assert desk.totals()["effects"] == 1


def test_eight_approve_and_the_first_approval_stands(worked: Worked) -> None:
    desk, workflow_id = worked("pending_approval")
    ran = all_at_once(
        desk,
        [
            ("approve", "--workflow", workflow_id, "--actor", f"actor-{number}")
            for number in range(CROWD)
        ],
    )
    assert Counter(each.status for each in ran) == {0: 1, 3: CROWD - 1}
    (winner,) = [number for number, each in enumerate(ran) if each.status == 0]
    approvals = desk.query(JOURNAL, "SELECT actor, voided FROM approvals")
    assert approvals == [(f"actor-{winner}", 0)]


def test_eight_reconcile_with_opposite_resolutions_and_the_first_stands(worked: Worked) -> None:
    desk, workflow_id = worked("unknown")
    resolutions = ["confirmed_applied", "confirmed_not_applied"] * (CROWD // 2)
    ran = all_at_once(
        desk,
        [
            (
                "reconcile", "--workflow", workflow_id, "--resolution", resolution,
                "--actor", f"actor-{number}",
            )
            for number, resolution in enumerate(resolutions)
        ],
    )  # fmt: skip
    assert Counter(each.status for each in ran) == {0: 1, 3: CROWD - 1}
    (winner,) = [number for number, each in enumerate(ran) if each.status == 0]
    decision = desk.show(workflow_id)["decision"]
    assert (decision["actor"], decision["resolution"]) == (f"actor-{winner}", resolutions[winner])
    assert desk.query(JOURNAL, "SELECT count(*) FROM reconciliations") == [(1,)]
    assert desk.totals()["effects"] == 1


def test_approving_and_cancelling_at_once_leaves_one_of_both_orders(worked: Worked) -> None:
    desk, workflow_id = worked("pending_approval")
    commands = [
        ("approve", "--workflow", workflow_id, "--actor", "alice"),
        ("cancel", "--workflow", workflow_id),
    ] * (CROWD // 2)
    ran = all_at_once(desk, commands)
    assert {each.status for each in ran} == {0, 3}
    assert desk.show(workflow_id)["status"] == "cancelled"
    assert events(desk, workflow_id)["cancelled"] == 1
    assert events(desk, workflow_id)["approved"] <= 1


def test_eight_create_in_an_empty_directory_and_share_the_stores(desk: Desk) -> None:
    (desk.path / "action.json").write_text("{}")
    ran = all_at_once(desk, [("create", "--action", "action.json")] * CROWD)
    assert [each.status for each in ran] == [0] * CROWD
    listed = desk.done("list")["workflows"]
    assert {each["id"] for each in listed} == {each.document["id"] for each in ran}
    assert len({each.document["ledger_id"] for each in ran}) == 1
