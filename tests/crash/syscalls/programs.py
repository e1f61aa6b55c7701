"""Programs to record, and directories as they lie on the disk."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from resumeproof.crash.syscalls.operations import Recording
from resumeproof.crash.syscalls.recorder import record

CHILDREN = Path(__file__).parent / "children"
SECONDS = 60.0

needs_strace = pytest.mark.skipif(
    shutil.which("strace") is None, reason="strace is not installed: apt-get install strace"
)

# What an earlier run compiled or hashed must not be what a later run does otherwise.
REPEATABLE = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0"}


@dataclass(frozen=True)
class Site:
    """Where a program runs, and the copy of what was there before."""

    directory: Path
    origin: Path

    def record(self, argv: Sequence[str], seconds: float = SECONDS) -> Recording:
        return record(
            argv,
            directory=self.directory,
            origin=self.origin,
            env=REPEATABLE,
            timeout_seconds=seconds,
        )


def site_in(base: Path) -> Site:
    """An empty directory of the program's, below `base`."""
    directory = base / "directory"
    directory.mkdir()
    return Site(directory, base / "origin")


def python(script: str, *arguments: str) -> list[str]:
    return [sys.executable, str(CHILDREN / script), *arguments]


def python_code(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def shell(script: str) -> list[str]:
    return ["/bin/sh", str(CHILDREN / script)]


def compiled(script: str, base: Path) -> list[str]:
    """A C program, compiled where a compiler is."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    program = base / "program"
    subprocess.run([compiler, "-g", "-o", program, CHILDREN / script], check=True, timeout=SECONDS)
    return [str(program)]


def snapshot(directory: Path) -> dict[str, tuple[str, int, bytes | str | None, str]]:
    """Each entry's kind, permissions, content and first name, but for the contents of `-shm`."""
    found: dict[str, tuple[str, int, bytes | str | None, str]] = {}
    first: dict[int, str] = {}
    for path in [directory, *sorted(directory.rglob("*"))]:
        name, status = path.relative_to(directory).as_posix(), path.lstat()
        mode = stat.S_IMODE(status.st_mode)
        same = first.setdefault(status.st_ino, name)
        if path.is_symlink():
            found[name] = ("link", 0, os.readlink(path), same)  # noqa: PTH115
        elif path.is_dir():
            found[name] = ("directory", mode, None, same)
        else:
            content = None if name.endswith("-shm") else path.read_bytes()
            found[name] = ("file", mode, content, same)
    return found
