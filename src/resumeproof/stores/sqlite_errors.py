"""SQLite's errors in this project's words, with the store that they are about."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from types import TracebackType
from typing import NoReturn

from resumeproof.errors import (
    ConstraintViolated,
    ForkedHandle,
    ResumeproofError,
    StoreRefused,
    StoreUnavailable,
)

NAMEABLE = (sqlite3.Error, UnicodeDecodeError)
"""What `ErrorsNamed` may have another name for."""

# PERM, BUSY, LOCKED, NOMEM, READONLY, INTERRUPT, IOERR, FULL, CANTOPEN, PROTOCOL, NOLFS, AUTH.
# Source: sqlite.org/rescode.html, "Primary Result Code List".
_OUT_OF_REACH = frozenset({3, 5, 6, 7, 8, 9, 10, 13, 14, 15, 22, 23})


class ErrorsNamed:
    """A context in which SQLite's errors become ours, and a handle cannot cross a fork.

    Raises StoreRefused for damage, StoreUnavailable for a store out of reach, ConstraintViolated
    for a refused row, ForkedHandle in another process than the one that made the context.
    A sqlite3.ProgrammingError is a bug and stays what it is.
    """

    __slots__ = ("kind_name", "path", "pid")

    def __init__(self, kind_name: str, path: Path) -> None:
        self.kind_name = kind_name
        self.path = str(path)
        self.pid = os.getpid()

    def __enter__(self) -> None:
        self.refuse_fork()

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is not None and (ours := self._ours(error)) is not None:
            raise ours from error

    def refuse_fork(self) -> None:
        if os.getpid() != self.pid:
            raise ForkedHandle(self.kind_name, self.path, self.pid, os.getpid())

    def raise_ours(self, error: BaseException) -> NoReturn:
        """Raise the error that stands for this one, or this one where it is a bug."""
        ours = self._ours(error)
        if ours is None:
            raise error
        raise ours from error

    def _ours(self, error: BaseException) -> ResumeproofError | None:
        if isinstance(error, UnicodeDecodeError):
            return StoreRefused(self.kind_name, self.path, "its text is not UTF-8")
        if isinstance(error, sqlite3.ProgrammingError) or not isinstance(error, sqlite3.Error):
            return None
        if isinstance(error, (sqlite3.IntegrityError, sqlite3.DataError)):
            return ConstraintViolated(self.kind_name, self.path, str(error))
        # Errors of the Python module itself, such as text that is not UTF-8, bear no code.
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _OUT_OF_REACH:
            return StoreUnavailable(self.kind_name, self.path, str(error))
        return StoreRefused(self.kind_name, self.path, str(error))
