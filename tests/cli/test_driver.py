"""Whether a running workflow's driver lives is the kernel's word, and not the status's."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from resumeproof.lab.life import LifeSpecification
from resumeproof.runtime.lock import DriverLock
from tests.cli.conftest import Worked
from tests.cli.desk import JOURNAL, LEDGER, TIMEOUT_SECONDS, Desk, environment

START = "2026-01-01T00:00:00.000000Z"


def told(desk: Desk, workflow_id: str) -> tuple[object, ...]:
    """What show, list and timeline say of the driver, as data and in words."""
    (listed,) = desk.run("list").document["workflows"]
    words = ("--format", "text")
    pages = [
        desk.run("show", "--workflow", workflow_id, *words).stdout,
        desk.run("list", *words).stdout,
    ]
    return (
        desk.run("show", "--workflow", workflow_id).document["driver"],
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
def standing_after_the_claim(desk: Desk, workflow_id: str) -> Iterator[subprocess.Popen[bytes]]:
    """A real driver that stands still just after its claim, alive and with the lock."""
    life = LifeSpecification(
        journal=str(desk.path / JOURNAL),
        ledger=str(desk.path / LEDGER),
        workflow_id=workflow_id,
        crash_point="claim:after",
        supervised=True,
    )
    with subprocess.Popen(
        [sys.executable, "-m", "resumeproof.lab.life", life.to_json()],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        try:
            assert process.stderr is not None
            assert b"claim:after" in process.stderr.readline()
            yield process
        finally:
            process.kill()


def test_a_live_driver_is_alive_until_it_is_killed(worked: Worked) -> None:
    desk, workflow_id = worked("approved")
    with standing_after_the_claim(desk, workflow_id) as process:
        alive = told(desk, workflow_id)
        busy = desk.run("resume", "--workflow", workflow_id, "--lock-timeout", "0")
        process.kill()
        process.wait(TIMEOUT_SECONDS)
    assert alive == ({"alive": True}, {"alive": True}, [False, False])
    assert busy.refusal == (6, "journal_busy", 1, True)
    assert f"pid {process.pid}" in busy.stderr
    assert told(desk, workflow_id) == ({"alive": False}, {"alive": False}, [True, True])
    assert desk.done("resume", "--workflow", workflow_id)["status"] == "completed"


def test_a_stopped_driver_keeps_everybody_waiting(worked: Worked) -> None:
    desk, workflow_id = worked("approved")
    with standing_after_the_claim(desk, workflow_id) as process:
        process.send_signal(signal.SIGSTOP)
        ran = [
            desk.run("resume", "--all", "--lock-timeout", "0"),
            desk.run("resume", "--workflow", workflow_id, "--lock-timeout", "0.2"),
        ]
    assert [each.refusal for each in ran] == [(6, "journal_busy", 1, True)] * 2
    assert desk.totals()["invocations"] == 0
