"""A command that is called in the tests' own process does what its process does."""

from __future__ import annotations

import pytest

from tests.cli.agents import lay_out
from tests.cli.conftest import Worked
from tests.cli.desk import CHARGE, LEDGER, Desk

STEPS: dict[str, tuple[str, tuple[str | bytes, ...], bytes]] = {
    "read": ("completed", ("show", "--workflow", "ID"), b""),
    "read by people": ("unknown", ("timeline", "--workflow", "ID", "--format", "text"), b""),
    "idle resume": ("completed", ("resume", "--workflow", "ID"), b""),
    "usage": ("approved", ("resume",), b""),
    "usage of bytes": ("approved", ("show", "--workflow", b"\xff"), b""),
    "plan": ("approved", ("resume", "--workflow", "ID", "--crash-at", "tool"), b""),
    "action": ("approved", ("create", "--action", "-"), b'{"a": "\xff"}'),
    "transition": ("approved", ("approve", "--workflow", "ID", "--actor", "bob"), b""),
    "in doubt": ("unknown", ("resume", "--workflow", "ID"), b""),
    "not there": ("approved", ("resume", "--all", "--journal", "mistyped"), b""),
    "not one file": ("approved", ("create", "--action", str(CHARGE), "--journal", LEDGER), b""),
}


@pytest.mark.parametrize(("state", "words", "stdin"), STEPS.values(), ids=STEPS)
def test_it_says_what_a_process_says(
    worked: Worked, state: str, words: tuple[str | bytes, ...], stdin: bytes
) -> None:
    desk, workflow_id = worked(state)
    before = desk.files()
    words = tuple(workflow_id if word == "ID" else word for word in words)
    assert desk.call(*words, stdin=stdin) == desk.run(*words, stdin=stdin)
    assert desk.files() == before


def test_it_goes_as_far_as_a_process_goes(worked: Worked) -> None:
    desk, workflow_id = worked("running")
    other = desk.copy_to(desk.path.parent / "other")
    words = ("resume", "--workflow", workflow_id)
    called, ran = desk.call(*words), other.run(*words)
    told = [
        (each.status, each.stderr, each.document["status"], each.document["attempts"])
        for each in (called, ran)
    ]
    assert told == [(0, "", "completed", 2)] * 2
    assert (sorted(desk.files()), desk.totals()) == (sorted(other.files()), other.totals())


PROOFS = {
    "found": ("agent:Broken", "--input", "one", "--input", "two", "--depth", "2"),
    "refused": ("agent.py:Failing", "--input", "one"),
    "not there": ("agent:nothing", "--input", "one"),
}


@pytest.mark.parametrize("words", PROOFS.values(), ids=PROOFS)
def test_it_proves_what_a_process_proves(words: tuple[str, ...], desk: Desk) -> None:
    lay_out(desk.path)
    assert desk.call("conform", *words) == desk.run("conform", *words)
