"""Ctrl-C in the middle of a proof: it says how far it came, and leaves nothing."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.cli.agents import lay_out, lay_out_hanging
from tests.cli.desk import COMMAND, TIMEOUT_SECONDS, environment

SIGNALS = [signal.SIGINT, signal.SIGTERM]


@pytest.mark.parametrize("isolation", ["process", "spawn"])
@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: signal.Signals(number).name)
def test_an_interrupted_proof_leaves_nothing(
    isolation: str, number: signal.Signals, tmp_path: Path
) -> None:
    scenarios, temporary, pipe = tmp_path / "scenarios", tmp_path / "temporary", tmp_path / "pipe"
    for directory in (scenarios, temporary):
        directory.mkdir()
    os.mkfifo(pipe)
    lay_out(tmp_path)
    lay_out_hanging(tmp_path, pipe)
    words = [word for job in ("one", "two", "three") for word in ("--input", job)]
    process = subprocess.Popen(
        [*COMMAND, "conform", "hanging:Hanging", *words, "--isolation", isolation,
         "--jobs", "1", "--directory", scenarios],
        cwd=tmp_path,
        env=environment({"TMPDIR": str(temporary)}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    with process:
        # The life that is read from here has come to where it never ends.
        pids = json.loads(pipe.read_text())
        # Whoever is impatient must not cut the cleaning up short.
        for _ in range(3):
            process.send_signal(number)
        stdout, stderr = process.communicate(timeout=TIMEOUT_SECONDS)
    assert (process.returncode, json.loads(stdout)["error"]["code"]) == (130, "interrupted")
    assert stderr == (
        "resumeproof: so far: 2 of 6 scenarios done, 1 finding(s): effect_replayed 1\n"
        "resumeproof: error: interrupted\n"
    )
    assert [pid for pid in pids if psutil.pid_exists(pid)] == []
    assert [*scenarios.iterdir(), *temporary.iterdir()] == []


WHILE_FORKING = """
import os, signal, sys
host = os.getpid()
os.register_at_fork(
    after_in_parent=lambda: os.getpid() == host and os.kill(host, signal.SIGINT)
)
from resumeproof.cli import main
main(sys.argv[1:])
"""
FORKING = {
    "conform": ("conform", "agent:Mended", "--input", "one"),
    "spawned": ("conform", "agent:Mended", "--input", "one", "--isolation", "spawn"),
    "shapes": ("shapes", "--shape", "tool_approval"),
    "explore": ("explore", "--", "true"),
}


@pytest.mark.parametrize("words", FORKING.values(), ids=FORKING)
def test_an_interrupt_in_the_middle_of_a_fork_is_heeded(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    """What is raised in a hook that runs after a fork Python ignores, and nobody hears of it."""
    if words[0] == "explore" and shutil.which("strace") is None:
        pytest.skip("strace looks on")
    lay_out(tmp_path)
    ran = subprocess.run(
        [sys.executable, "-c", WHILE_FORKING, *words],
        cwd=tmp_path,
        env=environment({}),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )
    assert (ran.returncode, json.loads(ran.stdout)["error"]["code"]) == (130, "interrupted"), ran
    assert ran.stderr.endswith("resumeproof: error: interrupted\n")
    assert "Exception ignored" not in ran.stderr
