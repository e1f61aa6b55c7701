"""Whether a file is a whole store of ours, told from its bytes alone.

Nothing is opened through SQLite here: merely going to WAL and back changes bytes, and what is
refused stays byte for byte as it was. Source: sqlite.org/fileformat2.html, sections 1.3 and 4.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from resumeproof.errors import StoreRefused
from resumeproof.stores.kind import StoreKind
from resumeproof.stores.place import Inode, inode_of, raw, stat_store

HEADER_BYTES = 100
MAGIC = b"SQLite format 3\0"


@dataclass(frozen=True)
class Recognised:
    """A store as its bytes describe it, before anybody opened it."""

    path: Path
    inode: Inode
    links: int
    schema_version: int
    wal_mode: bool
    wal_bytes: int
    journal_bytes: int


def recognise(path: Path, kind: StoreKind) -> Recognised:
    """Describe the store at `path`, a resolved path.

    Raises StoreNotFound, or StoreRefused with a reason: no regular file, unreadable, empty, no
    SQLite, another application_id, a newer schema, truncated, a stranger's -wal.
    """
    status = stat_store(path, kind.name)
    try:
        with raw(path) as descriptor:
            header = os.read(descriptor, HEADER_BYTES)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise StoreRefused(kind.name, str(path), reason) from error
    found = Recognised(
        path=path,
        inode=inode_of(status),
        links=status.st_nlink,
        schema_version=_number(header, 60),
        wal_mode=header[18:19] == b"\2",
        wal_bytes=_bytes_of(beside(path, "-wal")),
        journal_bytes=_bytes_of(beside(path, "-journal")),
    )
    if (refusal := _refusal(header, status.st_size, found, kind)) is not None:
        raise StoreRefused(kind.name, str(path), refusal)
    return found


def beside(path: Path, suffix: str) -> Path:
    """The companion file of a database: `-wal`, `-shm` or `-journal`."""
    return path.with_name(path.name + suffix)


def _number(header: bytes, offset: int) -> int:
    return int.from_bytes(header[offset : offset + 4], "big")


def _bytes_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _refusal(header: bytes, size: int, found: Recognised, kind: StoreKind) -> str | None:
    if not header:
        return "it is empty"
    if not header.strip(b"\0"):
        return "it begins with nothing but NUL bytes"
    if len(header) < HEADER_BYTES or not header.startswith(MAGIC):
        return "it is not a SQLite database"
    application_id = _number(header, 68)
    if application_id != kind.application_id:
        return f"it is not a {kind.name} (application_id {application_id:#010x})"
    if found.schema_version > kind.schema_version:
        return f"its schema {found.schema_version} is newer than {kind.schema_version}"
    if found.schema_version < 1:
        return "it has no schema version"
    if not found.wal_mode and found.wal_bytes:
        return "it is at rest, so the -wal beside it is a stranger's"
    page_bytes = int.from_bytes(header[16:18], "big")
    page_bytes = 65536 if page_bytes == 1 else page_bytes
    # The page count holds only where both change counters agree. With a -wal the file may be cut
    # short by a checkpoint that was killed; the -wal makes it whole.
    counted = _number(header, 24) == _number(header, 92)
    if counted and not found.wal_bytes and size < _number(header, 28) * page_bytes:
        return f"it is truncated ({size} bytes of {_number(header, 28) * page_bytes})"
    return None
