"""The wheel: it holds what it needs, and runs the demo in an environment that has nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# What the caller's interpreter is told is not for an empty environment.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


def run(*command: str | Path, cwd: Path) -> str:
    ran = subprocess.run(command, cwd=cwd, capture_output=True, text=True, env=ENVIRONMENT)
    assert ran.returncode == 0, f"{ran.stdout}{ran.stderr}"
    return ran.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("wheel")
    run(
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "-q",
        "--no-deps",
        "-w",
        directory,
        ROOT,
        cwd=directory,
    )
    (built,) = directory.glob("*.whl")
    return built


def test_the_wheel_holds_every_file_of_the_package(wheel: Path) -> None:
    package = ROOT / "src"
    files = {
        str(path.relative_to(package))
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert held == files


def test_the_demo_runs_from_the_wheel_alone(wheel: Path, tmp_path: Path) -> None:
    environment = tmp_path / "environment"
    run(sys.executable, "-m", "venv", "--without-pip", environment, cwd=tmp_path)
    into = ("--python", environment / "bin" / "python")
    run(sys.executable, "-m", "pip", *into, "install", "-q", wheel, cwd=tmp_path)
    run(environment / "bin" / "resumeproof", "demo", "--output-dir", "out", cwd=tmp_path)
    receipt = json.loads((tmp_path / "out" / "receipt.json").read_text())
    assert receipt["totals"]["effects"] == 2
    run(environment / "bin" / "resumeproof", "verify", "out", cwd=tmp_path)
