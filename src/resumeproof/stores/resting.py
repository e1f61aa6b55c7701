"""From rest (DELETE) to writing (WAL), and back by whoever is the last."""

from __future__ import annotations

import os
import sqlite3
import sys
import time
from contextlib import suppress
from pathlib import Path

from resumeproof.errors import ResumeproofError, StoreUnavailable
from resumeproof.stores.companions import beside
from resumeproof.stores.gate import POLL_SECONDS
from resumeproof.stores.kind import StoreKind
from resumeproof.stores.place import cause_of, is_held, raw
from resumeproof.stores.protocols import Durability
from resumeproof.stores.recognise import Recognised, recognise
from resumeproof.stores.sqlite import connect, durability_of
from resumeproof.stores.wal import WAL_HEADER_BYTES

WRITING = Durability("wal", "full")
_BUSY = frozenset({5, 6})
# Every connection in WAL holds a read lock on these bytes. Source: SQLite's os.h, SHARED_FIRST.
_SHARED_FIRST, _SHARED_BYTES = 0x40000002, 510


def remove_empty_wal(found: Recognised, kind: StoreKind) -> None:
    """Remove a -wal without a frame from beside a store whose file is at rest, or will be.

    SQLite would go on in that -wal and leave the file's header as it is, so that the store would
    look at rest beside a stranger's. A power cut can leave this: it brings the -journal of the way
    to WAL back, and with it the header of before. Raises StoreUnavailable.
    """
    to_rest = found.journal_bytes or not found.wal_mode
    if not to_rest or found.wal_bytes > WAL_HEADER_BYTES or is_live(found):
        return
    wal = beside(found.path, "-wal")
    try:
        wal.unlink(missing_ok=True)
    except OSError as error:
        raise StoreUnavailable(kind.name, str(wal), cause_of(error)) from error


def go_to_wal(
    connection: sqlite3.Connection, path: Path, kind: StoreKind, timeout_seconds: float
) -> None:
    """Bring WAL and synchronous=FULL into force, and read them back.

    Raises sqlite3.Error; StoreUnavailable if SQLite does not do as it is told.
    """
    deadline = time.monotonic() + timeout_seconds
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL").fetchone()
            break
        except sqlite3.OperationalError as error:
            # SQLite does not wait for this lock by itself. A reader holds it for a statement.
            if error.sqlite_errorcode & 0xFF not in _BUSY or time.monotonic() > deadline:
                raise
            time.sleep(POLL_SECONDS)
    connection.execute("PRAGMA synchronous=FULL")
    if (in_force := durability_of(connection)) != WRITING:
        cause = f"{in_force.journal_mode}/{in_force.synchronous} is in force, not wal/full"
        raise StoreUnavailable(kind.name, str(path), cause)


def go_to_rest(connection: sqlite3.Connection) -> bool:
    """Empty the WAL, if it is not in use, and go back to DELETE, which takes being the last.

    Whatever fails here fails after the commits, which are safe in the -wal.
    """
    try:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        connection.execute("PRAGMA busy_timeout=0")
        # Emptied first: SQLite passes over a -wal that it may not remove (another user's, in a
        # sticky directory), and what it held would be a stranger's to whoever comes next.
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        connection.execute("PRAGMA journal_mode=DELETE").fetchone()
    except sqlite3.Error:
        return False
    return True


def finish_for_others(path: Path, kind: StoreKind) -> None:
    """Bring to rest what its last writer closed while somebody was reading it.

    Does nothing where a writer died, somebody has the store open, or we may not write.
    """
    with suppress(ResumeproofError, sqlite3.Error, OSError):
        found = recognise(path, kind)
        if not found.wal_mode or found.wal_bytes or is_live(found):
            return
        if os.access(path, os.W_OK) and os.access(path.parent, os.W_OK):
            connection = connect(path, "rw", busy_timeout_seconds=0)
            try:
                go_to_rest(connection)
            finally:
                connection.close()


def is_live(found: Recognised) -> bool:
    """Whether any process has the store open in WAL, as the kernel's locks tell. Raises OSError."""
    if is_held(found.inode):
        return True
    if sys.platform == "win32":
        return False
    import fcntl
    import struct

    # struct flock, whose fields lie in another order on each family. Source: fcntl(2).
    darwin = sys.platform == "darwin"
    layout, type_index = ("@qqihh", 3) if darwin else ("@hhqqi", 0)
    fields = (
        (_SHARED_FIRST, _SHARED_BYTES, 0, fcntl.F_WRLCK, os.SEEK_SET)
        if darwin
        else (fcntl.F_WRLCK, os.SEEK_SET, _SHARED_FIRST, _SHARED_BYTES, 0)
    )
    with raw(found.path) as descriptor:
        answer = fcntl.fcntl(descriptor, fcntl.F_GETLK, struct.pack(layout, *fields))
    lock_type: int = struct.unpack(layout, answer)[type_index]
    return lock_type != fcntl.F_UNLCK
