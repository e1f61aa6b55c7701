"""Reading a store through a private copy: one left by a death, or one with an older schema."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path

from resumeproof.errors import StoreUnavailable
from resumeproof.stores.companions import beside, fingerprint
from resumeproof.stores.kind import StoreKind
from resumeproof.stores.migrate import migrate
from resumeproof.stores.place import cause_of, copy_raw
from resumeproof.stores.sqlite import Database, connect
from resumeproof.stores.sqlite_errors import ErrorsNamed

COPIES_AT_MOST = 5


def read_copy_of_files(path: Path, kind: StoreKind) -> Database:
    """Read a store that nobody has open, with what a death left beside it.

    Raises StoreUnavailable if it keeps changing or there is no room; StoreRefused.
    """

    def fill(copy: Path) -> None:
        for _ in range(COPIES_AT_MOST):
            before = fingerprint(path)
            for suffix in ("", "-wal", "-journal"):
                beside(copy, suffix).unlink(missing_ok=True)
                # The -shm is left out: SQLite rebuilds it.
                with suppress(FileNotFoundError):
                    copy_raw(beside(path, suffix), beside(copy, suffix))
            if fingerprint(path) == before:
                return
        raise StoreUnavailable(kind.name, str(path), "it changes while it is copied")

    return _read_copy(path, kind, fill)


def read_copy_of_schema(source: sqlite3.Connection, path: Path, kind: StoreKind) -> Database:
    """Read a store with an older schema, migrated in the copy alone. Raises StoreUnavailable."""

    def fill(copy: Path) -> None:
        copy.touch()
        target = connect(copy, "rw")
        try:
            source.backup(target)
        finally:
            target.close()

    return _read_copy(path, kind, fill)


def _read_copy(path: Path, kind: StoreKind, fill: Callable[[Path], None]) -> Database:
    import shutil
    import tempfile

    with ErrorsNamed(kind.name, path), ExitStack() as undo:
        try:
            directory = Path(tempfile.mkdtemp(prefix="resumeproof-reader-"))
            undo.callback(shutil.rmtree, directory, ignore_errors=True)
            copy = directory / "copy.sqlite3"
            fill(copy)
        except OSError as error:
            raise StoreUnavailable(kind.name, str(path), cause_of(error)) from error
        connection = connect(copy, "rw")
        undo.callback(connection.close)
        migrate(connection, kind)
        connection.execute("PRAGMA query_only=ON")

        def close(connection: sqlite3.Connection) -> None:
            connection.close()
            shutil.rmtree(directory, ignore_errors=True)

        database = Database(connection, path, kind, writable=False, close=close)
        undo.pop_all()
        return database
