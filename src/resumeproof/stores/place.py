"""Where a store lies: its one true path, its links, and raw reading that drops no lock."""

from __future__ import annotations

import errno
import os
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from resumeproof.errors import (
    ForkedHandle,
    SameStore,
    StoreNotFound,
    StoreRefused,
    StoreUnavailable,
)

Inode = tuple[int, int]
COPY_BLOCK_BYTES = 1 << 20


def resolved(path: str | os.PathLike[str]) -> Path:
    """Return the absolute path without symbolic links, so that an alias is the same lock.

    Raises StoreNotFound for a relative path in a working directory that was removed.
    """
    try:
        return Path(os.path.realpath(path))
    except FileNotFoundError as error:
        raise StoreNotFound("directory", os.curdir) from error


def stat_store(path: Path, kind_name: str) -> os.stat_result:
    """Return the status of a regular file.

    Raises StoreNotFound where nothing is, StoreRefused for whatever is no readable regular file.
    """
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise StoreNotFound(kind_name, str(path)) from error
    except OSError as error:
        raise StoreRefused(kind_name, str(path), cause_of(error)) from error
    if stat.S_ISDIR(status.st_mode):
        raise StoreRefused(kind_name, str(path), "it is a directory")
    if not stat.S_ISREG(status.st_mode):
        raise StoreRefused(kind_name, str(path), "it is not a regular file")
    return status


def is_directory(path: Path) -> bool:
    """Whether a directory is there; False as well where a name is too long to be looked up."""
    try:
        return path.is_dir()
    except OSError:
        return False


def refuse_missing_directory(directory: Path) -> None:
    """Raise StoreNotFound where there is no such directory.

    Raises StoreUnavailable where one cannot tell: its name is too long, or may not be looked up.
    """
    try:
        found = stat.S_ISDIR(directory.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        found = False
    except OSError as error:
        raise StoreUnavailable("directory", str(directory), cause_of(error)) from error
    if not found:
        raise StoreNotFound("directory", str(directory))


def cause_of(error: OSError) -> str:
    """The cause of a failed file operation, in a few words."""
    if error.errno == errno.ELOOP:
        return "its symbolic links lead in a circle"
    return (error.strerror or str(error)).lower()


def inode_of(status: os.stat_result) -> Inode:
    """What tells one file from another, whatever its names."""
    return status.st_dev, status.st_ino


def refuse_same_file(journal: str | os.PathLike[str], ledger: str | os.PathLike[str]) -> None:
    """Raise SameStore if both paths are one file, by symbolic link, hard link or spelling.

    Neither needs to exist. Case-insensitive file systems are seen through as far as
    `os.path.samefile` does.
    """
    first, second = resolved(journal), resolved(ledger)
    same = first == second
    if not same:
        # What is not there, or may not be looked at, whoever opens it says so.
        with suppress(OSError):
            same = first.samefile(second)
    if same:
        raise SameStore(str(journal), str(ledger))


# -- raw reading -----------------------------------------------------------------------------
#
# POSIX drops *all* fcntl locks of a process on a file as soon as the process closes *any*
# descriptor of that file. So a descriptor of a store that this process has open through SQLite is
# kept, and used again, until the last handle is closed.
# Source: sqlite.org/howtocorrupt.html, section 2.2.


@dataclass
class _Held:
    pid: int
    handles: int = 0
    descriptors: list[int] = field(default_factory=list)


_held: dict[Inode, _Held] = {}
_held_lock = threading.Lock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_held_lock.acquire,
        after_in_parent=_held_lock.release,
        after_in_child=_held_lock.release,
    )


def hold(inode: Inode, kind_name: str, path: Path) -> None:
    """Count a SQLite handle of this process. Call it before connecting.

    Raises ForkedHandle if a handle of the same file was inherited through a fork: SQLite would
    believe that it shares the parent's locks, which no child does.
    """
    with _held_lock:
        held = _held.setdefault(inode, _Held(os.getpid()))
        if held.pid != os.getpid():
            raise ForkedHandle(kind_name, str(path), held.pid, os.getpid())
        held.handles += 1


def release(inode: Inode) -> None:
    """Uncount a handle of this process, after SQLite closed it."""
    with _held_lock:
        held = _held[inode]
        held.handles -= 1
        if held.handles == 0:
            del _held[inode]
            for descriptor in held.descriptors:
                os.close(descriptor)


def is_held(inode: Inode) -> bool:
    """Whether this process has the file open through SQLite."""
    with _held_lock:
        return inode in _held


@contextmanager
def raw(path: Path) -> Iterator[int]:
    """Yield a read-only descriptor, for `read_at`, whose end drops no lock of this process.

    Raises OSError.
    """
    inode = inode_of(path.stat())
    with _held_lock:
        held = _held.get(inode)
        kept = held is not None and bool(held.descriptors)
        if held is not None and kept:
            held.handles += 1
            descriptor = held.descriptors[0]
        else:
            descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        yield descriptor
    finally:
        if kept:
            release(inode)
        else:
            with _held_lock:
                held = _held.get(inode_of(os.fstat(descriptor)))
                if held is None:
                    os.close(descriptor)
                else:
                    held.descriptors.append(descriptor)


def read_at(descriptor: int, size_bytes: int, offset: int) -> bytes:
    """Read up to `size_bytes` at `offset`. Raises OSError."""
    if hasattr(os, "pread"):
        return os.pread(descriptor, size_bytes, offset)
    os.lseek(descriptor, offset, os.SEEK_SET)
    return os.read(descriptor, size_bytes)


def copy_raw(path: Path, target: Path) -> None:
    """Copy the bytes of a store. Raises OSError."""
    with raw(path) as descriptor, target.open("xb") as stream:
        offset = 0
        while block := read_at(descriptor, COPY_BLOCK_BYTES, offset):
            stream.write(block)
            offset += len(block)
