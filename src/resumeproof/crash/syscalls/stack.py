"""Which line of a program made a call, out of the stack that `strace -k` prints."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

_FRAME: Final = re.compile(r"(?P<module>\S+?)\((?P<symbol>.*)\) \[(?P<address>0x[0-9a-f]+)\]")
_RUNTIME: Final = re.compile(r"/(?:libc|libpthread|ld-linux|ld-musl|libasan)[^/]*$")
_INTERPRETER: Final = re.compile(r"/(?:lib)?(?:python|node|perl|ruby|bash|dash|busybox)[^/]*$")
_ADDR2LINE_SECONDS: Final = 10.0


def source_of(frames: Sequence[str]) -> str | None:
    """The innermost frame that is no C library's: file and line where known, else its symbol.

    None where that is an interpreter's: its own lines say nothing of the script that it runs.
    """
    for frame in frames:
        parts = _FRAME.match(frame)
        if parts is not None and not _RUNTIME.search(parts["module"]):
            if _INTERPRETER.search(parts["module"]):
                return None
            line = _line_of(parts["module"], parts["address"])
            return line or f"{os.path.basename(parts['module'])}({parts['symbol']})"  # noqa: PTH119
    return None


@lru_cache(maxsize=4096)
def _line_of(module: str, address: str) -> str | None:
    """File and line of an address, from the debugging information that the module may have."""
    addr2line = shutil.which("addr2line")
    if addr2line is None:
        return None
    # One byte back: the address is where the call returns to, which may be the next line.
    place = hex(int(address, 16) - 1)
    try:
        found = subprocess.run(
            [addr2line, "-e", module, place],
            capture_output=True,
            text=True,
            timeout=_ADDR2LINE_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
    line = found.stdout.strip().partition(" ")[0]
    return None if not line or line.startswith("?") or line.endswith(":?") else line
