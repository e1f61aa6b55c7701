"""Ctrl-C in the middle of a proof: it says how far it came, and leaves nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
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
