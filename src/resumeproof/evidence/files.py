"""Files of evidence: written whole or not at all, and told apart by their bytes."""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from io import BufferedReader
from pathlib import Path

from resumeproof.errors import StoreNotFound, StoreUnavailable


def open_regular(path: Path) -> BufferedReader:
    """Open a regular file to be read; a pipe or a device might never end. Raises OSError."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError("it is not a regular file")
    return path.open("rb")


def file_digest(path: Path, kind: str) -> str:
    """SHA-256 of a file's bytes. Raises `StoreNotFound` or `StoreUnavailable`."""
    try:
        with open_regular(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        raise StoreNotFound(kind, str(path)) from None
    except OSError as error:
        raise StoreUnavailable(kind, str(path), _cause(error)) from error


def write_durably(path: Path, text: str) -> None:
    """Write a UTF-8 text file whole: a temporary file, synced, renamed, and its directory synced.

    Raises `StoreUnavailable`, with nothing left behind.
    """
    temporary = path.with_name(f".{path.name}.new")
    try:
        with temporary.open("w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        # Without this the rename itself may be lost with the power.
        if sys.platform != "win32":
            descriptor = os.open(path.parent, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise StoreUnavailable("file", str(path), _cause(error)) from error


def _cause(error: OSError) -> str:
    return error.strerror or str(error)
