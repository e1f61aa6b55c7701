"""Files of evidence: written whole or not at all, and told apart by their bytes."""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path

from resumeproof.errors import StoreNotFound, StoreUnavailable
from resumeproof.stores.durable import replace_durably
from resumeproof.stores.place import cause_of


def open_regular(path: Path) -> BufferedReader:
    """Open a regular file to be read; a pipe or a device might never end. Raises OSError."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError("it is not a regular file")
    return path.open("rb")


def file_digest(path: Path, kind: str) -> str:
    """SHA-256 of a file's bytes; of a directory, which a JSON journal is, that of its manifest.

    The manifest has a line `DIGEST  PATH` for each file below the directory, as sha256sum(1) prints
    it, in the order of the paths. Raises `StoreNotFound` or `StoreUnavailable`.
    """
    try:
        if not path.is_dir():
            return _digest(path)
        lines = (f"{_digest(path / name)}  {name}\n" for name in sorted(_files(path)))
        return hashlib.sha256("".join(lines).encode("utf-8", "surrogateescape")).hexdigest()
    except FileNotFoundError:
        raise StoreNotFound(kind, str(path)) from None
    except OSError as error:
        raise StoreUnavailable(kind, str(path), cause_of(error)) from error


def write_durably(path: Path, text: str) -> None:
    """Write a UTF-8 text file whole or not at all. Raises `StoreUnavailable`."""
    try:
        replace_durably(path, text.encode())
    except OSError as error:
        raise StoreUnavailable("file", str(path), cause_of(error)) from error


def _files(directory: Path) -> Iterator[str]:
    for entry in directory.rglob("*"):
        if not entry.is_dir():
            yield entry.relative_to(directory).as_posix()


def _digest(path: Path) -> str:
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
