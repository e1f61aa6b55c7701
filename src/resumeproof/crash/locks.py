"""Which files a process holds a kernel lock on.

Source: proc(5), /proc/pid/fdinfo: a descriptor whose open file bears a lock has `lock:` lines, for
flock(2) in whatever process that shares the open file, for fcntl(2) only in the one that took it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path


def locked_files(pid: int) -> frozenset[Path]:
    """The files that a process holds a kernel lock on; none where /proc does not tell."""
    return frozenset(_locked_files(Path("/proc") / str(pid)))


def _locked_files(process: Path) -> Iterator[Path]:
    try:
        descriptors = list((process / "fdinfo").iterdir())
    except OSError:
        return
    for descriptor in descriptors:
        try:
            if "\nlock:" in descriptor.read_text():
                yield (process / "fd" / descriptor.name).readlink()
        except OSError:
            continue  # closed, or gone with its process, meanwhile
