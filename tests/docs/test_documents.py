"""What the documents of this repository show is run, and what they point to is there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from docs_regions import ROOT, documents, help_pages
from tests.docs.blocks import run_python, session_problems
from tests.docs.links import broken_links

DOCUMENTS = documents(ROOT)
RECORDS = frozenset({"explore.md", "conform.md"})
SHOWN_DIRECTORIES = ("examples", "demo-output")

every_document = pytest.mark.parametrize(
    "path", DOCUMENTS, ids=[str(path.relative_to(ROOT)) for path in DOCUMENTS]
)


SQLITE_STAND_IN = f"""#!{sys.executable}
import sqlite3, sys
for row in sqlite3.connect(sys.argv[1]).execute(sys.argv[2]):
    print("|".join("" if value is None else str(value) for value in row))
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory that holds what a reader of the documents has at hand."""
    for name in SHOWN_DIRECTORIES:
        if (ROOT / name).exists():
            shutil.copytree(ROOT / name, tmp_path / name)
    if shutil.which("sqlite3") is None:
        stand_in = tmp_path / "bin" / "sqlite3"
        stand_in.parent.mkdir()
        stand_in.write_text(SQLITE_STAND_IN)
        stand_in.chmod(0o755)
        monkeypatch.setenv("PATH", str(stand_in.parent), prepend=os.pathsep)
    return tmp_path


@every_document
def test_python_blocks_run(path: Path, place: Path) -> None:
    ran = run_python(path.read_text(encoding="utf-8"), place)
    assert ran.returncode == 0, ran.stderr


@every_document
def test_console_sessions_print_what_is_shown(path: Path, place: Path) -> None:
    if path.name in RECORDS and shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    problems = session_problems(path.read_text(encoding="utf-8"), place)
    assert problems == [], "\n".join(problems)


@pytest.mark.parametrize(
    "path",
    [*DOCUMENTS, ROOT / "CHANGELOG.md"],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_links_resolve(path: Path) -> None:
    assert broken_links(path) == []


def test_every_command_is_documented() -> None:
    headings = re.findall(r"^#+ `?(resumeproof.*?)`?$", (ROOT / "docs/cli.md").read_text(), re.M)
    assert set(help_pages()) <= set(headings)


def test_every_environment_variable_is_documented() -> None:
    text = "".join(help_pages().values()) + "".join(
        path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py")
    )
    named = set(re.findall(r"\bRESUMEPROOF_[A-Z]+\b", text))
    documented = set(re.findall(r"`(RESUMEPROOF_[A-Z]+)`", (ROOT / "docs/cli.md").read_text()))
    assert (len(named) > 2, named - documented, documented - named) == (True, set(), set())


# Spelled so that this file does not hold what it looks for.
MACHINE = re.compile(
    rb"(?<![\w.])/(?:work|farm|root|home/\w+|Users/\w+|tmp/\w+)/"
    rb"|pypi[.]org|pythonhosted[.]org|npmjs[.]org|debian[.]org"
)

NAMES_A_MACHINE = {
    "a path": (b'open("' + b"/root" + b'/file")', True),
    "a path at the start": (b"/tmp" + b"/one/two", True),
    "a registry": (b"https://" + b"pypi" + b".org/simple", True),
    "a relative path": (b"src/work/file", False),
    "a system path": (b"/usr/bin/env sh", False),
}


@pytest.mark.parametrize(("text", "found"), NAMES_A_MACHINE.values(), ids=NAMES_A_MACHINE)
def test_the_name_of_a_machine_is_recognised(text: bytes, found: bool) -> None:
    assert bool(MACHINE.search(text)) is found


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="no checkout, so no list of its files")
def test_no_file_names_a_machine_or_a_registry() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    named = [
        f"{path.relative_to(ROOT)}: {match[0]!r}"
        for path in paths
        if path.exists() and (match := MACHINE.search(path.read_bytes()))
    ]
    assert (len(paths) > 0, named) == (True, [])
