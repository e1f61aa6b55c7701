"""The only place that connects to SQLite: pragmas, transactions, and errors with facts.

`open_writer` and `open_reader` are in `resumeproof.stores.opening`, `create` in
`resumeproof.stores.birth`.
"""

from __future__ import annotations

import os
import sqlite3
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from resumeproof.errors import (
    StoreUnavailable,
)
from resumeproof.stores.kind import StoreKind
from resumeproof.stores.protocols import Durability
from resumeproof.stores.sqlite_errors import NAMEABLE, ErrorsNamed

OLDEST_SQLITE = (3, 38, 0)
BUSY_TIMEOUT_SECONDS = 10.0
SYNCHRONOUS = ("off", "normal", "full", "extra")

Parameters = Sequence[Any] | dict[str, Any]

Mode = Literal["ro", "rw", "as_left", "alone"]
"""How to connect: `alone` reads what nobody has open and no log lies beside, without a lock;
`as_left` reads what a death left, -wal included, and writes not even the -shm,
which another process would write to rebuild it; a private one takes its place.
Sources: sqlite.org/uri.html, sqlite.org/rescode.html#readonly_cantinit."""
_QUERY: dict[Mode, str] = {
    "ro": "mode=ro",
    "rw": "mode=rw",
    "as_left": "mode=ro&readonly_shm=1",
    "alone": "mode=ro&immutable=1",
}


def connect(
    path: Path,
    mode: Mode,
    busy_timeout_seconds: float = BUSY_TIMEOUT_SECONDS,
    *,
    any_thread: bool = False,
) -> sqlite3.Connection:
    """Connect to an existing file, in autocommit, with every rule of a store switched on.

    With `any_thread` other threads than this one may use it, though never two at once.
    Raises sqlite3.Error; StoreUnavailable if the SQLite library is too old for STRICT tables.
    """
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        oldest = ".".join(map(str, OLDEST_SQLITE))
        cause = f"SQLite {sqlite3.sqlite_version} is older than {oldest}"
        raise StoreUnavailable("store", str(path), cause)
    connection = sqlite3.connect(
        f"{path.as_uri()}?{_QUERY[mode]}",
        uri=True,
        isolation_level=None,
        timeout=busy_timeout_seconds,
        check_same_thread=not any_thread,
    )
    try:
        connection.row_factory = sqlite3.Row
        for pragma in ("foreign_keys=ON", "trusted_schema=OFF", "recursive_triggers=ON"):
            connection.execute(f"PRAGMA {pragma}")
    except BaseException:
        connection.close()
        raise
    return connection


def durability_of(connection: sqlite3.Connection) -> Durability:
    """Ask SQLite which journal mode and synchronous setting are in force."""
    journal_mode = connection.execute("PRAGMA journal_mode").fetchone()[0]
    synchronous = connection.execute("PRAGMA synchronous").fetchone()[0]
    return Durability(str(journal_mode), SYNCHRONOUS[synchronous])


class Database:
    """One open store. Its methods raise what `ErrorsNamed` says, and never a sqlite3.Error.

    A handle belongs to the process and the thread that opened it.
    """

    __slots__ = (
        "__weakref__",
        "_close",
        "_connection",
        "_named",
        "_unfinished",
        "durability",
        "kind",
        "path",
        "writable",
    )

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: Path,
        kind: StoreKind,
        *,
        writable: bool,
        close: Callable[[sqlite3.Connection], None],
    ) -> None:
        self.path = path
        self.kind = kind
        self.writable = writable
        self._connection: sqlite3.Connection | None = connection
        self._close = close
        self._named = ErrorsNamed(kind.name, path)
        self._unfinished: set[sqlite3.Cursor] = set()
        self.durability = durability_of(connection)
        _open.add(self)

    @property
    def connection(self) -> sqlite3.Connection:
        if self._connection is None:
            self._named.refuse_fork()
            raise ValueError(f"{self.kind.name} {self.path} is closed")
        return self._connection

    @property
    def connection_if_open(self) -> sqlite3.Connection | None:
        """The connection; None once it is closed, and in a fork of the opener."""
        return self._connection

    # No `with self._named` for single statements: it costs as much as a short one does.

    def execute(self, sql: str, parameters: Parameters = ()) -> int:
        """Run one statement and return the number of rows it changed."""
        try:
            return (self._connection or self.connection).execute(sql, parameters).rowcount
        except NAMEABLE as error:
            self._named.raise_ours(error)

    def execute_many(self, sql: str, parameters: Iterable[Parameters]) -> int:
        """Run one statement for each of `parameters` and return the number of rows changed."""
        try:
            return self.connection.executemany(sql, parameters).rowcount
        except NAMEABLE as error:
            self._named.raise_ours(error)

    def row(self, sql: str, parameters: Parameters = ()) -> sqlite3.Row | None:
        """Run one statement and return its first row, or None. Also for RETURNING."""
        # All are fetched, since a statement that was not run to its end keeps its read lock.
        rows = self.rows(sql, parameters)
        return rows[0] if rows else None

    def rows(self, sql: str, parameters: Parameters = ()) -> list[sqlite3.Row]:
        """Run one statement and return all its rows."""
        try:
            return (self._connection or self.connection).execute(sql, parameters).fetchall()
        except NAMEABLE as error:
            self._named.raise_ours(error)

    def each(self, sql: str, parameters: Parameters = ()) -> Iterator[sqlite3.Row]:
        """Yield the rows of one query, in constant memory; read it to its end, or close it."""
        with self._named:
            cursor = self.connection.execute(sql, parameters)
            self._unfinished.add(cursor)
            try:
                for row in cursor:  # noqa: UP028 - `yield from` would close a closed cursor
                    yield row
            finally:
                if self._connection is not None:
                    cursor.close()
                    self._unfinished.discard(cursor)

    def transaction(self) -> Transaction:
        """`with database.transaction():` is BEGIN IMMEDIATE ... COMMIT, or ROLLBACK on an error.

        The commit is durable when the `with` statement ends. Transactions do not nest.
        """
        return Transaction(self, "BEGIN IMMEDIATE")

    def snapshot(self) -> Transaction:
        """`with database.snapshot():` makes all reads inside see one moment. It writes nothing."""
        return Transaction(self, "BEGIN DEFERRED")

    def close(self) -> None:
        """Close the handle; the last one to close a store leaves it as one file.

        A transaction under way is rolled back. In a fork of the opener nothing is touched.
        """
        connection, self._connection = self._connection, None
        if connection is not None and os.getpid() == self._named.pid:
            _open.discard(self)
            # A query that was not read to its end would keep the store open, and its lock held.
            for cursor in self._unfinished:
                cursor.close()
            self._close(connection)

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_open: weakref.WeakSet[Database] = weakref.WeakSet()


def _outlive_this_process() -> None:
    # SQLite must not close in a child what the parent opened, not even at the interpreter's end:
    # the last one to close would fold in a -wal that is not this process's.
    # Source: sqlite.org/howtocorrupt.html, section 2.6.
    for database in _open:
        import ctypes

        ctypes.pythonapi.Py_IncRef(ctypes.py_object(database._connection))
        database._connection = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_outlive_this_process)


class Transaction:
    """See `Database.transaction` and `Database.snapshot`."""

    __slots__ = ("_begin", "_database")

    def __init__(self, database: Database, begin: str) -> None:
        self._database = database
        self._begin = begin

    def __enter__(self) -> Database:
        self._database.execute(self._begin)
        return self._database

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error_type is not None:
            self._roll_back()
            return
        try:
            self._database.execute("COMMIT")
        except BaseException:
            self._roll_back()
            raise

    def _roll_back(self) -> None:
        # SQLite rolls back by itself on some errors (a full disk): then there is nothing to undo.
        # What was closed meanwhile, or belongs to another process, is none of ours to touch.
        connection = self._database.connection_if_open
        if connection is not None and connection.in_transaction:
            self._database.execute("ROLLBACK")
