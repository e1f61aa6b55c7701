"""Opening and closing a store, so that at rest it is one file.

Open for writing, a store is in WAL with synchronous=FULL. The last one to close it folds the WAL
in and goes back to journal_mode=DELETE: a copy of the file is whole, and a reader in a read-only
directory needs nothing more.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import sys
import tempfile
import time
from pathlib import Path

from resumeproof.errors import StoreUnavailable
from resumeproof.stores import birth
from resumeproof.stores.gate import POLL_SECONDS, gate
from resumeproof.stores.kind import StoreKind
from resumeproof.stores.migrate import migrate, schema_version
from resumeproof.stores.place import hold, is_held, raw, release, resolved
from resumeproof.stores.recognise import Recognised, beside, recognise
from resumeproof.stores.sqlite import (
    BUSY_TIMEOUT_SECONDS,
    Database,
    Durability,
    ErrorsNamed,
    connect,
    durability_of,
)

_BUSY = frozenset({5, 6})
WRITING = Durability("wal", "full")


def open_writer(
    path: str | os.PathLike[str],
    kind: StoreKind,
    *,
    busy_timeout_seconds: float = BUSY_TIMEOUT_SECONDS,
) -> Database:
    """Open an existing store for writing, and migrate it if its schema is older.

    Raises StoreNotFound (it is never created), StoreRefused and HardLinked with every file as it
    was, StoreUnavailable if it cannot be had within `busy_timeout_seconds`, and ForkedHandle.
    """
    place = resolved(path)
    with gate(place, kind.name, busy_timeout_seconds):
        found = recognise(place, kind)
        birth.refuse_second_name(found, kind)
        hold(found.inode, kind.name, place)
        try:
            with ErrorsNamed(kind.name, place):
                connection = connect(place, "rw", busy_timeout_seconds)
            try:
                with ErrorsNamed(kind.name, place):
                    _into_force(connection, place, kind, busy_timeout_seconds)
                    migrate(connection, kind)
                return Database(
                    connection,
                    place,
                    kind,
                    writable=True,
                    close=lambda connection: _close_writer(connection, found, kind),
                )
            except BaseException:
                connection.close()
                raise
        except BaseException:
            release(found.inode)
            raise


def _into_force(
    connection: sqlite3.Connection, path: Path, kind: StoreKind, timeout_seconds: float
) -> None:
    # The schema is read first: a damaged one is refused before the header is changed.
    connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
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


def _close_writer(connection: sqlite3.Connection, found: Recognised, kind: StoreKind) -> None:
    try:
        with contextlib.ExitStack() as stack:
            with contextlib.suppress(StoreUnavailable):
                stack.enter_context(gate(found.path, kind.name, BUSY_TIMEOUT_SECONDS))
            # Whatever fails here fails after the commits: they are safe in the -wal.
            with contextlib.suppress(sqlite3.Error):
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                connection.execute("PRAGMA journal_mode=DELETE").fetchone()
            connection.close()
    finally:
        release(found.inode)


def open_reader(
    path: str | os.PathLike[str],
    kind: StoreKind,
    *,
    busy_timeout_seconds: float = BUSY_TIMEOUT_SECONDS,
) -> Database:
    """Open a store for reading; no byte of it is changed, and a read-only directory will do.

    At rest, or while a writer has it open, it is read in place. Left with a `-wal` by a death, or
    with an older schema, it is read (and migrated) in a private copy.
    Raises StoreNotFound, StoreRefused, StoreUnavailable, ForkedHandle.
    """
    place = resolved(path)
    with gate(place, kind.name, busy_timeout_seconds, shared=True):
        found = recognise(place, kind)
        at_rest = not found.wal_mode and not found.journal_bytes
        if (at_rest or _is_live(found)) and found.schema_version == kind.schema_version:
            return _read_in_place(found, kind, busy_timeout_seconds)
        return _read_copy(found, kind)


def _read_in_place(found: Recognised, kind: StoreKind, timeout_seconds: float) -> Database:
    hold(found.inode, kind.name, found.path)
    try:
        with ErrorsNamed(kind.name, found.path):
            connection = connect(found.path, "ro", timeout_seconds)
            try:
                connection.execute("SELECT count(*) FROM sqlite_master").fetchone()

                def close(connection: sqlite3.Connection) -> None:
                    connection.close()
                    release(found.inode)

                return Database(connection, found.path, kind, writable=False, close=close)
            except BaseException:
                connection.close()
                raise
    except BaseException:
        release(found.inode)
        raise


def _read_copy(found: Recognised, kind: StoreKind) -> Database:
    directory = Path(tempfile.mkdtemp(prefix="resumeproof-reader-"))
    try:
        copy = directory / "copy.sqlite3"
        with (
            raw(found.path) as descriptor,
            open(descriptor, "rb", closefd=False) as source,
            copy.open("wb") as target,
        ):
            shutil.copyfileobj(source, target)
        for suffix in ("-wal", "-journal"):
            with contextlib.suppress(FileNotFoundError):
                shutil.copyfile(beside(found.path, suffix), beside(copy, suffix))
        with ErrorsNamed(kind.name, found.path):
            connection = connect(copy, "rw")
            try:
                schema_version(connection)
                durability_found = durability_of(connection)
                migrate(connection, kind)
                connection.execute("PRAGMA query_only=ON")

                def close(connection: sqlite3.Connection) -> None:
                    connection.close()
                    shutil.rmtree(directory, ignore_errors=True)

                database = Database(connection, found.path, kind, writable=False, close=close)
                database.durability = durability_found
                return database
            except BaseException:
                connection.close()
                raise
    except BaseException:
        shutil.rmtree(directory, ignore_errors=True)
        raise


def _is_live(found: Recognised) -> bool:
    """Whether any process has the store open in WAL, as the kernel's locks tell."""
    if is_held(found.inode):
        return True
    if sys.platform == "win32":
        return False
    import fcntl
    import struct

    # Every connection in WAL holds a read lock on SQLite's shared bytes.
    layout, order = ("@qqihh", (2, 3)) if sys.platform == "darwin" else ("@hhqqi", (0, 2))
    first_byte, byte_count = 0x40000002, 510
    if sys.platform == "darwin":
        question = struct.pack(layout, first_byte, byte_count, 0, fcntl.F_WRLCK, os.SEEK_SET)
    else:
        question = struct.pack(layout, fcntl.F_WRLCK, os.SEEK_SET, first_byte, byte_count, 0)
    with raw(found.path) as descriptor:
        answer = struct.unpack(layout, fcntl.fcntl(descriptor, fcntl.F_GETLK, question))
    return bool(answer[order[1] if sys.platform == "darwin" else order[0]] != fcntl.F_UNLCK)
