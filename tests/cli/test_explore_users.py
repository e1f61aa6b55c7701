"""`explore` needs no rights: it does the same for an ordinary user."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import resumeproof
from tests.cli.desk import ROOT, environment

NOBODY = 65534
EXAMPLES = ROOT / "examples" / "explore"

pytestmark = [
    pytest.mark.skipif(shutil.which("strace") is None, reason="strace looks on"),
    pytest.mark.skipif(
        not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can become another user"
    ),
]


@pytest.fixture
def public() -> Iterator[Path]:
    """A directory of its own that belongs to an ordinary user."""
    with tempfile.TemporaryDirectory() as name:
        os.chown(name, NOBODY, NOBODY)
        yield Path(name)


@pytest.fixture
def python(public: Path) -> str:
    """An interpreter of this version that an ordinary user may run, too."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for candidate in (sys.executable, shutil.which(version, path="/usr/bin:/usr/local/bin")):
        if candidate is not None and run_as_nobody(public, candidate, "-c", "").returncode == 0:
            return candidate
    pytest.skip("no interpreter of this version is for everybody")


def run_as_nobody(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    packages = [Path(module.__file__ or "").parent.parent for module in (resumeproof, click)]
    env = {"HOME": str(place), "PYTHONPATH": os.pathsep.join(map(str, packages))}
    try:
        return subprocess.run(
            words,
            cwd=place,
            env=environment(env),
            user=NOBODY,
            group=NOBODY,
            extra_groups=[],
            capture_output=True,
            text=True,
            timeout=60,
        )
    except PermissionError:
        return subprocess.CompletedProcess(words, 126, "", "")


def test_an_ordinary_user_explores_and_confirms(public: Path, python: str) -> None:
    ran = run_as_nobody(
        public,
        *(python, "-m", "resumeproof", "explore", "--no-resume", "--power-loss"),
        *("--check", f"{EXAMPLES / 'state_check.py'}:check"),
        *("--", python, str(EXAMPLES / "in_place.py")),
    )
    told = json.loads(ran.stdout)
    kills = [each["confirmed"] for each in told["findings"] if not each["power_loss"]]
    assert (ran.returncode, told["kill_safe"], told["power_safe"], kills) == (
        1,
        False,
        False,
        [True],
    ), ran


def test_a_directory_that_its_owner_may_not_write_to_is_cleared_away(
    public: Path, python: str
) -> None:
    program = "mkdir -p a/b && echo 1 > a/b/c && chmod 555 a a/b"
    ran = run_as_nobody(
        public,
        *(python, "-m", "resumeproof", "explore", "--no-resume", "--check", "true"),
        *("--", "sh", "-c", program),
    )
    assert ran.returncode == 0, ran
    assert json.loads(ran.stdout)["kill_safe"] is True
