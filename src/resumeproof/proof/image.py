"""Directories as images: copied, hashed byte by byte, and told apart by what they mean.

Two images with the same bytes are the same state, and are resumed once. Two with other bytes may
still mean the same, since SQLite puts random salts into its logs: what they *mean* takes a
database by its contents.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from resumeproof.stores.sqlite import connect

_SQLITE_MAGIC = b"SQLite format 3\0"
_COMPANIONS = ("-wal", "-shm", "-journal")
_READ_BYTES = 1 << 16


def copy_image(source: Path, target: Path) -> None:
    """Copy a directory's entries as they are: links stay links, sockets and pipes are left out."""
    _copy_directory(str(source), str(target))


def _copy_directory(source: str, target: str) -> None:
    # Done for each scenario, in texts: paths as objects would cost as much as the copy.
    os.mkdir(target)  # noqa: PTH102
    with os.scandir(source) as entries:
        for entry in entries:
            destination = f"{target}/{entry.name}"
            mode = entry.stat(follow_symlinks=False).st_mode
            if stat.S_ISREG(mode):
                _copy_file(entry.path, destination, mode)
            elif stat.S_ISDIR(mode):
                _copy_directory(entry.path, destination)
            elif stat.S_ISLNK(mode):
                os.symlink(os.readlink(entry.path), destination)  # noqa: PTH115, PTH211
    shutil.copystat(source, target)


def _copy_file(source: str, target: str, mode: int) -> None:
    with open(source, "rb", buffering=0) as original, open(target, "xb", buffering=0) as copy:
        shutil.copyfileobj(original, copy, _READ_BYTES)
        os.chmod(target, stat.S_IMODE(mode))  # noqa: PTH101


def byte_digest(directory: Path, *, without: tuple[str, ...] = ()) -> str:
    """A digest of all names, kinds and bytes below a directory, which may be gone.

    Files whose name ends in one of `without` are left out: those that no resume reads.
    """
    digest = hashlib.blake2b(digest_size=16)
    for relative, entry in _walk(str(directory)):
        if without and relative.endswith(without):
            continue
        digest.update(os.fsencode(relative) + b"\0")
        if entry is None:
            continue
        if entry.is_symlink():
            digest.update(b"l" + os.fsencode(_target(entry)))
        elif entry.is_file():
            digest.update(b"f" + _content(entry.path))
    return digest.hexdigest()


def meanings(directory: Path) -> dict[str, str]:
    """What each entry below a directory means, by its relative name.

    SQLite databases are taken by their contents, and their logs left out.
    """
    meant = {}
    for relative, entry in _walk(str(directory)):
        if _is_companion(relative, entry):
            continue
        if entry is not None and entry.is_symlink():
            meant[relative] = f"link to {_target(entry)}"
        elif entry is not None and entry.is_file():
            meant[relative] = (_contents_of_database(entry.path) or _content(entry.path)).hex()
        else:
            meant[relative] = ""
    return meant


def state_digest(meant: Mapping[str, str]) -> str:
    """A digest of what a state means, by whatever says it."""
    text = repr(sorted(meant.items())).encode("utf-8", "backslashreplace")
    return hashlib.blake2b(text, digest_size=16).hexdigest()


def _walk(directory: str, relative: str = "") -> Iterator[tuple[str, os.DirEntry[str] | None]]:
    """The relative names of all entries, in order; in place of a directory that is gone, None."""
    try:
        with os.scandir(directory) as entries:
            ordered = sorted(entries, key=lambda entry: entry.name)
    except FileNotFoundError:
        yield f"{relative}/", None
        return
    for entry in ordered:
        name = f"{relative}/{entry.name}"
        yield name, entry
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(entry.path, name)


def _target(link: os.DirEntry[str]) -> str:
    return os.readlink(link.path)  # noqa: PTH115


def _content(path: str) -> bytes:
    digest = _blake2b()
    with open(path, "rb", buffering=0) as file:
        while piece := file.read(_READ_BYTES):
            digest.update(piece)
    return digest.digest()


def _blake2b() -> hashlib.blake2b:
    return hashlib.blake2b(digest_size=16)


def _is_companion(relative: str, entry: os.DirEntry[str] | None) -> bool:
    return entry is not None and any(
        relative.endswith(suffix) and _is_database(entry.path.removesuffix(suffix))
        for suffix in _COMPANIONS
    )


def _is_database(path: str) -> bool:
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read(len(_SQLITE_MAGIC)) == _SQLITE_MAGIC
    except OSError:
        return False


def _contents_of_database(path: str) -> bytes | None:
    """A digest of what a database says, its pending log included; None if it is none, or damaged.

    A copy is asked, since asking may recover, and so change, what is there.
    """
    if not _is_database(path):
        return None
    import sqlite3
    import tempfile

    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / "database"
        shutil.copyfile(path, copy)
        for suffix in ("-wal", "-journal"):
            if Path(path + suffix).is_file():
                shutil.copyfile(path + suffix, copy.with_name(copy.name + suffix))
        try:
            connection = connect(copy, "rw")
        except sqlite3.Error:
            return None
        try:
            # A copy that nobody needs tomorrow: closing it would wait for the disk.
            connection.execute("PRAGMA synchronous = OFF")
            digest = _blake2b()
            for line in connection.iterdump():
                digest.update(line.encode("utf-8", "surrogateescape") + b"\n")
            return b"sqlite" + digest.digest()
        except (sqlite3.Error, UnicodeError):
            return None
        finally:
            connection.close()
