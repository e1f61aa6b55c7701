"""The demo: at every boundary, by both kills, wherever it is put, and when it goes wrong."""

from __future__ import annotations

import os
import shlex
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from resumeproof.crash.kill import Kill
from resumeproof.crash.plan import Boundary, CrashPoint
from resumeproof.domain.contract import ToolContract
from resumeproof.errors import OutputNotEmpty, StoreUnavailable, UsageRefused
from resumeproof.lab.closing import closing as closing_lines
from resumeproof.lab.closing import next_steps
from resumeproof.lab.demo import FILES, IDEMPOTENT, DemoResult, run_demo
from resumeproof.lab.output import claim_directory
from resumeproof.lab.subject import LEDGER_NAME, Case, Times

pytestmark = pytest.mark.crash

CHILDREN = Path(__file__).parent / "children"
TIMES = Times("2026-01-01T00:00:00.000000Z")
COMMAND = [sys.executable, "-m", "resumeproof"]
DIED = {Kill.EXIT86: "exit 86", Kill.SIGKILL: "signal 9 (SIGKILL)"}


def a_demo(
    directory: Path,
    boundary: str = Boundary.TOOL_AFTER,
    kill: Kill = Kill.EXIT86,
    times: Times = TIMES,
    **cases: tuple[Case, ...],
) -> DemoResult:
    return run_demo(
        directory, point=CrashPoint.parse(boundary), kill=kill, times=times,
        progress=lambda _: None, **cases,
    )  # fmt: skip


def effects_in(directory: Path) -> int:
    with closing(sqlite3.connect(directory / LEDGER_NAME)) as ledger:
        return int(ledger.execute("SELECT count(*) FROM effects").fetchone()[0])


COMES_TO = {
    Boundary.CLAIM_BEFORE: ("completed", "completed", 2),
    Boundary.CLAIM_AFTER: ("completed", "unknown", 1),
    Boundary.TOOL_BEFORE: ("completed", "unknown", 1),
    Boundary.TOOL_AFTER: ("completed", "unknown", 2),
    Boundary.ACK_BEFORE: ("completed", "unknown", 2),
    Boundary.ACK_AFTER: ("completed", "completed", 2),
}


@pytest.mark.parametrize(
    ("boundary", "kill"),
    [
        # The gate has each boundary by one of them; four more die by exit 86 in the next test.
        pytest.param(
            boundary,
            kill,
            marks=[pytest.mark.campaign]
            if (kill is Kill.EXIT86) != (boundary is Boundary.ACK_BEFORE)
            else [],
        )
        for boundary in Boundary
        for kill in Kill
    ],
)
def test_every_boundary_by_every_kill(boundary: Boundary, kill: Kill, tmp_path: Path) -> None:
    result = a_demo(tmp_path, boundary, kill)
    with_key, without = result.receipt["workflows"]
    assert (
        [fact for fact in result.facts if not fact.holds],
        [scenario["child_exit"]["text"] for scenario in result.receipt["scenarios"]],
        (with_key["status"], without["status"], effects_in(tmp_path)),
        sorted(path.name for path in tmp_path.iterdir()),
    ) == ([], [DIED[kill]] * 2, COMES_TO[boundary], list(FILES))


def test_the_boundaries_that_a_journal_cannot_tell_apart_leave_the_same_journal(
    tmp_path: Path,
) -> None:
    timelines = []
    for boundary in ("claim:after", "tool:before", "tool:after", "ack:before"):
        directory = tmp_path / boundary.replace(":", "-")
        directory.mkdir()
        result = a_demo(directory, boundary)
        assert result.broken == ()
        records = result.receipt["workflows"][1]["timeline"]
        timelines.append([record["hash"] for record in records])
    assert timelines == [timelines[0]] * 4


PLACES = ["with space and quote'd", "a?b=c&d#per%20cent", "-dash-ünï-表"]


@pytest.mark.parametrize("name", PLACES)
def test_it_can_be_put_anywhere_and_its_next_steps_work(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = a_demo(claim_directory(Path(name)))
    assert (result.broken, effects_in(tmp_path / name)) == ((), 2)
    command = " ".join(map(shlex.quote, COMMAND))
    steps = [step for step in next_steps(result, command) if not step.startswith("sqlite3 ")]
    script = "set -e\n" + "\n".join(steps)
    ran = subprocess.run(["sh", "-c", script], capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert '"resolution": "confirmed_applied"' in ran.stdout


# -- the directory ----------------------------------------------------------------------------


def test_the_default_directory_is_the_next_free_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "resumeproof-demo-2").write_text("a file")
    (tmp_path / "resumeproof-demo-3").symlink_to("nowhere")
    assert [str(claim_directory(None)) for _ in range(3)] == [
        "resumeproof-demo", "resumeproof-demo-4", "resumeproof-demo-5",
    ]  # fmt: skip


def test_a_directory_with_anything_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / ".hidden").touch()
    with pytest.raises(OutputNotEmpty):
        claim_directory(tmp_path)


def test_an_empty_directory_is_taken_and_a_deep_one_made(tmp_path: Path) -> None:
    deep = tmp_path / "one" / "two"
    assert (claim_directory(tmp_path / "one" / "two"), deep.is_dir()) == (deep, True)
    assert claim_directory(deep) == deep


@pytest.mark.parametrize("name", ["file", "file/below", "nul\0"])
def test_what_can_be_no_directory_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageRefused):
        claim_directory(tmp_path / name)


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="no file system that root cannot write")
def test_a_file_system_that_takes_no_directory_is_a_clear_error() -> None:
    with pytest.raises(StoreUnavailable) as caught:
        claim_directory(Path("/proc/self/demo"))
    assert (caught.value.kind, caught.value.path) == ("output directory", "/proc/self/demo")


# -- when it goes wrong -----------------------------------------------------------------------


def names(result: DemoResult) -> list[str]:
    return [fact.what for fact in result.broken]


def test_a_tool_that_forgets_its_keys_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(CHILDREN / "forgetful"))
    assert names(a_demo(tmp_path)) == [
        "idempotent: effects in the ledger", "idempotent: its receipt", "effects in all",
    ]  # fmt: skip


def test_a_child_that_cannot_run_is_found_and_quoted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(CHILDREN / "stillborn"))
    result = a_demo(tmp_path)
    of_kill, of_exit = result.broken[:2]
    assert (of_kill.what, of_kill.found) == (
        "idempotent: the kill was as planned", "tool:after#1 was never reached (no life today)",
    )  # fmt: skip
    assert (of_exit.expected, of_exit.found) == ("exit 86", "exit 1")
    assert {"effects in all", "the evidence holds"} <= set(names(result))


def test_a_point_that_is_never_reached_is_found(tmp_path: Path) -> None:
    result = a_demo(tmp_path, "tool:after#2")
    assert (names(result)[0], effects_in(tmp_path)) == ("idempotent: the kill was as planned", 2)


def test_a_key_that_expires_before_the_resume_is_no_idempotency(tmp_path: Path) -> None:
    brief = Case(
        name="idempotent",
        action=IDEMPOTENT.action,
        contract=ToolContract("charge_card", idempotent=True, key_lifetime_seconds=1.0),
        key=IDEMPOTENT.key,
    )
    result = a_demo(tmp_path, cases=(brief,))
    assert names(result) == ["idempotent: status after the resume", "idempotent: its receipt"]


def command_in(directory: Path, child: str, **extra: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, "demo", "--output-dir", "out"],
        cwd=directory,
        env=os.environ | {"PYTHONPATH": str(CHILDREN / child), **extra},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Whoever started the tests in the background had interrupts ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def test_the_command_exits_1_and_says_what_is_not_so(tmp_path: Path) -> None:
    process = command_in(tmp_path, "forgetful")
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "NOT SO  effects in all: expected 2, found 3" in stderr
    assert '"held": false' in stdout


def test_an_interrupt_leaves_no_process(tmp_path: Path) -> None:
    told = tmp_path / "told"
    os.mkfifo(told)
    process = command_in(tmp_path, "endless", TOLD=str(told))
    child = psutil.Process(int(told.read_text()))  # Returns once the child has said who it is.
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert (process.returncode, child.is_running()) == (130, False)
    assert stderr.splitlines()[-1] == "resumeproof: error: interrupted"


# -- what it says last ------------------------------------------------------------------------


def test_it_ends_with_what_came_of_it_in_plain_words(tmp_path: Path) -> None:
    result = a_demo(tmp_path)
    with_key, without = (workflow["id"] for workflow in result.receipt["workflows"])
    assert list(closing_lines(result, ["PATH=/bin:$PATH"], "resumeproof")) == [
        f"{with_key} (a tool that honours a key)",
        "  died with exit 86 at tool:after#1 and was resumed:",
        "  completed, with 1 effect in the ledger, the original receipt (replayed: true).",
        "",
        f"{without} (a tool with neither key nor lookup)",
        "  died with exit 86 at tool:after#1 and was resumed:",
        "  unknown, waiting for an operator. The ledger holds 1 effect; nothing was repeated.",
        "",
        "In all: 2 effects in the ledger, 1 replay, 1 workflow unknown.",
        "",
        "Go on by hand:",
        "",
        "  PATH=/bin:$PATH",
        f"  resumeproof verify {tmp_path}",
        f"  cd {tmp_path}",
        f"  resumeproof timeline --workflow {with_key}",
        f"  resumeproof resume --workflow {with_key}",
        f"  resumeproof timeline --workflow {without}",
        f"  resumeproof reconcile --workflow {without} --resolution confirmed_applied --actor you",
        "  sqlite3 simulated-tool-ledger.sqlite3 'select count(*) from effects'",
    ]
