"""What few runs say of very many power cuts is what all of them say, run one by one."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.desk import Desk

ALL, FEW = "5000", "120"

WRITER = """
import os, zlib
log = os.open("log", os.O_WRONLY | os.O_CREAT, 0o644)
os.fsync(log)
os.fsync(os.open(".", os.O_RDONLY))
position = 0
for number in range(3):
    body = bytes([65 + number]) * (90 if number % 2 else 700)
    head = len(body).to_bytes(4, "big") + zlib.crc32(body).to_bytes(4, "big")
    os.pwrite(log, head, position)
    os.pwrite(log, body, position + 8)
    position += 8 + len(body)
os.fsync(log)
print("saved", flush=True)
"""

CHECKER = '''
import os, zlib

def lines(directory, checked):
    """The bodies up to the first that is not whole, read as a recovery reads."""
    found, position = [], 0
    log = os.open(directory / "log", os.O_RDONLY) if (directory / "log").exists() else None
    while log is not None:
        head = os.pread(log, 8, position)
        if len(head) < 8 or not any(head):
            break
        body = os.pread(log, int.from_bytes(head[:4], "big"), position + 8)
        if checked and zlib.crc32(body) != int.from_bytes(head[4:], "big"):
            break
        found.append(body)
        position += 8 + len(body)
    if log is not None:
        os.close(log)
    return found

def whole(directory, printed, checked=True):
    found = lines(directory, checked)
    for number, body in enumerate(found):
        if body != bytes([65 + number]) * (90 if number % 2 else 700):
            return "a line holds something else"
    if printed and len(found) < 3:
        return "a line is lost that was saved"

def trusting(directory, printed):
    return whole(directory, printed, checked=False)
'''

pytestmark = pytest.mark.skipif(shutil.which("strace") is None, reason="strace looks on")


def explored(desk: Desk, check: str, budget: str) -> dict[str, Any]:
    writer, checker = desk.path / "writer.py", desk.path / "checker.py"
    writer.write_text(WRITER)
    checker.write_text(CHECKER)
    ran = desk.run(
        "explore",
        *("--no-resume", "--check", f"{checker}:{check}", "--power-loss", "--budget", budget),
        *("--", sys.executable, str(writer)),
    )
    assert ran.document["invalid"] == [], ran
    return ran.document


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.mark.parametrize(
    ("check", "power_safe", "found"),
    [("whole", True, set()), ("trusting", False, {"a line holds something else"})],
)
def test_few_runs_find_what_all_ways_would(
    desk: Desk, check: str, power_safe: bool, found: set[str]
) -> None:
    every, few = explored(desk, check, ALL), explored(desk, check, FEW)
    assert every["power"]["untried"] == 0
    assert every["power"]["ways"] == few["power"]["ways"] in range(500, int(ALL))
    for told in (every, few):
        details = {each["detail"] for each in told["findings"] if each["power_loss"]}
        assert (told["power_safe"], details) == (power_safe, found)
    assert few["power"]["untried"] == 0 or not power_safe
