"""Every exit status of docs/cli.md is reached, by the real command."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from resumeproof.errors import Exit
from resumeproof.runtime.lock import DriverLock
from tests.cli.conftest import Worked
from tests.cli.desk import CHARGE, COMMAND, JOURNAL, Desk, environment

START = "2026-01-01T00:00:00.000000Z"


def held(desk: Desk) -> DriverLock:
    """The driver lock of a desk's journal, held by this process."""
    return DriverLock(desk.path / JOURNAL, token="stranger", started_at=START).acquire(0)


def done(worked: Worked) -> int:
    desk, workflow_id = worked("approved")
    return desk.run("resume", "--workflow", workflow_id).status


def crash_that_never_fired(worked: Worked) -> int:
    desk, workflow_id = worked("approved")
    return desk.run("resume", "--workflow", workflow_id, "--crash-at", "tool:after#9").status


def usage(worked: Worked) -> int:
    desk, _ = worked("approved")
    return desk.run("resume").status


def refused(worked: Worked) -> int:
    desk, workflow_id = worked("pending_approval")
    return desk.run("resume", "--workflow", workflow_id).status


def in_doubt(worked: Worked) -> int:
    desk, workflow_id = worked("unknown")
    return desk.run("resume", "--workflow", workflow_id).status


def not_found(worked: Worked) -> int:
    desk, _ = worked("approved")
    return desk.run("show", "--workflow", "wf_0123").status


def busy(worked: Worked) -> int:
    desk, workflow_id = worked("approved")
    with held(desk):
        return desk.run("resume", "--workflow", workflow_id, "--lock-timeout", "0").status


def damaged(worked: Worked) -> int:
    desk, workflow_id = worked("completed")
    desk.sql(JOURNAL, "DELETE FROM timeline WHERE sequence = 5")
    return desk.run("show", "--workflow", workflow_id).status


def crashed(worked: Worked) -> int:
    desk, workflow_id = worked("approved")
    return desk.run("resume", "--workflow", workflow_id, "--crash-at", "claim:before").status


REACHED: dict[Exit, Callable[[Worked], int]] = {
    Exit.DONE: done,
    Exit.FINDINGS: crash_that_never_fired,
    Exit.USAGE: usage,
    Exit.REFUSED: refused,
    Exit.IN_DOUBT: in_doubt,
    Exit.NOT_FOUND: not_found,
    Exit.BUSY: busy,
    Exit.DAMAGED: damaged,
    Exit.CRASHED: crashed,
}


@pytest.mark.parametrize("status", REACHED, ids=lambda status: str(int(status)))
def test_it_is_reached(status: Exit, worked: Worked) -> None:
    assert REACHED[status](worked) == status


def test_only_interrupted_is_reached_elsewhere() -> None:
    assert set(Exit) - set(REACHED) == {Exit.INTERRUPTED}


def interrupted(desk: Desk, *words: str) -> tuple[int, bytes, bytes]:
    """Interrupt `create` while it waits for its action."""
    pipe = desk.path / "action"
    os.mkfifo(pipe)
    process = subprocess.Popen(
        [*COMMAND, "create", "--action", pipe, *words],
        cwd=desk.path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # Whoever started the tests in the background had interrupts ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    writer = os.open(pipe, os.O_WRONLY)  # Returns once the command has opened it to read.
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=30)
    os.close(writer)
    pipe.unlink()
    return process.returncode, stdout, stderr


def test_an_interrupt_is_one_line_and_130(desk: Desk) -> None:
    assert interrupted(desk, "--format", "text") == (130, b"", b"resumeproof: error: interrupted\n")
    assert desk.files() == {}


# -- what `resume` says of a workflow that goes no further ------------------------------------


def test_resume_of_what_ended_prints_its_result(worked: Worked) -> None:
    desk, workflow_id = worked("completed")
    before = desk.files()
    ran = desk.call("resume", "--workflow", workflow_id)
    assert (ran.status, ran.document["status"], ran.stderr) == (0, "completed", "")
    assert desk.files() == before


@pytest.mark.parametrize(
    ("resolution", "status", "told"),
    [
        ("confirmed_applied", 0, "reconciled_applied"),
        ("confirmed_not_applied", 3, "reconciled_not_applied"),
    ],
    ids=["applied", "not applied"],
)
def test_resume_of_what_was_reconciled(
    worked: Worked, resolution: str, status: int, told: str
) -> None:
    desk, workflow_id = worked("unknown")
    desk.done(
        "reconcile", "--workflow", workflow_id, "--resolution", resolution, "--actor", "alice"
    )
    ran = desk.call("resume", "--workflow", workflow_id)
    assert (ran.status, ran.document["status"]) == (status, told)


def test_resume_of_what_was_cancelled(worked: Worked) -> None:
    desk, workflow_id = worked("approved")
    assert desk.done("cancel", "--workflow", workflow_id)["status"] == "cancelled"
    ran = desk.call("resume", "--workflow", workflow_id)
    assert (ran.status, ran.document["status"]) == (3, "cancelled")


def test_resume_of_what_failed(desk: Desk) -> None:
    words = ("--fail-before", "2", "--max-retries", "2", "--retry-base", "0")
    workflow_id = desk.approved(*words)
    ran = [desk.call("resume", "--workflow", workflow_id) for _ in range(2)]
    assert [(each.status, each.document["status"]) for each in ran] == [(3, "failed")] * 2
    assert ran[0].document == ran[1].document


def test_resume_before_the_wait_is_over(desk: Desk) -> None:
    # Full jitter may draw next to nothing once, but not three times in a row.
    words = ("--fail-before", "3", "--max-retries", "9", "--retry-base", "60")
    workflow_id = desk.approved(*words)
    first = desk.call("resume", "--workflow", workflow_id)
    assert first.refusal == (6, "not_yet", 1, True)
    assert first.document["error"]["until"] == desk.show(workflow_id)["retry_at"]


def test_a_planned_crash_that_never_fired_is_said(worked: Worked) -> None:
    desk, workflow_id = worked("approved")
    ran = desk.run("resume", "--workflow", workflow_id, "--crash-at", "tool:after#9")
    assert (ran.status, ran.document["status"], ran.stderr) == (
        1,
        "completed",
        "resumeproof: the crash point tool:after#9 was never reached: nothing was killed\n",
    )


def test_a_planned_crash_that_never_fired_does_not_hide_a_refusal(worked: Worked) -> None:
    desk, workflow_id = worked("pending_approval")
    ran = desk.run("resume", "--workflow", workflow_id, "--crash-at", "tool:after")
    assert (ran.status, "never reached" in ran.stderr, ran.document["error"]["code"]) == (
        3,
        True,
        "approval_required",
    )


# -- resume --all ------------------------------------------------------------------------------


def test_resume_all_reports_each_and_exits_with_the_highest(desk: Desk) -> None:
    unknown = desk.unknown()
    completed = desk.completed("--key", "k1")
    pending = desk.create()
    approved = desk.approved("--key", "k2")
    ran = desk.call("resume", "--all")
    told = {each["id"]: (each["exit"], each["status"]) for each in ran.document["workflows"]}
    assert (ran.status, ran.document["exit"], told) == (
        4,
        4,
        {pending: (3, None), approved: (0, "completed"), unknown: (4, None)},
    )
    assert completed not in told


def test_resume_all_behind_a_lock_is_busy_and_a_later_one_finishes_all(desk: Desk) -> None:
    workflow_ids = {desk.approved("--key", f"k{number}") for number in range(3)}
    before = desk.files()
    with held(desk):
        ran = desk.run("resume", "--all", "--lock-timeout", "0")
    assert ran.refusal == (6, "journal_busy", 1, True)
    assert desk.files() == before

    later = desk.done("resume", "--all")
    assert {each["id"] for each in later["workflows"]} == workflow_ids
    assert desk.totals() == {"effects": 3, "invocations": 3, "replays": 0, "second_effects": 0}


def test_resume_all_of_nothing_is_done(worked: Worked) -> None:
    desk, _ = worked("completed")
    assert desk.done("resume", "--all") == {"workflows": [], "exit": 0}


# -- an exception that nobody foresaw ----------------------------------------------------------


def test_a_bug_is_one_line_and_70(desk: Desk) -> None:
    (desk.path / "sitecustomize.py").write_text(
        "import resumeproof.evidence.workflow as module\n"
        "def broken(*_, **__): raise RuntimeError('two\\nlines')\n"
        "module.workflow_json = broken\n"
    )
    ran = desk.run("create", "--action", CHARGE, env={"PYTHONPATH": str(desk.path)})
    assert ran.refusal == (70, "bug", 1, True)
    assert "RuntimeError: two\\u000alines" in ran.stderr


def test_a_bug_shows_its_traceback_to_who_asks(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import resumeproof.evidence.workflow as module\nmodule.workflow_json = None\n"
    )
    steered = {"PYTHONPATH": str(tmp_path), "RESUMEPROOF_TRACEBACK": "1"}
    ran = desk.run("create", "--action", CHARGE, env=steered)
    assert (ran.status, ran.stderr.splitlines()[0]) == (70, "Traceback (most recent call last):")
