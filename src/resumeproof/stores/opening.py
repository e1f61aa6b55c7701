"""Opening and closing a store, so that at rest it is one file.

Open for writing, a store is in WAL with synchronous=FULL. The last one to close it folds the WAL
in and goes back to journal_mode=DELETE: a copy of the file is whole, and a reader in a read-only
directory needs nothing more.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import ExitStack, suppress

from resumeproof.errors import StoreNotFound, StoreRefused, StoreUnavailable
from resumeproof.stores.birth import refuse_second_name
from resumeproof.stores.companions import Fingerprint, beside, fingerprint, wal_settled
from resumeproof.stores.gate import gate
from resumeproof.stores.kind import StoreKind
from resumeproof.stores.migrate import migrate, schema_version
from resumeproof.stores.place import hold, release, resolved
from resumeproof.stores.private_copy import read_copy_of_files, read_copy_of_schema
from resumeproof.stores.recognise import Recognised, recognise
from resumeproof.stores.resting import (
    finish_for_others,
    go_to_rest,
    go_to_wal,
    is_live,
    remove_empty_wal,
)
from resumeproof.stores.sqlite import BUSY_TIMEOUT_SECONDS, Database, Mode, connect
from resumeproof.stores.sqlite_errors import ErrorsNamed


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
    with (
        gate(place, kind.name, busy_timeout_seconds),
        ErrorsNamed(kind.name, place),
        ExitStack() as undo,
    ):
        found = recognise(place, kind)
        refuse_second_name(found, kind)
        remove_empty_wal(found, kind)
        connection = _connect(undo, found, kind, "rw", busy_timeout_seconds)
        undo.callback(go_to_rest, connection)
        go_to_wal(connection, place, kind, busy_timeout_seconds)
        migrate(connection, kind)

        def close(connection: sqlite3.Connection) -> None:
            _close_writer(connection, found, kind)

        database = Database(connection, place, kind, writable=True, close=close)
        undo.pop_all()
        return database


def open_reader(
    path: str | os.PathLike[str],
    kind: StoreKind,
    *,
    busy_timeout_seconds: float = BUSY_TIMEOUT_SECONDS,
) -> Database:
    """Open a store for reading; a read-only directory will do.

    At rest, or while others have it open, it is read in place, and the last one to close it leaves
    it at rest. Left by a death, it is read as it was left; without its `-shm`, or with an older
    schema, in a private copy, which takes as long as the store is large. No byte of it is changed.
    Raises StoreNotFound, StoreRefused, StoreUnavailable and ForkedHandle.
    """
    place = resolved(path)
    with (
        gate(place, kind.name, busy_timeout_seconds, shared=True),
        ErrorsNamed(kind.name, place),
        ExitStack() as undo,
    ):
        found = recognise(place, kind)
        left = None if found.at_rest or is_live(found) else fingerprint(place)
        if left and not _readable_as_left(found):
            return read_copy_of_files(place, kind)
        mode: Mode = "as_left" if left else "ro"
        connection = _connect(undo, found, kind, mode, busy_timeout_seconds)
        if schema_version(connection) < kind.schema_version:
            return read_copy_of_schema(connection, place, kind)

        def close(connection: sqlite3.Connection) -> None:
            _close_reader(connection, found, kind, left)

        database = Database(connection, place, kind, writable=False, close=close)
        undo.pop_all()
        return database


def _readable_as_left(found: Recognised) -> bool:
    # A -journal would have to be rolled back, and SQLite would make what is not there.
    shm, wal = (beside(found.path, suffix) for suffix in ("-shm", "-wal"))
    return not found.journal_bytes and os.access(shm, os.R_OK) and wal_settled(wal)


def _connect(
    undo: ExitStack,
    found: Recognised,
    kind: StoreKind,
    mode: Mode,
    busy_timeout_seconds: float,
) -> sqlite3.Connection:
    hold(found.inode, kind.name, found.path)
    undo.callback(release, found.inode)
    connection = connect(found.path, mode, busy_timeout_seconds)
    undo.callback(connection.close)
    # The schema is read first: a damaged one is refused before the header is changed.
    connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    # The bytes said so; ask again, since somebody may not have waited at the gate.
    if (version := schema_version(connection)) > kind.schema_version:
        reason = f"its schema {version} is newer than {kind.schema_version}"
        raise StoreRefused(kind.name, str(found.path), reason)
    return connection


def _close_writer(connection: sqlite3.Connection, found: Recognised, kind: StoreKind) -> None:
    with ExitStack() as stack:
        # Closing does not fail: at worst the store is left as a death would leave it.
        with suppress(StoreUnavailable, StoreNotFound):
            stack.enter_context(gate(found.path, kind.name, BUSY_TIMEOUT_SECONDS))
        at_rest = go_to_rest(connection)
        connection.close()
        release(found.inode)
        if not at_rest:
            finish_for_others(found.path, kind)


def _close_reader(
    connection: sqlite3.Connection, found: Recognised, kind: StoreKind, left: Fingerprint | None
) -> None:
    with ExitStack() as stack:
        with suppress(StoreUnavailable, StoreNotFound):
            stack.enter_context(gate(found.path, kind.name, BUSY_TIMEOUT_SECONDS))
        connection.close()
        release(found.inode)
        # What a death left stays as it is, unless a writer came and went meanwhile.
        if left is None or fingerprint(found.path) != left:
            finish_for_others(found.path, kind)
