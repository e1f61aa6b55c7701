"""Every example is run, and comes to what its first lines say."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"

pytestmark = pytest.mark.crash

EVERY_DEATH = "4 crash points enumerated, 4 kills fired, 4 verified, 4 scenarios judged"
PASSES = "conformance: PASS, 2 effect(s) crashed at, 0 finding(s)"
FAILS = "conformance: FAIL, 2 effect(s) crashed at, 2 finding(s)"
HONEST = "missed ambiguity 0 of 4, needless escalation 0 of 4"
TWICE = [
    f"[effect_replayed] crash after effect #{number}: effect 'pay' with key 'invoice-{number}' "
    "happened 2 times, 1 in the baseline"
    for number in (1, 2)
]

SCRIPTS = {
    "json_agent_broken.py": (1, [FAILS, *TWICE]),
    "json_agent.py": (0, [PASSES]),
    "sqlite_agent.py": (0, [PASSES]),
    "file_ledger_agent.py": (0, [PASSES]),
    "async_agent.py": (0, [PASSES, HONEST]),
}
UNDER_PYTEST = "test_agent.py"


def run(*words: str | Path, directory: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words], cwd=directory, capture_output=True, text=True, timeout=60
    )


@pytest.mark.parametrize(("name", "told"), SCRIPTS.items(), ids=SCRIPTS)
def test_a_script_comes_to_its_verdict(
    name: str, told: tuple[int, list[str]], tmp_path: Path
) -> None:
    status, lines = told
    ran = run(EXAMPLES / name, directory=tmp_path)
    printed = [line.strip() for line in ran.stdout.splitlines()]
    assert (ran.returncode, ran.stderr) == (status, "")
    assert [line for line in printed if line in lines] == lines
    assert printed[-1].startswith(EVERY_DEATH)


def test_an_agent_is_proved_under_pytest(tmp_path: Path) -> None:
    for name in ("json_agent.py", UNDER_PYTEST):
        shutil.copy(EXAMPLES / name, tmp_path)
    ran = run("-m", "pytest", "-q", UNDER_PYTEST, directory=tmp_path)
    assert (ran.returncode, "2 passed" in ran.stdout) == (0, True), ran.stdout


def test_every_example_is_run() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == {*SCRIPTS, UNDER_PYTEST}
