"""Whether a store's file is a sound database with the schema that it was made with."""

from __future__ import annotations

from resumeproof.errors import EvidenceBroken
from resumeproof.stores.intact import schema_damage
from resumeproof.stores.sqlite_journal import SqliteJournal
from resumeproof.stores.sqlite_ledger import SqliteLedger

Store = SqliteJournal | SqliteLedger


def check_pages(store: Store) -> None:
    """Pages, indexes and types. Raises `EvidenceBroken` as SQLite names it.

    Of a database that is open to be read SQLite checks no CHECK: the audit does, where it matters.
    """
    for row in store.database.rows("PRAGMA integrity_check"):
        if row[0] != "ok":
            raise EvidenceBroken(str(store.path), "the database file", str(row[0]))


def check_schema(store: Store) -> None:
    """The schema, its triggers included, and what rows refer to. Raises `EvidenceBroken`."""
    path = str(store.path)
    if damage := schema_damage(store.database):
        detail = f"{damage}; it may not be append-only any more"
        raise EvidenceBroken(path, "the schema", detail)
    for row in store.database.rows("PRAGMA foreign_key_check"):
        detail = f"it names no row of table {row['parent']}"
        raise EvidenceBroken(path, f"a reference of table {row['table']}", detail)
