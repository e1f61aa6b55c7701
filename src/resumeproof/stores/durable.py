"""Writing to files so that what was written outlives a power loss, in the order it was written.

Sources: fsync(2), rename(2); "All File Systems Are Not Created Equal" (Pillai et al., OSDI 2014).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path


def write_synced(path: Path, data: bytes) -> None:
    """Write a file whole and sync it; its name is not yet durable. Raises OSError."""
    with path.open("wb", buffering=0) as file:
        write_all(file.fileno(), data)
        os.fsync(file.fileno())


def replace_durably(path: Path, data: bytes) -> None:
    """Replace a file in one step: a temporary file, synced, renamed, and its directory synced.

    Raises OSError. Before the rename, the file is as it was and nothing else is left; after it, it
    is replaced, whether or not syncing the directory failed.
    """
    temporary = temporary_of(path)
    try:
        write_synced(temporary, data)
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    # Without this the rename itself may be lost with the power.
    sync_directory(path.parent)


def temporary_of(path: Path) -> Path:
    """Where `replace_durably` writes a file before it has its name."""
    return path.with_name(f".{path.name}.new")


def append_synced(path: Path, offset: int, data: bytes) -> None:
    """Write `data` behind the first `offset` bytes of a file, where it ends, and sync it.

    Raises OSError, with the file cut off at `offset` again as far as that is possible.
    """
    with path.open("r+b", buffering=0) as file:
        file.seek(offset)
        try:
            write_all(file.fileno(), data)
            os.fsync(file.fileno())
        except OSError:
            # After a failed fsync the kernel may show what the disk never got. Source: fsync(2).
            _cut(file.fileno(), offset)
            raise


def cut_durably(path: Path, length_bytes: int) -> None:
    """Cut a file off behind `length_bytes`, if it is longer, and sync it. Raises OSError.

    Synced by itself: else a power loss could show the new bytes at their place and the old behind.
    """
    with path.open("r+b", buffering=0) as file:
        if os.fstat(file.fileno()).st_size > length_bytes:
            os.ftruncate(file.fileno(), length_bytes)
        os.fsync(file.fileno())


def sync_directory(directory: Path) -> None:
    """Make the names in a directory durable. Raises OSError."""
    # Windows cannot open a directory, and makes its entries durable by itself.
    if sys.platform == "win32":
        return
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_all(descriptor: int, data: bytes) -> None:
    """Write `data`, in as many writes as the kernel wants. Raises OSError."""
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]


def _cut(descriptor: int, length_bytes: int) -> None:
    try:
        os.ftruncate(descriptor, length_bytes)
        os.fsync(descriptor)
    except OSError:
        pass  # The first failure is on its way up, and tells what is wrong with the disk.
