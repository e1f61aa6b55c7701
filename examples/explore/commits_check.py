"""Whether the database is whole, and holds every number whose commit was promised."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path


def check(directory: Path, printed: str) -> None:
    promised = {int(line.split()[1]) for line in printed.splitlines()}
    with closing(sqlite3.connect(directory / "numbers.sqlite3")) as connection:
        (told,) = connection.execute("PRAGMA integrity_check").fetchone()
        assert told == "ok", f"the database is corrupt: {told}"
        try:
            found = {number for (number,) in connection.execute("SELECT number FROM numbers")}
        except sqlite3.OperationalError:
            found = set()
    lost = sorted(promised - found)
    assert not lost, f"commits are lost that were promised: {lost}"
