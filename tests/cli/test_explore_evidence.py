"""What an exploration leaves behind says no more than what was tried, and cannot be made to."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from typing import Any

import pytest

from tests.cli.desk import ROOT, Desk

EXAMPLES = ROOT / "examples" / "explore"
CHECK = f"{EXAMPLES / 'state_check.py'}:check"
UNSYNCED = (sys.executable, str(EXAMPLES / "replaced.py"))
SYNCED = (*UNSYNCED, "file", "directory")
QUESTION = ("--no-resume", "--check", CHECK, "--power-loss", "--report", "report")

pytestmark = pytest.mark.skipif(shutil.which("strace") is None, reason="strace looks on")


def receipt(desk: Desk) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((desk.path / "report" / "receipt.json").read_text())
    return document


def test_power_cuts_that_were_not_tried_leave_the_answer_open_everywhere(desk: Desk) -> None:
    told = desk.done("explore", *QUESTION, "--budget", "1", "--", *SYNCED)
    ways, untried = told["power"]["ways"], told["power"]["untried"]
    note = f"of {ways} ways to lose at a power cut {untried} were not tried"
    answers = receipt(desk)["proofs"][0]["exploration"]
    assert untried > 0
    assert (told["kill_safe"], told["power_safe"], told["not_covered"]) == (True, None, [note])
    assert (answers["power_safe"], answers["not_covered"]) == (None, [note])
    page = (desk.path / "report" / "report.html").read_text()
    assert "power-safe: not known" in page
    assert note in page


def test_power_cuts_that_were_all_tried_leave_nothing_open(desk: Desk) -> None:
    told = desk.done("explore", *QUESTION, "--", *SYNCED)
    assert (told["power"]["untried"], told["power_safe"], told["not_covered"]) == (0, True, [])


Edit = Callable[[dict[str, Any]], object]

EDITS: dict[str, tuple[Edit, str]] = {
    "power-safe": (
        lambda proof: proof["exploration"].update(power_safe=True),
        "proofs/0/exploration/power_safe",
    ),
    "not asked": (
        lambda proof: proof["exploration"].update(power_safe=None, device_model=None),
        "proofs/0/exploration/device_model",
    ),
    "not kill-safe": (
        lambda proof: proof["exploration"].update(kill_safe=False),
        "proofs/0/exploration/kill_safe",
    ),
    "another program": (
        lambda proof: proof["exploration"].update(command="true"),
        "proofs/0/exploration/command",
    ),
    "fewer calls": (lambda proof: proof.update(crash_points=1), "proofs/0/undisturbed"),
    "a kill for a power cut": (
        lambda proof: proof["scenarios"][-1].update(kill="sigkill"),
        "proofs/0/scenarios/",
    ),
    "nothing lost": (
        lambda proof: proof["scenarios"][-1].update(note=None),
        "proofs/0/scenarios/",
    ),
}


@pytest.fixture
def failed(desk: Desk) -> Desk:
    ran = desk.call("explore", *QUESTION, "--", *UNSYNCED)
    assert (ran.status, ran.document["power_safe"]) == (1, False)
    return desk


def test_answers_that_were_edited_contradict_the_scenarios(failed: Desk) -> None:
    whole = receipt(failed)
    found = {}
    for name, (edit, _) in EDITS.items():
        edited = json.loads(json.dumps(whole))
        edit(edited["proofs"][0])
        (failed.path / "report" / "receipt.json").write_text(json.dumps(edited))
        ran = failed.run("verify", "report")
        found[name] = (ran.status, ran.document.get("error", {}).get("what", ""))
    for name, (_, place) in EDITS.items():
        status, what = found[name]
        assert (status, what.startswith(place)) == (7, True), (name, found)


@pytest.mark.parametrize(
    ("plan", "reason"),
    [
        ("baseline", "it names no crash"),
        ("call:after#1;call:after#1", "there is no resume that could crash"),
        ("call:after#99", "the program comes to no such state"),
        ("call:after#1;power.l1:after#1", "there is no resume that could crash"),
    ],
)
def test_a_plan_that_names_no_state_is_refused(desk: Desk, plan: str, reason: str) -> None:
    given = ("--no-resume", "--check", CHECK, "--plan", plan)
    ran = desk.call("explore", *given, "--", *UNSYNCED)
    assert ran.refusal == (2, "plan_refused", 1, True)
    assert ran.document["error"]["reason"] == reason
