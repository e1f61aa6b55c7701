"""Journals by their path: a directory is a JSON journal, and a file is SQLite."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from resumeproof.stores.json_journal import JsonJournal, silent
from resumeproof.stores.place import is_directory, resolved
from resumeproof.stores.protocols import JournalFormat, OpenJournal
from resumeproof.stores.sqlite_journal import SqliteJournal


def format_of(path: Path) -> JournalFormat | None:
    """The format that a path stands for; None where nothing is there."""
    if is_directory(resolved(path)):
        return JournalFormat.JSON
    return JournalFormat.SQLITE if os.path.lexists(path) else None


def create_journal(
    path: Path, journal_format: JournalFormat, *, journal_id: str, created_at: str
) -> bool:
    """Create an empty journal; False if something is at `path` already. Raises as `create` does."""
    kind = JsonJournal if journal_format is JournalFormat.JSON else SqliteJournal
    return kind.create(path, journal_id=journal_id, created_at=created_at)


def open_journal(path: Path) -> OpenJournal:
    """Open an existing journal for reading. Raises `StoreNotFound` and `StoreRefused`."""
    if format_of(path) is JournalFormat.JSON:
        return JsonJournal.open_reader(path)
    return SqliteJournal.open_reader(path)


def open_journal_writer(path: Path, *, report: Callable[[str], None] = silent) -> OpenJournal:
    """Open an existing journal for writing.

    `report` is told what a death left in a JSON journal that was never committed, and is cut off;
    what it left of a SQLite transaction, SQLite rolls back. Raises as `open_journal` does, and
    `HardLinked`.
    """
    if format_of(path) is JournalFormat.JSON:
        return JsonJournal.open(path, report=report)
    return SqliteJournal.open(path)
