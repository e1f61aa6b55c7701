from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from resumeproof.crash.capture import CAPTURE_LIMIT_BYTES
from resumeproof.crash.child import Channel
from resumeproof.crash.kill import UNKILLED_STATUS, Kill
from resumeproof.crash.plan import Boundary, CrashPoint
from resumeproof.crash.process import ChildExit, Life, run_life, verify_kill
from resumeproof.crash.tree import LIFE_VARIABLE, LifeTree
from resumeproof.crash.witness import WITNESS_VARIABLE, Witness
from resumeproof.errors import UsageRefused

CHILDREN = Path(__file__).parent / "children"
POINT = CrashPoint(Boundary.TOOL_AFTER)
posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX processes")
linux = pytest.mark.skipif(sys.platform != "linux", reason="adoption of orphans is Linux's")


def live(script: str, *arguments: str, kill_at_witness: bool = False) -> Life:
    words = [sys.executable, str(CHILDREN / script), *arguments]
    return run_life(words, timeout_seconds=60, kill_at_witness=kill_at_witness)


def run_python(code: str) -> Life:
    return run_life([sys.executable, "-c", code], timeout_seconds=60)


def outcome(life: Life) -> tuple[str, str, bool, tuple[int, ...], bool]:
    return life.exit.text, life.stdout, life.timed_out, life.orphans, life.cleared


@contextmanager
def killed_afterwards(pid: int) -> Iterator[psutil.Process]:
    process = psutil.Process(pid)
    try:
        yield process
    finally:
        process.kill()
        process.wait(60)


# -- dying -----------------------------------------------------------------------------------


@pytest.mark.parametrize("channel", ["pipe", "stderr"])
@pytest.mark.parametrize("kill", Kill)
def test_death_runs_nothing_more_and_bears_witness(kill: Kill, channel: Channel) -> None:
    life = run_life(
        [sys.executable, CHILDREN / "dies.py", kill, "tool:after", "2"],
        timeout_seconds=60,
        channel=channel,
    )
    assert outcome(life) == (ChildExit.of(kill.returncode).text, "", False, (), True)
    assert life.witnesses == (Witness("tool:after", 2, life.pid),)
    assert verify_kill(life, CrashPoint("tool:after", 2), kill) is None


@pytest.mark.parametrize("boundary", Boundary)
def test_every_boundary_is_a_crash_point_that_verifies(boundary: Boundary) -> None:
    life = live("dies.py", Kill.EXIT86, boundary, "1")
    assert verify_kill(life, CrashPoint(boundary), Kill.EXIT86) is None


def test_supervised_kill_takes_a_child_that_ignores_every_signal() -> None:
    life = live("holds.py", kill_at_witness=True)
    assert outcome(life) == (ChildExit.of(Kill.SIGKILL.returncode).text, "", False, (), True)
    assert verify_kill(life, POINT, Kill.SIGKILL) is None


@posix
def test_held_child_ends_when_its_supervisor_is_gone() -> None:
    with subprocess.Popen(
        [sys.executable, CHILDREN / "holds.py"], stdin=subprocess.PIPE, stderr=subprocess.PIPE
    ) as child:
        assert child.stderr is not None
        assert child.stdin is not None
        assert b"tool:after" in child.stderr.readline()
        child.stdin.close()
        assert child.wait(60) == UNKILLED_STATUS


@linux
@pytest.mark.skipif(shutil.which("unshare") is None, reason="needs unshare(1)")
def test_process_that_survives_its_own_sigkill_is_no_verified_kill() -> None:
    """Process 1 of a pid namespace is immune to itself."""
    unshare = ["unshare", "--user", "--map-root-user", "--pid", "--fork"]
    if subprocess.run([*unshare, "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("pid namespaces are not permitted here")
    life = run_life(
        [*unshare, sys.executable, CHILDREN / "dies.py", Kill.SIGKILL, "tool:after", "1"],
        timeout_seconds=60,
    )
    assert outcome(life) == (f"exit {UNKILLED_STATUS}", "", False, (), True)
    assert verify_kill(life, POINT, Kill.SIGKILL) is not None


# -- kills that were not what they seem ------------------------------------------------------


def test_kill_that_never_fired_is_invalid() -> None:
    life = run_python("pass")
    assert verify_kill(life, POINT, Kill.EXIT86) == (
        "planned exit 86 at tool:after#1, but no witness was written; exit 0"
    )


@pytest.mark.parametrize("code", ["import os; os._exit(86)", "raise SystemExit(86)"])
def test_right_status_without_a_witness_is_invalid(code: str) -> None:
    life = run_python(code)
    assert verify_kill(life, POINT, Kill.EXIT86) == (
        "planned exit 86 at tool:after#1, but no witness was written; exit 86"
    )


def test_death_at_another_boundary_is_invalid() -> None:
    life = live("dies.py", Kill.EXIT86, "tool:before", "1")
    assert verify_kill(life, POINT, Kill.EXIT86) == (
        "planned tool:after#1, but the witness is of tool:before#1"
    )


@posix
def test_death_that_only_a_shell_reports_is_another_processs_death() -> None:
    script = f"'{sys.executable}' '{CHILDREN / 'dies.py'}' sigkill tool:after 1; exit $?"
    life = run_life(["sh", "-c", script], timeout_seconds=60)
    assert life.exit.text == "exit 137 (a shell's word for signal 9, SIGKILL)"
    assert verify_kill(life, POINT, Kill.SIGKILL) == (
        f"process {life.pid} died, but the witness is of process {life.witnesses[0].pid}"
    )


@posix
@pytest.mark.parametrize(
    ("script", "text"),
    [
        ("kill -9 $$", "signal 9 (SIGKILL)"),
        ("kill -15 $$", "signal 15 (SIGTERM)"),
        ("sh -c 'kill -9 $$'; exit $?", "exit 137 (a shell's word for signal 9, SIGKILL)"),
        ("exit 247", "exit 247 (-9 in one byte: a parent's word for signal 9, SIGKILL)"),
        ("exit 86", "exit 86"),
    ],
    ids=["killed", "terminated", "child-of-shell-killed", "returncode-handed-on", "exit86"],
)
def test_exit_is_named_by_its_wait_status(script: str, text: str) -> None:
    assert run_life(["sh", "-c", script], timeout_seconds=60).exit.text == text


@posix
def test_wait_status_taken_by_others_is_refused_and_not_guessed() -> None:
    life = live("ignores_sigchld.py")
    assert life.stdout.startswith("refused: the wait status of process"), life


# -- what hangs, and what floods -------------------------------------------------------------


@posix
@pytest.mark.parametrize("script", ["kill -STOP $$", "exec sleep 1000"], ids=["stopped", "sleeps"])
def test_hang_is_killed_and_said_to_be_one(script: str) -> None:
    life = run_life(["sh", "-c", script], timeout_seconds=0.2)
    assert outcome(life) == ("signal 9 (SIGKILL)", "", True, (), True)
    assert verify_kill(life, POINT, Kill.SIGKILL) == (
        "planned signal 9 (SIGKILL) at tool:after#1, but it hung and was killed for that"
    )


def test_output_of_any_length_is_read_and_its_middle_left_out() -> None:
    life = run_python(
        "import sys\n"
        "for stream in (sys.stdout, sys.stderr): stream.write('first ' + 'x' * (50 << 20))\n"
        "for stream in (sys.stderr, sys.stdout): stream.write('y' * (50 << 20) + ' last')\n"
    )
    each_left_out_bytes = len("first  last") + (100 << 20) - CAPTURE_LIMIT_BYTES
    half_bytes = CAPTURE_LIMIT_BYTES // 2
    kept = (
        "first ".ljust(half_bytes, "x")
        + f"\n[{each_left_out_bytes} bytes left out]\n"
        + " last".rjust(half_bytes, "y")
    )
    # Not compared as a tuple: the difference of two megabytes takes a minute to explain.
    assert life.exit.text == "exit 0"
    assert life.left_out_bytes == 2 * each_left_out_bytes
    assert (life.stdout == kept, life.stderr == kept) == (True, True)


def test_witness_is_found_behind_an_unfinished_line_and_a_flood() -> None:
    code = (
        "import os, sys\n"
        "from resumeproof.crash.witness import write_witness\n"
        "os.write(2, b'x' * (1 << 20))\n"
        "write_witness('tool:after', 1)\n"
    )
    life = run_life([sys.executable, "-c", code], timeout_seconds=60, channel="stderr")
    assert life.witnesses == (Witness("tool:after", 1, life.pid),)


# -- what is left behind ---------------------------------------------------------------------


@posix
@pytest.mark.parametrize("then", ["exits", "holds"])
@pytest.mark.parametrize("how", ["group", "session", pytest.param("daemon", marks=linux)])
def test_grandchild_is_found_reaped_and_reported(how: str, then: str) -> None:
    life = live("leaves.py", how, then, kill_at_witness=then == "holds")
    grandchild = int(life.stdout)
    text = "exit 0" if then == "exits" else "signal 9 (SIGKILL)"
    assert outcome(life) == (text, f"{grandchild}\n", False, (grandchild,), True)
    assert not psutil.pid_exists(grandchild)


@linux
def test_grandchild_that_nothing_tells_apart_from_a_stranger_is_left_alone_and_said() -> None:
    life = live("leaves.py", "stranger", "exits")
    with killed_afterwards(int(life.stdout)) as grandchild:
        assert outcome(life) == ("exit 0", f"{grandchild.pid}\n", False, (), False)
        assert grandchild.is_running()


@posix
def test_survivor_that_ends_by_itself_is_no_orphan() -> None:
    """As multiprocessing's resource tracker does, when its parent's end of a pipe goes."""
    survivor = ["sh", "-c", "cat; exec sleep 0.05"]
    life = run_python(
        f"import os, subprocess; subprocess.Popen({survivor}, stdin=subprocess.PIPE); os._exit(86)"
    )
    assert outcome(life) == ("exit 86", "", False, (), True)


@linux
def test_daemon_that_ended_is_reaped_and_no_orphan() -> None:
    life = live("daemon_ended.py")
    daemon = int(life.stdout)
    assert outcome(life) == ("exit 0", f"{daemon}\n", False, (), True)
    assert not psutil.pid_exists(daemon)


@posix
def test_lives_side_by_side_each_report_their_own_orphan() -> None:
    with ThreadPoolExecutor(4) as pool:
        lives = list(pool.map(lambda _: live("leaves.py", "session", "exits"), range(8)))
    assert [life.orphans for life in lives] == [(int(life.stdout),) for life in lives]


@posix
def test_orphan_of_a_life_within_a_life_is_found_by_the_outer_one() -> None:
    """The inner supervisor dies before it can look for it."""
    code = (
        "import os, sys\n"
        "from resumeproof.crash.process import run_life\n"
        "from resumeproof.crash.tree import LifeTree\n"
        "LifeTree.something_amiss = lambda self, leader: os._exit(86)\n"
        "run_life([sys.executable, *sys.argv[1:]], timeout_seconds=60)\n"
    )
    words = [sys.executable, "-c", code, str(CHILDREN / "leaves.py"), "session", "exits"]
    life = run_life(words, timeout_seconds=60)
    assert (life.exit.text, len(life.orphans), life.cleared) == ("exit 86", 1, True)


@posix
def test_stranger_among_this_processs_children_is_not_killed() -> None:
    tree = LifeTree()
    with subprocess.Popen(["true"]) as leader:
        leader.wait(60)
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, start_new_session=True) as stranger:
        found = tree.something_amiss(leader.pid), tree.reap(leader.pid), stranger.poll()
    assert found == (sys.platform == "linux", ((), True), None)


@linux
@pytest.mark.parametrize("before", [0, 1], ids=["no-subreaper", "subreaper"])
def test_adoption_ends_with_the_last_life_side_by_side(before: int) -> None:
    set_subreaper_flag(before)
    try:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(run_python, ["pass"] * 4))
        assert subreaper_flag() == before
    finally:
        set_subreaper_flag(0)


def subreaper_flag() -> int:
    flag = ctypes.c_int(-1)
    assert ctypes.CDLL(None).prctl(37, ctypes.byref(flag), 0, 0, 0) == 0
    return flag.value


def set_subreaper_flag(flag: int) -> None:
    assert ctypes.CDLL(None).prctl(36, flag, 0, 0, 0) == 0


# -- starting --------------------------------------------------------------------------------


def test_child_gets_the_environment_and_directory_that_it_was_given(tmp_path: Path) -> None:
    code = "import os; print(sorted(os.environ), os.getcwd())"
    life = run_life(
        [sys.executable, "-I", "-c", code],
        timeout_seconds=60,
        env={"OWN": "1", "LC_ALL": "C.UTF-8"},
        cwd=tmp_path,
        channel="pipe",
    )
    names = sorted(["OWN", "LC_ALL", LIFE_VARIABLE, WITNESS_VARIABLE])
    assert life.stdout == f"{names} {tmp_path.resolve()}\n"


@posix
def test_witness_address_of_an_outer_life_is_not_handed_on() -> None:
    code = f"import os; print(os.environ.get({WITNESS_VARIABLE!r}))"
    life = run_life(
        [sys.executable, "-c", code],
        timeout_seconds=60,
        env={**os.environ, WITNESS_VARIABLE: "1:2:3"},
        channel="stderr",
    )
    assert life.stdout == "None\n"


@pytest.mark.parametrize("channel", ["pipe", "stderr"])
def test_child_that_cannot_be_started_is_refused(tmp_path: Path, channel: Channel) -> None:
    with pytest.raises(UsageRefused, match=r"cannot start .*nothing"):
        run_life([tmp_path / "nothing"], timeout_seconds=60, channel=channel)
