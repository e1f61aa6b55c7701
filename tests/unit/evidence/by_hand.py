"""Changing a store by hand, as somebody does who wants to be believed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def unguarded(path: Path) -> Iterator[sqlite3.Connection]:
    """The store without its triggers, references and CHECKs; it gets the triggers back."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA foreign_keys=OFF")
        connection.execute("PRAGMA synchronous=OFF")
        connection.execute("PRAGMA ignore_check_constraints=ON")
        triggers = connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
        ).fetchall()
        connection.execute("BEGIN")
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        yield connection
        for _, sql in triggers:
            connection.execute(sql)
        connection.execute("COMMIT")


def change(path: Path, sql: str, parameters: Sequence[Any] = ()) -> None:
    with unguarded(path) as connection:
        connection.execute(sql, parameters)
