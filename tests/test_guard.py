"""The guard of tests/conftest.py: a test that leaves something behind does not pass."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).with_name("conftest.py")

LEAVES = {
    "nothing": ("subprocess.run([sys.executable, '-c', ''], check=True)", "1 passed", None),
    "what was open before": ("print(file=LOG, flush=True)", "1 passed", None),
    "a running child": (
        "KEPT.append(subprocess.Popen([sys.executable, '-c', 'input()'], stdin=-1))",
        "1 passed, 1 error",
        "left behind: child processes",
    ),
    "an unreaped child": (
        "child = subprocess.Popen(['true'], stdout=-1); child.stdout.read(); KEPT.append(child)",
        "1 passed, 1 error",
        "left behind: child processes",
    ),
    "an open file": ("KEPT.append(open(__file__))", "1 passed, 1 error", "left behind: child"),
    "an open database": (
        "c = sqlite3.connect(tmp_path / 'd'); c.execute('create table t(n)'); KEPT.append(c)",
        "1 passed, 1 error",
        "left behind: child processes",
    ),
    "a dropped file": ("open(__file__)", "1 failed", "ResourceWarning: unclosed file"),
}


@pytest.mark.parametrize(("body", "outcome", "reason"), LEAVES.values(), ids=LEAVES)
def test_what_is_left_behind_fails_the_test(
    body: str, outcome: str, reason: str | None, tmp_path: Path
) -> None:
    shutil.copy(CONFTEST, tmp_path)
    (tmp_path / "test_it.py").write_text(
        "import sqlite3, subprocess, sys\n"
        "KEPT, LOG = [], open(__file__ + '.log', 'w')\n"
        f"def test_it(tmp_path):\n    {body}\n"
    )
    ran = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-c", "/dev/null", "--rootdir", tmp_path),
            *("-W", "error", "-p", "no:cacheprovider", tmp_path),
        ],
        env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
    )
    assert f" {outcome} in " in ran.stdout, ran.stdout
    assert reason is None or reason in ran.stdout, ran.stdout
