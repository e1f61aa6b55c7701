"""Subjects that harm whoever proves them: each proof ends, tells why, and leaves nothing behind."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from resumeproof import Context, conform
from resumeproof.errors import ResumeproofError
from resumeproof.lab.catalogue.booking import Booking

pytestmark = pytest.mark.crash

TIMEOUT_SECONDS = 3.0
CHUNK = b"x" * (1 << 20)
GIGABYTE_CHUNKS = 1 << 10


class Hangs(Booking):
    def book(self, job: str) -> None:
        while True:
            time.sleep(1)


class HangsUnkillably(Booking):
    """Ignores every signal that can be ignored."""

    def book(self, job: str) -> None:
        for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_IGN)
        while True:
            time.sleep(1)


class ForksDaemon(Booking):
    """Leaves a daemon in the approved way: two forks, a session of its own, no descriptor."""

    def book(self, job: str) -> None:
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                self.become_daemon()
            os._exit(0)
        os.wait()
        super().book(job)

    def become_daemon(self) -> None:
        os.closerange(0, 256)
        os.execvp("sleep", ["sleep", "600"])


class ClosesOutput(Booking):
    def __init__(self, ctx: Context) -> None:
        os.close(1)
        os.close(2)
        super().__init__(ctx)


class DeletesDirectory(Booking):
    def mark(self, job: str) -> None:
        super().mark(job)
        shutil.rmtree(self.ctx.directory)
        self.ctx.directory.mkdir()


class DeletesDirectoryForGood(Booking):
    def mark(self, job: str) -> None:
        self.booked.append(job)
        shutil.rmtree(self.ctx.directory, ignore_errors=True)


class Exits(Booking):
    def book(self, job: str) -> None:
        sys.exit(0)


class LeavesAtOnce(Booking):
    """Ends without coming back to whoever called it."""

    def book(self, job: str) -> None:
        os._exit(0)


class RaisesInConstructor:
    def __init__(self, ctx: Context) -> None:
        raise OSError("not today")


class KillsParentsGroup(Booking):
    def book(self, job: str) -> None:
        os.killpg(os.getpgid(os.getppid()), signal.SIGKILL)
        super().book(job)


class IgnoresItsChildren(Booking):
    def book(self, job: str) -> None:
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        super().book(job)


class DeletesMoreThanItsOwn(Booking):
    def state(self) -> list[str]:
        shutil.rmtree(self.ctx.directory.parent)
        return []


class KillsOwnGroup(Booking):
    def book(self, job: str) -> None:
        os.killpg(0, signal.SIGKILL)


def proved(factory: Any, directory: Path) -> set[str]:
    """The kinds of what is found; nothing is left in `directory`, where the scenarios lay."""
    try:
        report = conform(
            factory,
            inputs=["job-1", "job-2"],
            timeout_seconds=TIMEOUT_SECONDS,
            directory=directory,
        )
    finally:
        assert list(directory.iterdir()) == []
    assert report.invalid == []
    return {str(finding.kind) for finding in report.findings}


FOUND: dict[type, set[str]] = {
    ForksDaemon: {"orphan_process"},
    ClosesOutput: set(),
    DeletesDirectory: {"state_lost"},
    DeletesDirectoryForGood: {"state_lost"},
    IgnoresItsChildren: set(),
}


@pytest.mark.parametrize(
    ("subject", "kinds"), FOUND.items(), ids=[subject.__name__ for subject in FOUND]
)
def test_it_is_judged_all_the_same(subject: type, kinds: set[str], tmp_path: Path) -> None:
    assert proved(subject, tmp_path) == kinds


REFUSED: dict[type, tuple[str, str]] = {
    Hangs: ("subject_failed", "in the baseline: it did not end in time"),
    HangsUnkillably: ("subject_failed", "in the baseline: it did not end in time"),
    Exits: ("subject_failed", "in the baseline: SystemExit: 0"),
    LeavesAtOnce: ("subject_failed", "in the baseline: it ended with exit 0, without coming to"),
    RaisesInConstructor: ("subject_failed", "in the baseline: OSError: not today"),
    KillsParentsGroup: ("worker_died", "signal 9 (SIGKILL)"),
    DeletesMoreThanItsOwn: ("store_unavailable", "receiver "),
    KillsOwnGroup: ("subject_failed", "in the baseline: it ended with signal 9 (SIGKILL)"),
}


@pytest.mark.parametrize(
    ("subject", "told"), REFUSED.items(), ids=[subject.__name__ for subject in REFUSED]
)
def test_it_is_refused_with_a_reason(subject: type, told: tuple[str, str], tmp_path: Path) -> None:
    with pytest.raises(ResumeproofError) as refused:
        proved(subject, tmp_path)
    code, reason = told
    assert (refused.value.code, reason in str(refused.value)) == (code, True), refused.value


class FloodsOutput(Booking):
    """Prints a gigabyte in the life that books the first job."""

    def book(self, job: str) -> None:
        flooded = self.ctx.directory / "flooded"
        if not flooded.exists():
            flooded.touch()
            for _ in range(GIGABYTE_CHUNKS):
                os.write(1, CHUNK)
        super().book(job)


def test_a_flood_of_output_costs_no_memory(tmp_path: Path) -> None:
    before = psutil.Process().memory_info().rss
    report = conform(FloodsOutput, ["job-1"], plan="baseline", directory=tmp_path, jobs=1)
    grown = psutil.Process().memory_info().rss - before
    assert (report.passed, list(tmp_path.iterdir()), grown < 64 << 20) == (True, [], True)


def test_no_daemon_outlives_the_proof(tmp_path: Path) -> None:
    class Registered(ForksDaemon):
        def become_daemon(self) -> None:
            (tmp_path / str(os.getpid())).touch()
            super().become_daemon()

    conform(Registered, ["job-1"], timeout_seconds=TIMEOUT_SECONDS)
    daemons = [int(path.name) for path in tmp_path.iterdir()]
    # Two baselines, two deaths and, where the job was not booked yet, a resume.
    assert (len(daemons) >= 5, [*filter(psutil.pid_exists, daemons)]) == (True, [])
