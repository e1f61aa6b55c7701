"""`demo` and `verify`, as somebody runs them who has just cloned the repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.desk import JOURNAL, LEDGER, Desk, Ran

FILES = ["receipt.json", "report.html", LEDGER, "timeline.txt", JOURNAL]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Desk, Ran]:
    """A demo with its default directory."""
    desk = Desk(tmp_path_factory.mktemp("demo"))
    return desk, desk.run("demo")


@pytest.fixture
def evidence(demo: tuple[Desk, Ran], desk: Desk) -> Desk:
    """A copy of the demo's directory, in `evidence`."""
    shutil.copytree(demo[0].path / "resumeproof-demo", desk.path / "evidence")
    return desk


def test_the_demo_ends_with_every_fact_as_it_should_be(demo: tuple[Desk, Ran]) -> None:
    desk, ran = demo
    document = ran.document
    assert (ran.status, document["held"], document["totals"]) == (
        0, True, {"effects": 2, "replays": 1, "unknown": 1},
    )  # fmt: skip
    assert all(fact["holds"] for fact in document["facts"])
    assert [each["child_exit"]["text"] for each in document["scenarios"]] == ["exit 86"] * 2
    assert document["directory"] == "resumeproof-demo"
    assert sorted(path.name for path in (desk.path / "resumeproof-demo").iterdir()) == FILES


def test_the_demo_by_sigkill_in_a_directory_of_its_own_and_as_a_picture(desk: Desk) -> None:
    words = ("demo", "--kill", "sigkill", "--output-dir", "mine", "--format", "text")
    ran = desk.run(*words)
    assert ran.status == 0
    assert ran.stdout.count("✖ SIGKILL at tool:after#1 ") == 2
    assert (desk.path / "mine" / "timeline.txt").read_text() in ran.stdout
    assert "verify" in ran.stdout.rpartition("life 2")[2]
    assert desk.done("verify", "mine")["verified"] is True


def test_the_steps_that_a_demo_ends_with_work_where_its_command_is_not_on_the_path(
    desk: Desk,
) -> None:
    installed = Path(sys.executable).parent / "resumeproof"
    bare = {**os.environ, "PATH": os.defpath}
    words = [str(installed), "demo", "--format", "text"]
    ran = subprocess.run(words, cwd=desk.path, env=bare, capture_output=True, text=True)
    steps = [line.strip() for line in ran.stdout.partition("Go on by hand:")[2].splitlines()]
    assert max(map(len, steps)) <= max(120, len(steps[2])), steps
    script = "set -e\n" + "\n".join(step for step in steps if not step.startswith("sqlite3 "))
    went_on = subprocess.run(
        ["sh", "-c", script], cwd=desk.path, env=bare, capture_output=True, text=True
    )
    assert (went_on.returncode, went_on.stderr) == (0, "")
    assert '"resolution": "confirmed_applied"' in went_on.stdout


def test_a_second_demo_takes_the_next_free_directory(desk: Desk) -> None:
    (desk.path / "resumeproof-demo").mkdir()
    (desk.path / "resumeproof-demo" / "mine.txt").write_text("mine")
    (desk.path / "resumeproof-demo-2").write_text("a file")
    ran = desk.run("demo", "--crash-at", "ack:after")
    assert (ran.status, ran.document["directory"]) == (0, "resumeproof-demo-3")


def test_a_directory_that_is_not_empty_is_refused(desk: Desk) -> None:
    (desk.path / "mine").mkdir()
    (desk.path / "mine" / "notes.txt").write_text("mine")
    before = desk.files()
    ran = desk.run("demo", "--output-dir", "mine")
    assert ran.refusal == (2, "output_not_empty", 1, True)
    assert desk.files() == before


def test_a_point_that_could_never_be_reached_is_refused_before_anything_is_made(
    desk: Desk,
) -> None:
    ran = desk.run("demo", "--crash-at", "tool:during")
    assert ran.refusal == (2, "plan_refused", 1, True)
    assert list(desk.path.iterdir()) == []


def test_a_demo_whose_kill_did_not_fire_exits_1_and_says_so(desk: Desk) -> None:
    ran = desk.run("demo", "--crash-at", "tool:after#9")
    assert (ran.status, ran.document["held"]) == (1, False)
    assert "NOT SO  idempotent: the kill" in ran.stderr


def test_evidence_verifies_by_its_directory_and_by_its_file(evidence: Desk) -> None:
    before = evidence.files()
    ran = [evidence.done("verify", path) for path in ("evidence", "evidence/receipt.json")]
    assert [(each["verified"], each["extended"]) for each in ran] == [(True, [])] * 2
    assert evidence.files() == before


def test_evidence_that_somebody_went_on_with_still_holds(evidence: Desk) -> None:
    words = ("--journal", f"evidence/{JOURNAL}", "--ledger", f"evidence/{LEDGER}")
    (waiting,) = evidence.done("list", "--status", "unknown", *words)["workflows"]
    evidence.done(
        "reconcile", "--workflow", waiting["id"], "--resolution", "confirmed_applied",
        "--actor", "alice", *words,
    )  # fmt: skip
    ran = evidence.call("verify", "evidence", "--format", "text")
    assert (ran.status, ran.stderr) == (0, "")
    assert "extended since it was written" in ran.stdout


CHANGES = {
    "an effect": (LEDGER, "UPDATE effects SET applied_at = '2020-01-01T00:00:00.000000Z'"),
    "a lost effect": (
        LEDGER, "DELETE FROM invocations WHERE effect_sequence = 2",
        "DELETE FROM effects WHERE sequence = 2",
    ),
    "a record": (JOURNAL, "UPDATE timeline SET at = '2020-01-01T00:00:00.000000Z'"),
    "a status": (JOURNAL, "UPDATE workflows SET status = 'completed'"),
    "an action": (JOURNAL, "UPDATE workflows SET action = '{}'"),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_changed_evidence_is_named_with_7(evidence: Desk, change: tuple[str, ...]) -> None:
    store, *statements = change
    Desk(evidence.path / "evidence").sql(store, *statements)
    before = evidence.files()
    ran = evidence.call("verify", "evidence")
    assert (ran.status, len(ran.stderr.splitlines()), "error" in ran.document) == (7, 1, True)
    assert evidence.files() == before


def broken_text(text: bytes) -> bytes:
    return text.replace(b'"effects": 2', b'"effects": 3')


RECEIPTS = {
    "empty": lambda text: b"",
    "truncated": lambda text: text[: len(text) // 2],
    "nothing but NUL": lambda text: b"\0" * len(text),
    "another shape": lambda text: b"[]",
    "a changed total": broken_text,
}


@pytest.mark.parametrize("change", RECEIPTS.values(), ids=RECEIPTS)
def test_a_changed_receipt_file_is_named_with_7(evidence: Desk, change: object) -> None:
    assert callable(change)
    path = evidence.path / "evidence" / "receipt.json"
    path.write_bytes(change(path.read_bytes()))
    assert evidence.call("verify", "evidence").refusal == (7, "evidence_broken", 1, True)


@pytest.mark.parametrize("missing", ["receipt.json", JOURNAL, LEDGER])
def test_evidence_that_is_not_there(evidence: Desk, missing: str) -> None:
    (evidence.path / "evidence" / missing).unlink()
    assert evidence.call("verify", "evidence").refusal == (5, "store_not_found", 1, True)


def test_a_path_that_is_not_there(desk: Desk) -> None:
    assert desk.call("verify", "nowhere").refusal == (5, "store_not_found", 1, True)
