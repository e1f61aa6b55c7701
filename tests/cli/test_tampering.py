"""What somebody changed by hand is noticed: nothing is called, and nothing is written."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Worked
from tests.cli.desk import JOURNAL, Desk
from tests.cli.test_refusals import approve, every_command

OTHER_ACTION = (
    """{"arguments":{"amount_cents":9999999,"order":"order-1001"},"tool":"charge_card"}"""
)


EDITS = {
    "the bytes": f"UPDATE workflows SET action = '{OTHER_ACTION}'",
    "the digest": "UPDATE workflows SET action_digest = printf('%064d', 0)",
    "no JSON": "UPDATE workflows SET action = 'nonsense'",
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_an_action_edited_after_its_approval_is_not_called(worked: Worked, edit: str) -> None:
    desk, workflow_id = worked("approved")
    desk.sql(JOURNAL, edit)
    before = desk.files()
    ran = [
        desk.call("resume", "--workflow", workflow_id),
        desk.run("resume", "--workflow", workflow_id, "--crash-at", "claim:before"),
    ]
    assert [(each.status, each.document["error"]["code"]) for each in ran] == [
        (3, "approval_mismatch")
    ] * 2
    assert desk.files() == before
    assert desk.totals()["invocations"] == 0


def test_an_action_edited_before_its_approval_is_not_approved(worked: Worked) -> None:
    desk, workflow_id = worked("pending_approval")
    desk.sql(JOURNAL, EDITS["the bytes"])
    ran = desk.call(*approve(workflow_id))
    assert ran.refusal == (3, "approval_mismatch", 1, True)


def test_an_edited_action_is_shown_as_what_it_is(worked: Worked) -> None:
    desk, workflow_id = worked("approved")
    desk.sql(JOURNAL, EDITS["the bytes"])
    workflow = desk.show(workflow_id)
    text = desk.call("show", "--workflow", workflow_id, "--format", "text").stdout
    assert workflow["action"]["arguments"]["amount_cents"] == 9999999
    assert workflow["found_digest"] != workflow["action_digest"] == workflow["approved_digest"]
    assert f"CHANGED BY HAND: the stored bytes are {workflow['found_digest']}" in text


def test_an_action_edited_while_in_doubt_ends_unknown(worked: Worked) -> None:
    desk, workflow_id = worked("running")
    assert desk.call("show", "--workflow", workflow_id).status == 0
    desk.sql(JOURNAL, EDITS["the bytes"])
    ran = desk.call("resume", "--workflow", workflow_id)
    assert (ran.status, ran.document["status"], ran.document["reason"]) == (
        4,
        "unknown",
        "approval_unverifiable",
    )
    assert desk.totals()["invocations"] == 1


DAMAGES = {
    "a changed record": "UPDATE timeline SET facts = replace(facts, 'alice', 'mallory')",
    "a changed time": "UPDATE timeline SET at = '2020-01-01T00:00:00.000000Z' WHERE sequence = 1",
    "a cut tail": "DELETE FROM timeline WHERE sequence = (SELECT max(sequence) FROM timeline)",
    "a lost timeline": "DELETE FROM timeline",
    "a status by hand": "UPDATE workflows SET status = 'failed'",
    "a status undone": "UPDATE workflows SET status = 'pending_approval', revision = 1",
    "a counter by hand": "UPDATE workflows SET attempts = attempts + 1",
    "a retry cap by hand": "UPDATE workflows SET max_retries = 99",
}


@pytest.mark.parametrize("state", ["running", "completed"])
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_workflow_is_refused_and_left_alone(
    worked: Worked, damage: str, state: str
) -> None:
    desk, workflow_id = worked(state)
    desk.sql(JOURNAL, damage)
    before = desk.files()
    ran = [
        desk.call("resume", "--workflow", workflow_id),
        desk.call("show", "--workflow", workflow_id),
    ]
    assert [each.refusal for each in ran] == [(7, "journal_damaged", 1, True)] * 2
    assert desk.files() == before


def test_every_command_of_one_workflow_refuses_a_damaged_one(worked: Worked) -> None:
    desk, workflow_id = worked("approved")
    desk.sql(JOURNAL, DAMAGES["a changed record"])
    before = desk.files()
    commands = [words for words in every_command(workflow_id) if workflow_id in words]
    ran = {command[0]: desk.call(*command).refusal for command in commands}
    assert ran == {command[0]: (7, "journal_damaged", 1, True) for command in commands}
    assert len(ran) == 7
    assert desk.files() == before


def test_a_damaged_workflow_does_not_stop_resume_all(desk: Desk) -> None:
    damaged, healthy = desk.approved("--key", "k1"), desk.approved("--key", "k2")
    desk.sql(
        JOURNAL,
        f"UPDATE timeline SET at = '2020-01-01T00:00:00.000000Z' WHERE workflow_id = '{damaged}'",
    )
    ran = desk.call("resume", "--all")
    told = {each["id"]: (each["exit"], each["status"]) for each in ran.document["workflows"]}
    assert (ran.status, told) == (7, {damaged: (7, None), healthy: (0, "completed")})
