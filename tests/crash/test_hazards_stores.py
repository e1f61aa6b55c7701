"""A store that fails at the worst moment: nothing is swallowed, and nothing is paid for twice."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from resumeproof.crash.plan import Boundary
from resumeproof.crash.process import run_life
from resumeproof.lab.subject import JOURNAL_NAME, LEDGER_NAME
from resumeproof.stores.sqlite_ledger import SqliteLedger
from tests.cli.desk import COMMAND, Desk, environment
from tests.crash.expected import ONE_CRASH, Outcome
from tests.crash.scenarios import lab_subject

CHILDREN = Path(__file__).parent / "children"
TIMEOUT_SECONDS = 60
SMALL_BYTES = 2 << 20

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="limits and mounts are POSIX's")


@contextmanager
def small_disk(directory: Path) -> Iterator[Path]:
    """A file system of 2 MiB of its own, where this user may mount one."""
    place = directory / "small"
    place.mkdir()
    options = ["-t", "tmpfs", "-o", f"size={SMALL_BYTES}", "tmpfs", str(place)]
    if os.getuid() or subprocess.run(["mount", *options], capture_output=True).returncode:
        pytest.skip("a file system can be mounted by root alone, and not in every container")
    try:
        yield place
    finally:
        subprocess.run(["umount", place], check=True)


@contextmanager
def any_disk(directory: Path) -> Iterator[Path]:
    yield directory


# -- a full disk between effect and acknowledgement ------------------------------------------

FULL = {"disk": small_disk, "file": any_disk}


@pytest.mark.parametrize("full", FULL)
@pytest.mark.parametrize("contract", ["idempotent", "none", "consistent"])
def test_a_full_disk_at_the_acknowledgement_is_told_and_settled_by_the_next_resume(
    contract: str, full: str, directory: Path
) -> None:
    subject = lab_subject(contract)
    with FULL[full](directory) as place:
        subject.open(place)
        specification = subject.argv(place, 1, None)[-1]
        failed = run_life(
            [sys.executable, CHILDREN / "fills.py", specification, full],
            timeout_seconds=TIMEOUT_SECONDS,
        )
        between = subject.observe(place)
        (place / "ballast").unlink(missing_ok=True)
        resumed = run_life(subject.argv(place, 2, None), timeout_seconds=TIMEOUT_SECONDS)
        found = subject.observe(place)
        with SqliteLedger.open_reader(place / LEDGER_NAME) as ledger:
            keys = {invocation.key for invocation in ledger.invocations()}
    assert (
        (failed.exit.text, failed.stdout, "outcome_commit_failed" in failed.stderr),
        (between.status, between.effects, between.acknowledgements),
        resumed.exit.text,
        Outcome(
            found.status,
            found.reason,
            found.effects,
            found.invocations,
            found.attempts,
            found.retries,
            found.recoveries,
        ),
        keys,
    ) == (
        ("exit 7", "store_unavailable\n", True),
        ("running", 1, 0),
        "exit 0",
        ONE_CRASH[contract][Boundary.ACK_BEFORE],
        {subject.case.key},
    )


# -- a journal that is locked while a recovery loop runs --------------------------------------


@contextmanager
def locked(database: Path) -> Iterator[Callable[[], None]]:
    """SQLite's own lock on a database, held by another process that is no driver, until told."""
    holder = subprocess.Popen(
        [sys.executable, CHILDREN / "locks_database.py", database],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )

    def release() -> None:
        holder.communicate(timeout=TIMEOUT_SECONDS)

    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "locked\n"
        yield release
    finally:
        release()


@pytest.mark.slow
def test_a_recovery_loop_tells_of_a_locked_journal_and_a_later_one_finishes(
    directory: Path,
) -> None:
    desk = Desk(directory)
    first, *others = (desk.crashed("--key", f"k{number}") for number in range(3))
    with locked(directory / JOURNAL_NAME) as release:
        loop = subprocess.Popen(
            [*COMMAND, "resume", "--all", "--format", "text"],
            cwd=directory,
            env=environment({"PYTHONUNBUFFERED": "1"}),
            stdout=subprocess.PIPE,
            text=True,
        )
        assert loop.stdout is not None
        refused = loop.stdout.readline()
        release()
        told, _ = loop.communicate(timeout=TIMEOUT_SECONDS)
    left = desk.show(first)["status"]
    later = desk.done("resume", "--all")
    assert (
        refused.startswith(f"{first}  refused, exit 7"),
        told.splitlines(),
        loop.returncode,
        left,
        [(each["id"], each["status"]) for each in later["workflows"]],
        desk.totals()["effects"],
    ) == (
        True,
        [f"{workflow_id}  completed" for workflow_id in others],
        7,
        "running",
        [(first, "completed")],
        3,
    )


# -- copies ------------------------------------------------------------------------------------


def copied(desk: Desk, place: Path) -> Desk:
    """Only the two database files, as somebody copies them who knows of no `-wal`."""
    place.mkdir()
    for name in (JOURNAL_NAME, LEDGER_NAME):
        (place / name).write_bytes((desk.path / name).read_bytes())
    return Desk(place)


def test_a_copy_of_the_database_files_alone_is_whole_after_every_command(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "desk")
    desk.path.mkdir()
    workflow_id = desk.create("--max-retries", "2")
    this = ("--workflow", workflow_id)
    lost = []
    for number, words in enumerate(
        [
            ("approve", *this, "--actor", "alice"),
            ("timeline", *this),
            ("resume", *this, "--crash-at", "tool:after"),
            ("resume", *this),
            ("reconcile", *this, "--resolution", "confirmed_applied", "--actor", "alice"),
            ("resume", *this),
        ]
    ):
        ran = desk.run(*words)
        if ran.status == 86:
            continue  # a death tidies nothing up; the next driver does
        copy = copied(desk, tmp_path / f"copy-{number}")
        if (desk.show(workflow_id), desk.totals()) != (copy.show(workflow_id), copy.totals()):
            lost.append(words[0])
    assert lost == []


def test_the_log_of_another_store_is_not_taken_for_ones_own(tmp_path: Path) -> None:
    desk, other = Desk(tmp_path / "desk"), Desk(tmp_path / "other")
    for each in (desk, other):
        each.path.mkdir()
    workflow_id = desk.approved("--key", "k1")
    other.crashed("--key", "k2")
    log = f"{JOURNAL_NAME}-wal"
    (desk.path / log).write_bytes((other.path / log).read_bytes())
    before = desk.files()
    ran = desk.run("resume", "--workflow", workflow_id)
    assert (ran.refusal, desk.files()) == ((7, "store_refused", 1, True), before)
