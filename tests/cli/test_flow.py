"""The road walked by hand, each command taking the id out of the JSON of the first."""

from __future__ import annotations

import os
from typing import Any

import pytest

from tests.cli.desk import CHARGE, Desk


def told(workflow: dict[str, Any], *names: str) -> tuple[Any, ...]:
    return tuple(workflow[name] for name in names)


def test_the_classic_flow(desk: Desk) -> None:
    created = desk.run("create", "--action", CHARGE, "--key", "order-1001-charge").document
    workflow_id = created["id"]
    approved = desk.run("approve", "--workflow", workflow_id, "--actor", "alice").document
    resumed = desk.run("resume", "--workflow", workflow_id).document
    timeline = desk.run("timeline", "--workflow", workflow_id, "--format", "text")

    assert told(created, "status", "mode", "key", "approved_digest", "attempts") == (
        "pending_approval",
        "idempotent",
        "order-1001-charge",
        None,
        0,
    )
    assert created["action"] == {
        "tool": "charge_card",
        "arguments": {"order": "order-1001", "amount_cents": 4200, "currency": "EUR"},
    }
    assert told(approved, "status", "approved_digest") == ("approved", created["action_digest"])
    assert told(resumed, "status", "attempts", "retries", "recoveries", "in_doubt") == (
        "completed",
        1,
        0,
        0,
        False,
    )
    assert told(resumed["receipt"], "key", "fingerprint", "replayed") == (
        "order-1001-charge",
        created["action_digest"],
        False,
    )
    assert (timeline.status, timeline.stderr) == (0, "")
    assert workflow_id in timeline.stdout
    assert sorted(desk.files()) == ["simulated-tool-ledger.sqlite3", "workflow-journal.sqlite3"]


@pytest.mark.parametrize("kill", ["exit86", "sigkill"])
def test_with_a_key_a_crash_after_the_effect_is_settled_by_a_replay(desk: Desk, kill: str) -> None:
    workflow_id = desk.crashed("--key", "k1", at="tool:after", kill=kill)
    resumed = desk.done("resume", "--workflow", workflow_id)
    again = [desk.done("resume", "--workflow", workflow_id) for _ in range(3)]

    assert told(resumed, "status", "attempts", "recoveries") == ("completed", 2, 1)
    assert told(resumed["receipt"], "attempt", "replayed") == (1, True)
    assert again == [resumed] * 3
    assert desk.totals() == {"effects": 1, "invocations": 2, "replays": 1, "second_effects": 0}


def test_without_key_and_lookup_it_is_unknown_until_somebody_decides(desk: Desk) -> None:
    workflow_id = desk.crashed()
    marked = desk.call("resume", "--workflow", workflow_id)
    refused = desk.call("resume", "--workflow", workflow_id)
    queue = desk.done("list", "--status", "unknown")["workflows"]
    decided = desk.done(
        "reconcile", "--workflow", workflow_id, "--resolution", "confirmed_applied",
        "--actor", "alice", "--note", "seen in the dashboard",
    )  # fmt: skip

    assert (marked.status, marked.document["status"], marked.document["reason"]) == (
        4,
        "unknown",
        "outcome_unknown",
    )
    assert refused.refusal == (4, "reconciliation_required", 1, True)
    assert [each["id"] for each in queue] == [workflow_id]
    assert told(decided["decision"], "resolution", "actor", "note") == (
        "confirmed_applied",
        "alice",
        "seen in the dashboard",
    )
    assert desk.done("resume", "--workflow", workflow_id) == decided
    assert desk.totals()["effects"] == 1


def test_failures_before_the_effect_are_tried_again(desk: Desk) -> None:
    workflow_id = desk.approved("--key", "k1", "--fail-before", "2", "--retry-base", "0")
    resumed = desk.done("resume", "--workflow", workflow_id)
    assert told(resumed, "status", "reason", "attempts", "retries", "recoveries") == (
        "completed",
        None,
        3,
        2,
        0,
    )


def test_replacing_the_action_voids_the_approval(desk: Desk) -> None:
    workflow_id = desk.approved("--key", "k1")
    other = desk.path / "other.json"
    other.write_text('{"tool": "charge_card", "arguments": {"amount_cents": 1}}')
    replaced = desk.done("replace-action", "--workflow", workflow_id, "--action", other)
    refused = desk.call("resume", "--workflow", workflow_id)

    assert told(replaced, "status", "approved_digest") == ("pending_approval", None)
    assert replaced["action"]["arguments"] == {"amount_cents": 1}
    assert refused.refusal == (3, "approval_required", 1, True)
    assert desk.totals()["invocations"] == 0


def test_an_action_is_read_from_standard_input(desk: Desk) -> None:
    created = desk.call("create", "--action", "-", stdin=b'{"amount": 1.0, "to": "bob"}')
    assert (created.status, created.document["action"]) == (
        0,
        {"tool": "simulated", "arguments": {"amount": 1, "to": "bob"}},
    )


def test_stores_are_named_by_options_and_by_the_environment(desk: Desk) -> None:
    named = {"RESUMEPROOF_JOURNAL": "j.sqlite3", "RESUMEPROOF_LEDGER": "l.sqlite3"}
    first = desk.run("create", "--action", CHARGE, env=named)
    second = desk.run(
        "create", "--action", CHARGE, "--journal", "k.sqlite3", "--ledger", "m.sqlite3", env=named
    )
    assert (first.status, second.status, sorted(desk.files())) == (
        0,
        0,
        ["j.sqlite3", "k.sqlite3", "l.sqlite3", "m.sqlite3"],
    )


def test_a_waiting_approval_is_found_by_list(desk: Desk) -> None:
    workflow_id = desk.create()
    waiting = desk.done("list", "--status", "pending_approval")["workflows"]
    assert [(each["id"], each["status"]) for each in waiting] == [(workflow_id, "pending_approval")]


def test_effects_of_one_workflow_and_of_one_that_is_not_there(desk: Desk) -> None:
    first, second = desk.completed("--key", "k1"), desk.completed("--key", "k2")
    held = desk.done("effects", "--workflow", second)
    lost = desk.call("effects", "--workflow", "wf_0123")
    assert [each["workflow_id"] for each in held["effects"]] == [second]
    assert [each["workflow_id"] for each in desk.done("effects")["effects"]] == [first, second]
    assert lost.refusal == (5, "workflow_not_found", 1, True)


def test_a_key_used_for_other_arguments_fails_and_an_expired_one_is_a_second_effect(
    desk: Desk,
) -> None:
    desk.completed("--key", "k1")
    other = desk.path / "other.json"
    other.write_text('{"tool": "charge_card", "arguments": {"amount_cents": 1}}')
    conflict = desk.approved("--key", "k1", action=other)
    expired = desk.approved("--key", "k1", "--key-lifetime", "1e-6", action=other)
    ran = [desk.call("resume", "--workflow", each) for each in (conflict, expired)]
    assert [(each.status, each.document["reason"]) for each in ran] == [
        (3, "key_conflict"),
        (0, None),
    ]
    assert desk.totals() == {"effects": 2, "invocations": 3, "replays": 0, "second_effects": 1}


@pytest.mark.parametrize(
    "name",
    [b"a b", b"100%25", b"what?mode=memory", b"a#b", b"line\nend", b"na\xc3\xafve", b"\xff"],
    ids=repr,
)
def test_stores_may_have_any_name(desk: Desk, name: bytes) -> None:
    stores = (b"--journal", name + b".journal", b"--ledger", name + b".ledger")
    created = desk.call("create", "--action", CHARGE, *stores)
    workflow_id = created.document["id"]
    ran = [
        desk.call("approve", "--workflow", workflow_id, "--actor", "alice", *stores),
        desk.call("resume", "--workflow", workflow_id, *stores),
        desk.call("timeline", "--workflow", workflow_id, *stores),
    ]
    assert [each.status for each in (created, *ran)] == [0] * 4
    assert sorted(os.fsencode(path.name) for path in desk.path.iterdir()) == [
        name + b".journal",
        name + b".ledger",
    ]
