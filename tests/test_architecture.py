"""The rules that pyproject.toml holds the package to: each, once broken, is reported by name.

A rule that nothing can break would hold for ever, whatever the configuration says.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
NEAR = Path(sys.executable).parent


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the package that may be broken."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=ignored)
    return tmp_path


BROKEN_CONTRACTS = {
    "layers": ("stores/planted.py", "import resumeproof.runtime", "Layers only import downwards"),
    "a layer of its own": ("planted.py", "", "Layers only import downwards"),
    "proof and evidence": (
        "proof/planted.py",
        "import resumeproof.evidence",
        "Layers only import downwards",
    ),
    "cycle": ("domain/status.py", "import resumeproof.domain.record", "No cycles"),
    "stores": (
        "stores/sqlite_ledger.py",
        "import resumeproof.stores.sqlite_journal",
        "The two stores share nothing but sqlite.py",
    ),
    "evidence": (
        "evidence/planted.py",
        "import resumeproof.crash",
        "The auditor does not depend on the executioner",
    ),
    "runtime": (
        "runtime/planted.py",
        "import resumeproof.crash",
        "The runtime never hears of crashing",
    ),
    "domain": ("domain/planted.py", "import sqlite3", "The domain is pure"),
}


@pytest.mark.parametrize(
    ("module", "line", "contract"), BROKEN_CONTRACTS.values(), ids=BROKEN_CONTRACTS
)
def test_a_broken_contract_is_named(module: str, line: str, contract: str, copy: Path) -> None:
    with (copy / "src" / "resumeproof" / module).open("a") as source:
        source.write(f"{line}\n")
    ran = subprocess.run(
        [NEAR / "lint-imports", "--no-cache"],
        cwd=copy,
        env={"PYTHONPATH": str(copy / "src"), "COLUMNS": "200"},
        capture_output=True,
        text=True,
    )
    assert (ran.returncode, f"{contract} BROKEN" in ran.stdout) == (1, True), ran.stdout


DANGEROUS_CALLS = {
    "os.kill": ("import os", "os.kill(1, 9)", "crash/kill.py"),
    "os.killpg": ("import os", "os.killpg(1, 9)", "crash/kill.py"),
    "os._exit": ("import os", "os._exit(86)", "crash/kill.py"),
    "sqlite3.connect": ("import sqlite3", "sqlite3.connect('x')", "stores/sqlite.py"),
    "time.time": ("from time import time", "time()", "runtime/clock.py"),
    "datetime.now": ("from datetime import UTC, datetime", "datetime.now(UTC)", "runtime/clock.py"),
    "uuid4": ("from uuid import uuid4", "uuid4()", "runtime/identity.py"),
    "random": ("import random", "random.random()", "runtime/identity.py"),
    "secrets": ("import secrets", "secrets.token_hex()", "runtime/identity.py"),
}


@pytest.mark.parametrize(
    ("imported", "call", "home"), DANGEROUS_CALLS.values(), ids=DANGEROUS_CALLS
)
def test_a_dangerous_call_is_allowed_in_its_home_alone(
    imported: str, call: str, home: str, copy: Path
) -> None:
    package = copy / "src" / "resumeproof"
    text = f'"""Planted."""\n\nfrom __future__ import annotations\n\n{imported}\n\n{call}\n'
    for module in (home, "lab/planted.py"):
        (package / module).write_text(text)
    ran = subprocess.run(
        [
            *(NEAR / "ruff", "check", "--no-cache", "--select", "TID251"),
            *("--output-format", "concise", package / home, package / "lab" / "planted.py"),
        ],
        cwd=copy,
        capture_output=True,
        text=True,
    )
    reported = {line.split(":")[0] for line in ran.stdout.splitlines() if "TID251" in line}
    assert (ran.returncode, reported) == (1, {"src/resumeproof/lab/planted.py"}), ran.stdout
