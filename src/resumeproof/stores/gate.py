"""The gate: one at a time opens, closes or creates a store in a directory.

Going to WAL and back takes SQLite's exclusive lock, for which SQLite does not wait, and two that
close at once would each see the other and both leave the store in WAL. The gate is the kernel's
flock(2) on the *directory*: it leaves no file, needs no permission to write, ends with its holder
and cannot meet SQLite's own locks, which are on the file.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from resumeproof.errors import StoreNotFound, StoreUnavailable

POLL_SECONDS = 0.002


@contextmanager
def gate(
    path: Path, kind_name: str, timeout_seconds: float, *, shared: bool = False
) -> Iterator[bool]:
    """Hold the gate of the directory of `path`; yield whether the gate is real here.

    Where directories cannot be locked (Windows, some network file systems), it yields False, and
    what is done inside has to be safe, if perhaps less tidy, without it.
    Raises StoreNotFound without a directory, StoreUnavailable after `timeout_seconds`.
    """
    if sys.platform == "win32":
        yield False
        return
    import fcntl

    try:
        descriptor = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise StoreNotFound(kind_name, str(path)) from error
    except OSError:
        # A directory that may be searched and not read: --x.
        yield False
        return
    try:
        deadline = time.monotonic() + timeout_seconds
        held = False
        operation = (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB
        while not held:
            try:
                fcntl.flock(descriptor, operation)
                held = True
            except BlockingIOError as error:
                if time.monotonic() > deadline:
                    cause = f"others were opening or closing it for {timeout_seconds:g} s"
                    raise StoreUnavailable(kind_name, str(path), cause) from error
                time.sleep(POLL_SECONDS)
            except OSError:
                break
        yield held
    finally:
        # A forked child may have the descriptor as well: closing alone would not release.
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)
