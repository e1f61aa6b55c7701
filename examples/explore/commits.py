"""Commits numbers to a SQLite database; its words are the journal mode and `synchronous`."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing

journal_mode, synchronous = sys.argv[1:]

with closing(sqlite3.connect("numbers.sqlite3", isolation_level=None)) as connection:
    connection.execute(f"PRAGMA journal_mode={journal_mode}")
    connection.execute(f"PRAGMA synchronous={synchronous}")
    connection.execute("CREATE TABLE IF NOT EXISTS numbers (number INTEGER PRIMARY KEY) STRICT")
    (last,) = connection.execute("SELECT coalesce(max(number), 0) FROM numbers").fetchone()
    for number in range(last + 1, 4):
        connection.execute("INSERT INTO numbers VALUES (?)", [number])
        print(f"committed {number}", flush=True)
