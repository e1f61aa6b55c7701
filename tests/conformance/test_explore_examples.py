"""The explorer on writers whose verdict is known to whoever knows these file systems."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.desk import Desk

EXAMPLES = Path(__file__).parent.parent.parent / "examples" / "explore"
ROWS: list[dict[str, Any]] = json.loads((EXAMPLES / "expected.json").read_text())

pytestmark = pytest.mark.skipif(shutil.which("strace") is None, reason="strace looks on")


def located(word: str) -> str:
    """A word of the table; one that names an example's file is given in full."""
    if word == "python3":
        return sys.executable
    path = EXAMPLES / word
    return str(path) if path.is_file() else word


def command_of(row: dict[str, Any], directory: Path) -> list[str]:
    """The row's command line; what has to be built is built in the directory."""
    words = [located(word) for word in row["command"]]
    if "built_by" in row:
        built_by = [located(word) for word in row["built_by"]]
        if shutil.which(built_by[0]) is None:
            pytest.skip(f"{built_by[0]} is not installed")
        subprocess.run(built_by, cwd=directory, check=True, timeout=60)
        words[0] = str(directory / words[0])
    if shutil.which(words[0]) is None:
        pytest.skip(f"{words[0]} is not installed")
    return words


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_an_example_comes_to_its_verdict(row: dict[str, Any], tmp_path: Path) -> None:
    command = command_of(row, tmp_path)
    check = str(EXAMPLES / row["check"])
    safe = row["kill_safe"] and row["power_safe"]
    question = ["--no-resume", "--check", check, "--power-loss"]
    if not safe:
        question += ["--budget", "100"]  # what is wrong is found in few runs
    ran = Desk(tmp_path).run("explore", *question, "--", *command)
    told = ran.document
    assert (ran.status, told["kill_safe"], told["power_safe"], told["invalid"]) == (
        0 if safe else 1,
        row["kill_safe"],
        row["power_safe"],
        [],
    ), ran
    details = [finding["detail"] for finding in told["findings"]]
    assert any(row["found"] in detail for detail in details) if row["found"] else not details
    assert told["power"]["ways"] > 1
    assert not safe or told["power"]["untried"] == 0


def test_every_file_of_the_examples_is_in_the_table() -> None:
    named = {word for row in ROWS for word in [*row["command"], *row.get("built_by", ())]}
    named |= {row["check"].partition(":")[0] for row in ROWS}
    files = {path.name for path in EXAMPLES.iterdir() if path.is_file()}
    assert files - named == {"expected.json"}
