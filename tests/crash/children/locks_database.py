"""Holds SQLite's own lock on a database until its standard input ends."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing

with closing(sqlite3.connect(sys.argv[1], isolation_level=None)) as connection:
    connection.execute("BEGIN EXCLUSIVE")
    print("locked", flush=True)
    sys.stdin.read()
    connection.execute("ROLLBACK")
