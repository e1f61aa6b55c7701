"""Runs a program once under strace, and tells what it did to a directory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from resumeproof.crash.syscalls.operations import Recording


def record(
    argv: Sequence[str],
    *,
    directory: Path,
    origin: Path,
    domains: Sequence[str] = ("",),
    env: Mapping[str, str] | None = None,
    timeout_seconds: float = 60.0,
    stack: bool = False,
) -> Recording:
    """Run a program with `directory` as its working directory, and return what it did there.

    `origin` is made: a copy of the directory as it was before, from which it is rebuilt. The
    directory itself holds what the program left behind when this returns.
    """
    raise NotImplementedError
