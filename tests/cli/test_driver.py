"""Whether a running workflow's driver lives is the kernel's word, and not the status's."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from resumeproof.runtime.lock import DriverLock
from tests.cli.conftest import Worked
from tests.cli.desk import JOURNAL, TIMEOUT_SECONDS, Desk, Ran

START = "2026-01-01T00:00:00.000000Z"


def told(desk: Desk, workflow_id: str) -> tuple[object, ...]:
    """What show, list and timeline say of the driver, as data and in words."""
    (listed,) = desk.done("list")["workflows"]
    words = ("--format", "text")
    pages = [
        desk.run("show", "--workflow", workflow_id, *words).stdout,
        desk.run("list", *words).stdout,
    ]
    return (
        desk.show(workflow_id)["driver"],
        listed["driver"],
        ["its driver is gone" in page for page in pages],
    )


def test_a_dead_driver_is_gone(worked: Worked) -> None:
    desk, workflow_id = worked("running")
    assert told(desk, workflow_id) == ({"alive": False}, {"alive": False}, [True, True])
    drawn = desk.run("timeline", "--workflow", workflow_id, "--format", "text").stdout
    assert "its driver died" in drawn


def test_a_strangers_lock_makes_no_driver_live(worked: Worked) -> None:
    desk, workflow_id = worked("running")
    with DriverLock(desk.path / JOURNAL, token="stranger", started_at=START).acquire(0):
        assert told(desk, workflow_id) == ({"alive": False}, {"alive": False}, [True, True])


def test_a_live_strangers_pid_in_the_lock_file_changes_nothing(worked: Worked) -> None:
    desk, workflow_id = worked("running")
    lock_file = desk.path / f"{JOURNAL}.lock"
    record = json.loads(lock_file.read_bytes()) | {"pid": os.getpid()}
    lock_file.write_bytes((b" " + json.dumps(record).encode()).ljust(511) + b"\n")
    assert told(desk, workflow_id) == ({"alive": False}, {"alive": False}, [True, True])
    assert desk.done("resume", "--workflow", workflow_id)["status"] == "completed"


@contextmanager
def stopped_after_the_claim(desk: Desk, workflow_id: str) -> Iterator[subprocess.Popen[bytes]]:
    """A driver that stands still, alive, just after its claim."""
    process = subprocess.Popen(
        [os.fspath(Path(__file__).parent / "children" / "stops.sh")],
    )
    yield process
