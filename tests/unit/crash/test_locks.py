"""Which files a process holds a kernel lock on, as the kernel tells it."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO

import pytest

from resumeproof.crash.locks import locked_files

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has fdinfo")


def with_flock(file: IO[str]) -> None:
    fcntl.flock(file, fcntl.LOCK_EX)


def with_lockf(file: IO[str]) -> None:
    fcntl.lockf(file, fcntl.LOCK_EX)


def shared(file: IO[str]) -> None:
    fcntl.flock(file, fcntl.LOCK_SH)


@pytest.mark.parametrize("take", [with_flock, with_lockf, shared])
def test_a_lock_shows_while_it_is_held(take: Callable[[IO[str]], None], tmp_path: Path) -> None:
    with (tmp_path / "locked").open("w") as locked, (tmp_path / "other").open("w"):
        before = locked_files(os.getpid())
        take(locked)
        held = locked_files(os.getpid())
    after = locked_files(os.getpid())
    assert (set(held - before), after) == ({tmp_path / "locked"}, before)


INHERITED = {"flock is the open file's": (with_flock, True), "fcntl's is not": (with_lockf, False)}


@pytest.mark.parametrize(("take", "inherited"), INHERITED.values(), ids=INHERITED)
def test_a_child_shares_what_it_inherits(
    take: Callable[[IO[str]], None], inherited: bool, tmp_path: Path
) -> None:
    with (tmp_path / "locked").open("w") as locked:
        take(locked)
        with subprocess.Popen(
            ["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, pass_fds=[locked.fileno()]
        ) as child:
            held = locked_files(child.pid)
            assert child.stdin is not None
            child.stdin.close()
    assert held == ({tmp_path / "locked"} if inherited else set())


def test_a_process_that_is_gone_holds_nothing() -> None:
    with subprocess.Popen(["true"]) as child:
        child.wait()
    assert locked_files(child.pid) == frozenset()
