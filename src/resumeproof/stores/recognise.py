"""Whether a file is a whole store of ours, told from its bytes alone.

Nothing is opened through SQLite here: merely going to WAL and back changes bytes, and what is
refused stays byte for byte as it was. Source: sqlite.org/fileformat2.html, section 1.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from resumeproof.errors import StoreRefused
from resumeproof.stores.companions import (
    HEADER_BYTES,
    beside,
    bytes_of,
    journal_refusal,
    page_bytes_of,
    version_refusal,
    wal_refusal,
)
from resumeproof.stores.kind import StoreKind
from resumeproof.stores.place import Inode, cause_of, inode_of, raw, read_at, stat_store
from resumeproof.stores.wal import WAL_HEADER_BYTES, number

MAGIC = b"SQLite format 3\0"
LARGEST_PAGE_BYTES = 65536


@dataclass(frozen=True)
class Recognised:
    """A store as its bytes describe it, before anybody opened it. Sizes are 0 for no file."""

    path: Path
    inode: Inode
    links: int
    wal_mode: bool
    wal_bytes: int
    journal_bytes: int

    @property
    def at_rest(self) -> bool:
        """One file in DELETE mode, which nobody has open for writing."""
        return not self.wal_mode and not self.journal_bytes


def recognise(path: Path, kind: StoreKind) -> Recognised:
    """Describe the store at `path`, a resolved path.

    Raises StoreNotFound, or StoreRefused with a reason: no regular file, unreadable, empty, no
    SQLite, another application_id, a newer schema, truncated, a stranger's -wal or -journal.
    """
    status = stat_store(path, kind.name)
    try:
        with raw(path) as descriptor:
            first_page = read_at(descriptor, LARGEST_PAGE_BYTES, 0)
        found = Recognised(
            path=path,
            inode=inode_of(status),
            links=status.st_nlink,
            wal_mode=first_page[18:19] == b"\2",
            wal_bytes=bytes_of(beside(path, "-wal")),
            journal_bytes=bytes_of(beside(path, "-journal")),
        )
        refusal = _refusal(first_page, status.st_size, found, kind)
    except OSError as error:
        raise StoreRefused(kind.name, str(path), cause_of(error)) from error
    if refusal is not None:
        raise StoreRefused(kind.name, str(path), refusal)
    return found


def _refusal(first_page: bytes, size_bytes: int, found: Recognised, kind: StoreKind) -> str | None:
    header = first_page[:HEADER_BYTES]
    if not header:
        return "it is empty"
    if not header.strip(b"\0"):
        return "it begins with nothing but NUL bytes"
    if len(header) < HEADER_BYTES or not header.startswith(MAGIC):
        return "it is not a SQLite database"
    if (refusal := version_refusal(header, kind)) is not None:
        return refusal
    # A header alone holds nothing: a power cut that brings back the -journal of the way to WAL
    # leaves that, and a store at rest once the -journal is rolled back.
    if found.wal_bytes > WAL_HEADER_BYTES and not found.wal_mode:
        return "it is at rest, so the -wal beside it is a stranger's"
    if found.wal_bytes and found.wal_mode:
        # With a -wal the file may have been cut short by a checkpoint that was killed.
        return wal_refusal(beside(found.path, "-wal"), header, kind)
    stated_bytes = number(header, 28) * page_bytes_of(header)
    # The page count holds only where both change counters agree.
    if number(header, 24) == number(header, 92) and size_bytes < stated_bytes:
        return f"it is truncated ({size_bytes} bytes of {stated_bytes})"
    if found.journal_bytes:
        return journal_refusal(beside(found.path, "-journal"), first_page[: page_bytes_of(header)])
    return None
