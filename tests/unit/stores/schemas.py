"""What every kind of store has to show about its schema."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from resumeproof.stores.birth import create
from resumeproof.stores.kind import StoreKind
from resumeproof.stores.opening import open_writer

Seed = Callable[[sqlite3.Connection], None]


def schema_of(path: Path) -> tuple[int, int, list[tuple[str, str, str]]]:
    """The marks and the objects of a store at rest, with white space made even."""
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
    try:
        objects = connection.execute(
            "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type, name"
        ).fetchall()
        marks = [
            connection.execute(f"PRAGMA {mark}").fetchone()[0]
            for mark in ("application_id", "user_version")
        ]
    finally:
        connection.close()
    return (*marks, [(kind, name, re.sub(r"\s+", " ", sql)) for kind, name, sql in objects])


def assert_migrations_lead_to_the_fresh_schema(
    directory: Path, kind: StoreKind, oldest_sql: Callable[[], str], seed: Seed
) -> None:
    """Check that the schema of version 1, migrated, is the fresh schema of `kind`."""
    oldest = replace(kind, schema_version=1, schema_sql=oldest_sql, migrations=())
    create(directory / "old", oldest, seed=seed)
    create(directory / "fresh", kind, seed=seed)
    open_writer(directory / "old", kind).close()
    assert schema_of(directory / "old") == schema_of(directory / "fresh")
