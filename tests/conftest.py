"""What holds for every test: nothing is left behind, and generated examples are reproducible."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from hypothesis import settings

TESTS = Path(__file__).parent
# Each of these starts many processes, or walks many states.
SLOW = (
    "browser",
    "cli",
    "conformance",
    "docs",
    "golden",
    "lab",
    "model",
    "subjects",
    "unit/evidence",
)
MARK_OF_FOLDER = {TESTS / "crash": "crash"} | {TESTS / name: "slow" for name in SLOW}

BROWSER = TESTS / "browser"

settings.register_profile(
    "gate", max_examples=200, deadline=None, derandomize=True, print_blob=True
)
settings.register_profile(
    "campaign", max_examples=2_000, deadline=None, derandomize=False, print_blob=True
)
# `--hypothesis-profile` comes later, and wins.
settings.load_profile("gate")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for folder, mark in MARK_OF_FOLDER.items():
            if item.path.is_relative_to(folder):
                item.add_marker(mark)
    # Side by side and at the front, so that it is one worker that starts a browser.
    items.sort(key=lambda item: not item.path.is_relative_to(BROWSER))


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """Fail a test that leaves a child process, alive or unreaped, or an open file.

    What was left is ended, so that one test's leak is not the next one's failure or the run's hang.
    """
    this = psutil.Process()
    children, files = set(_children(this)), _open_files(this)
    yield
    left = [child for child in _children(this) if child not in children]
    described = [f"{child.pid} {child.name()} ({child.status()})" for child in left]
    for child in left:
        child.kill()
    psutil.wait_procs(left, timeout=10)
    opened = [path for path, _ in _open_files(this) - files]
    assert (described, opened) == ([], []), "left behind: child processes, open files"


def _children(process: psutil.Process) -> list[psutil.Process]:
    """This process's children and theirs. Whether there is any the kernel tells at once."""
    if hasattr(os, "waitid"):
        try:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return []
    return process.children(recursive=True)


def _open_files(process: psutil.Process) -> set[tuple[str, int]]:
    """Path and descriptor of each; not the position, which moves where output goes to a file."""
    return {(file.path, file.fd) for file in process.open_files()}
