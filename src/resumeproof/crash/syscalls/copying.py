"""Copies of directories: names, kinds, bytes, permissions and hard links, as they are."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

_AT_ONCE_BYTES: Final = 1 << 16
_PIECE_BYTES: Final = 1 << 30


@dataclass(frozen=True, slots=True)
class Entry:
    """What is at a path below a directory. `identity` is the same for two names of one file."""

    path: str
    kind: Literal["file", "directory", "link"]
    mode: int
    identity: tuple[int, int]


def entries_of(directory: Path) -> Iterator[Entry]:
    """All entries below a directory in one fixed order, parents first; no sockets, no pipes."""
    yield from _entries(str(directory), "")


def _entries(directory: str, prefix: str) -> Iterator[Entry]:
    with os.scandir(directory) as scanned:
        found = sorted(scanned, key=lambda entry: entry.name)
    for entry in found:
        status = entry.stat(follow_symlinks=False)
        mode, identity = stat.S_IMODE(status.st_mode), (status.st_dev, status.st_ino)
        path = prefix + entry.name
        if stat.S_ISREG(status.st_mode):
            yield Entry(path, "file", mode, identity)
        elif stat.S_ISLNK(status.st_mode):
            yield Entry(path, "link", mode, identity)
        elif stat.S_ISDIR(status.st_mode):
            yield Entry(path, "directory", mode, identity)
            yield from _entries(entry.path, f"{path}/")


def number_files(directory: Path) -> dict[str, int]:
    """Number the regular files below a directory by path, from 1; hard links share a number."""
    numbers: dict[tuple[int, int], int] = {}
    return {
        entry.path: numbers.setdefault(entry.identity, len(numbers) + 1)
        for entry in entries_of(directory)
        if entry.kind == "file"
    }


def copy_tree(source: Path, target: Path) -> None:
    """Copy what is below `source` to `target`, which is made; data is shared where it can be."""
    target.mkdir()
    written: dict[tuple[int, int], str] = {}
    directories = [(str(target), stat.S_IMODE(source.stat().st_mode))]
    for entry in entries_of(source):
        destination = f"{target}/{entry.path}"
        if entry.kind == "directory":
            os.mkdir(destination)  # noqa: PTH102 - thousands of times
            directories.append((destination, entry.mode))
        elif entry.kind == "link":
            os.symlink(os.readlink(f"{source}/{entry.path}"), destination)  # noqa: PTH115, PTH211
        elif (first := written.get(entry.identity)) is not None:
            os.link(first, destination)
        else:
            copy_file(f"{source}/{entry.path}", destination, entry.mode)
            written[entry.identity] = destination
    # Innermost first, and last of all: in a directory that is read-only nothing can be made.
    for path, mode in reversed(directories):
        os.chmod(path, mode)  # noqa: PTH101


def copy_file(source: str, target: str, mode: int) -> None:
    """Copy the bytes of a regular file into a new one."""
    reading = os.open(source, os.O_RDONLY | os.O_CLOEXEC)
    try:
        writing = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            size = os.fstat(reading).st_size
            if size <= _AT_ONCE_BYTES:
                os.write(writing, os.read(reading, size))
            else:
                _copy_large(reading, writing)
            os.fchmod(writing, mode)
        finally:
            os.close(writing)
    finally:
        os.close(reading)


def _copy_large(reading: int, writing: int) -> None:
    try:
        # Shares the blocks on file systems that can.
        while os.copy_file_range(reading, writing, _PIECE_BYTES):
            pass
    except OSError:
        # Not between these two file systems.
        os.lseek(reading, 0, os.SEEK_SET)
        os.ftruncate(writing, 0)
        os.lseek(writing, 0, os.SEEK_SET)
        while piece := os.read(reading, _AT_ONCE_BYTES):
            os.write(writing, piece)
