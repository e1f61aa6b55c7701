"""A driver that stalls keeps its lock; one that loses it all the same can no longer do harm."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pytest

from resumeproof.crash.kill import Kill
from resumeproof.crash.plan import CrashPoint
from resumeproof.lab.subject import JOURNAL_NAME, LEDGER_NAME, LabSubject, Times
from resumeproof.proof.subject import Death
from resumeproof.runtime.lock import lock_path
from tests.cli.desk import Desk
from tests.crash.scenarios import lab_subject

STOPS = Path(__file__).parent / "children" / "stops.py"
REAL_TIME = Times(None)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="stopping is POSIX's")


@dataclass(frozen=True)
class Stalled:
    """A driver that was stopped where a crash point says, with the lock in its hand."""

    process: subprocess.Popen[str]

    def go_on(self) -> tuple[int, str]:
        """Let it continue to its end; return its exit status and what it was refused with."""
        self.process.send_signal(signal.SIGCONT)
        told, _ = self.process.communicate(timeout=60)
        return self.process.returncode, str(json.loads(told)["error"])


@contextmanager
def stalled(subject: LabSubject, directory: Path, boundary: str) -> Iterator[Stalled]:
    death = Death(CrashPoint(boundary), Kill.SIGKILL, supervised=False)
    specification = subject.argv(directory, 1, death)[-1]
    process = subprocess.Popen(
        [sys.executable, STOPS, specification],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        _, status = os.waitpid(process.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status), process.communicate()
        yield Stalled(process)
    finally:
        process.kill()
        process.communicate()


class Ended(NamedTuple):
    """What became of a workflow whose driver was overtaken."""

    heir_status: int
    late: tuple[int, str]
    status: str
    effects: int
    invocations: int
    attempts: int
    acknowledgements: int


COMPLETED, UNKNOWN = "completed", "unknown"
OVERTAKEN = {
    # The late call is answered with the heir's receipt, and nobody wants to know of it.
    "idempotent-tool:before": Ended(0, (3, "conflict"), COMPLETED, 1, 2, 2, 1),
    "idempotent-tool:after": Ended(0, (3, "conflict"), COMPLETED, 1, 2, 2, 1),
    # The heir asked first, and took its own number as a fence against the late call.
    "consistent-tool:before": Ended(0, (3, "attempt_superseded"), COMPLETED, 1, 2, 3, 1),
    "consistent-tool:after": Ended(0, (3, "conflict"), COMPLETED, 1, 1, 2, 1),
    # Nothing can refuse the late call; that it might still come is why nobody was told "no".
    "none-tool:before": Ended(4, (3, "conflict"), UNKNOWN, 1, 1, 1, 0),
    "none-tool:after": Ended(4, (3, "conflict"), UNKNOWN, 1, 1, 1, 0),
}


@pytest.mark.parametrize(("case", "ended"), OVERTAKEN.items(), ids=OVERTAKEN)
def test_a_driver_that_was_overtaken_changes_nothing(
    case: str, ended: Ended, directory: Path
) -> None:
    contract, boundary = case.split("-")
    subject, desk = lab_subject(contract, REAL_TIME), Desk(directory)
    subject.open(directory)
    with stalled(subject, directory, boundary) as driver:
        lock_path(directory / JOURNAL_NAME).unlink()
        heir = desk.run("resume", "--workflow", subject.workflow_id)
        late = driver.go_on()
    found = subject.observe(directory)
    assert ended == Ended(
        heir.status,
        late,
        found.status,
        found.effects,
        found.invocations,
        found.attempts,
        found.acknowledgements,
    )
    assert sorted(desk.files()) == sorted((JOURNAL_NAME, LEDGER_NAME))


def test_a_stopped_driver_keeps_its_lock_and_others_are_told(directory: Path) -> None:
    subject, desk = lab_subject("idempotent", REAL_TIME), Desk(directory)
    subject.open(directory)
    with stalled(subject, directory, "tool:after") as driver:
        before = subject.observe(directory)
        ran = desk.run("resume", "--workflow", subject.workflow_id, "--lock-timeout", "0")
        told = (ran.status, ran.document["error"]["code"], str(driver.process.pid) in ran.stderr)
        assert (told, subject.observe(directory)) == ((6, "journal_busy", True), before)
