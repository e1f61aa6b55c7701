"""A disk that is full between effect and acknowledgement."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from resumeproof.runtime.health import read_counts
from tests.cli.desk import COMMAND, JOURNAL, TIMEOUT_SECONDS, Desk, environment

ACTION_BYTES = 1_000_000
"""So large that a commit of the workflow's row, which frees its old pages and fills new ones, takes
twice as much of the journal's -wal."""

ONE_COMMIT_AND_A_HALF = ACTION_BYTES * 3


def large_and_approved(desk: Desk, *words: str) -> str:
    action = desk.path / "action.json"
    action.write_text('{"text": "' + "x" * ACTION_BYTES + '"}')
    workflow_id = desk.approved("--key", "k1", *words, action=action)
    action.unlink()
    return workflow_id


def settled(desk: Desk, workflow_id: str, *words: str) -> tuple[object, ...]:
    """What the next resume, with room enough, comes to."""
    resumed = desk.done("resume", "--workflow", workflow_id, *words)
    return (
        resumed["status"], resumed["receipt"]["replayed"], resumed["attempts"],
        resumed["recoveries"],
    )  # fmt: skip


def with_no_file_larger_than(
    size_bytes: int, desk: Desk, *words: str
) -> subprocess.CompletedProcess[str]:
    """Run a command none of whose files may grow beyond `size_bytes` (setrlimit(2): EFBIG)."""
    return subprocess.run(
        [*COMMAND, *words],
        cwd=desk.path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, size_bytes)),
    )


def test_a_decision_that_cannot_be_written_is_counted(desk: Desk) -> None:
    workflow_id = large_and_approved(desk)
    ran = with_no_file_larger_than(ACTION_BYTES, desk, "cancel", "--workflow", workflow_id)
    assert (ran.returncode, '"store_unavailable"' in ran.stdout, "Traceback" in ran.stderr) == (
        7, True, False,
    )  # fmt: skip
    assert read_counts(desk.path / JOURNAL) == {"terminal_append_failed": 1}
    assert desk.done("health") == {
        "journal": JOURNAL,
        "counters": {
            "terminal_append_failed": 1,
            "outcome_commit_failed": 0,
            "cut_off": 0,
            "unreadable": 0,
        },
    }
    assert desk.show(workflow_id)["status"] == "approved"
    assert desk.done("cancel", "--workflow", workflow_id)["status"] == "cancelled"


def test_a_file_that_may_not_grow_at_the_acknowledgement(desk: Desk) -> None:
    workflow_id = large_and_approved(desk)
    words = ("resume", "--workflow", workflow_id)
    ran = with_no_file_larger_than(ONE_COMMIT_AND_A_HALF, desk, *words)
    workflow = desk.show(workflow_id)
    assert (ran.returncode, '"store_unavailable"' in ran.stdout, "Traceback" in ran.stderr) == (
        7, True, False,
    )  # fmt: skip
    assert (workflow["status"], workflow["in_doubt"], workflow["driver"]) == (
        "running", True, {"alive": False},
    )  # fmt: skip
    assert desk.totals()["effects"] == 1
    assert read_counts(desk.path / JOURNAL) == {
        "outcome_commit_failed": 1,
        "terminal_append_failed": 1,
    }
    assert settled(desk, workflow_id) == ("completed", True, 2, 1)
    assert desk.totals()["effects"] == 1


@pytest.mark.parametrize("room_bytes", [0, 100], ids=["none", "for a part"])
def test_a_lock_file_that_cannot_be_signed_is_not_left(room_bytes: int, desk: Desk) -> None:
    workflow_id = desk.approved("--key", "k1")
    before = desk.files()
    ran = with_no_file_larger_than(room_bytes, desk, "resume", "--workflow", workflow_id)
    assert (ran.returncode, '"lock file"' in ran.stdout, "Traceback" in ran.stderr) == (
        7, True, False,
    )  # fmt: skip
    assert desk.files() == before
    assert desk.done("resume", "--workflow", workflow_id)["status"] == "completed"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own that can be made as small as a test wants it."""
    place = tmp_path / "disk"
    place.mkdir()
    if sys.platform != "linux" or os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("mounting a file system takes root on Linux")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64m", "resumeproof-test", place], capture_output=True
    )
    if mounted.returncode != 0:
        pytest.skip(f"no file system may be mounted here: {mounted.stderr.decode().strip()}")
    yield place
    subprocess.run(["umount", place], check=True)


def resize(disk: Path, size_bytes: int) -> None:
    subprocess.run(["mount", "-o", f"remount,size={size_bytes}", disk], check=True)


def used_bytes(disk: Path) -> int:
    status = os.statvfs(disk)
    return (status.f_blocks - status.f_bfree) * status.f_frsize


def test_a_disk_that_is_full_at_the_acknowledgement(desk: Desk, small_disk: Path) -> None:
    journal = ("--journal", str(small_disk / JOURNAL))
    action = desk.path / "action.json"
    action.write_text('{"text": "' + "x" * ACTION_BYTES + '"}')
    workflow_id = str(desk.done("create", "--key", "k1", "--action", action, *journal)["id"])
    desk.done("approve", "--workflow", workflow_id, "--actor", "alice", *journal)

    resize(small_disk, used_bytes(small_disk) + ONE_COMMIT_AND_A_HALF)
    ran = desk.run("resume", "--workflow", workflow_id, *journal)
    resize(small_disk, 64 << 20)
    workflow = desk.done("show", "--workflow", workflow_id, *journal)
    assert (ran.status, ran.document["error"]["code"], "Traceback" in ran.stderr) == (
        7, "store_unavailable", False,
    )  # fmt: skip
    assert (workflow["status"], workflow["in_doubt"]) == ("running", True)
    assert desk.totals()["effects"] == 1
    assert settled(desk, workflow_id, *journal) == ("completed", True, 2, 1)
    assert desk.totals()["effects"] == 1


def test_a_full_disk_at_create_leaves_nothing(desk: Desk, small_disk: Path) -> None:
    resize(small_disk, 16 << 10)
    stores = ("--journal", str(small_disk / JOURNAL), "--ledger", str(small_disk / "ledger"))
    ran = desk.run("create", "--action", "-", *stores, stdin=b"{}")
    assert ran.refusal == (7, "store_unavailable", 1, True)
    assert list(small_disk.iterdir()) == []
