"""strace: where it is, what it is asked, and what it says when it may not."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from resumeproof.errors import StraceMissing

_STRING_BYTES: Final = 1 << 25
"""What is written in one piece beyond this is cut short, and said to be not covered."""

_READING: Final = ("read", "readv", "pread64", "preadv", "preadv2", "getdents", "getdents64")

_FORBIDDEN: Final = re.compile(r"^.*strace: .*\bptrace\b.*$", re.MULTILINE)


def find_strace() -> str:
    """The path of strace. Raises `StraceMissing`."""
    found = shutil.which("strace") if sys.platform == "linux" else None
    if found is None:
        raise StraceMissing(platform=sys.platform)
    return found


def command_line(
    program: Sequence[str | os.PathLike[str]], calls: Iterable[str], trace: Path, *, stack: bool
) -> list[str | os.PathLike[str]]:
    """The command that runs a program under strace and has its calls written to `trace`.

    The program stays this process's child (`--daemonize`), so that its wait status and its end are
    its own, whatever it leaves running. Reads are printed raw: their bytes say nothing.
    """
    return [
        find_strace(),
        "--daemonize",
        "--quiet=attach",
        *_asked(calls, trace),
        *(["--stack-traces"] if stack else []),
        "--",
        *program,
    ]


def attaching_line(
    process: int, calls: Iterable[str], trace: Path, *, string_bytes: int = _STRING_BYTES
) -> list[str]:
    """The command that does the same to a process that is there, and says so once it has it.

    Of what is written so many bytes are told at most; names are always told whole, strace(1).
    """
    return [find_strace(), *_asked(calls, trace, string_bytes), f"--attach={process}"]


def _asked(calls: Iterable[str], trace: Path, string_bytes: int = _STRING_BYTES) -> list[str]:
    return [
        "--follow-forks",
        "--syscall-number",
        "--decode-fds=path",
        "--strings-in-hex=all",
        f"--string-limit={string_bytes}",
        "--signal=none",
        "--raw=" + ",".join(_READING),
        "--trace=" + ",".join(f"?{name}" for name in sorted(calls)),
        f"--output={trace}",
    ]


def refusal(stderr: str) -> str | None:
    """The line in which strace said that it may not trace; None if there is none."""
    found = _FORBIDDEN.search(stderr)
    return None if found is None else found[0]
