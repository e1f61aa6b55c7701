"""Whether a store's files are in the form that it was made with, whatever they say."""

from __future__ import annotations

from resumeproof.errors import EvidenceBroken
from resumeproof.stores.intact import schema_damage
from resumeproof.stores.json_intact import form_damage, unfinished
from resumeproof.stores.json_journal import JsonJournal
from resumeproof.stores.protocols import OpenJournal
from resumeproof.stores.sqlite_journal import SqliteJournal
from resumeproof.stores.sqlite_ledger import SqliteLedger

Store = OpenJournal | SqliteLedger


def check_pages(store: Store) -> None:
    """Pages, indexes and types of a database. Raises `EvidenceBroken` as SQLite names it.

    Of a database that is open to be read SQLite checks no CHECK: the audit does, where it matters.
    """
    if not isinstance(store, SqliteJournal | SqliteLedger):
        return
    for row in store.database.rows("PRAGMA integrity_check"):
        if row[0] != "ok":
            raise EvidenceBroken(str(store.path), "the database file", str(row[0]))


def check_form(store: Store) -> None:
    """The schema of a database, its triggers included; the files of a directory.

    Raises `EvidenceBroken` for what is not as this package makes it.
    """
    path = str(store.path)
    if isinstance(store, JsonJournal):
        if damage := form_damage(store.path):
            raise EvidenceBroken(path, "the form of its files", damage)
    elif isinstance(store, SqliteJournal | SqliteLedger):
        _check_schema(store, path)


def never_true(store: Store) -> list[str]:
    """What a death left of writes of a store that were never committed, in words."""
    return unfinished(store.path) if isinstance(store, JsonJournal) else []


def _check_schema(store: SqliteJournal | SqliteLedger, path: str) -> None:
    if damage := schema_damage(store.database):
        detail = f"{damage}; it may not be append-only any more"
        raise EvidenceBroken(path, "the schema", detail)
    for row in store.database.rows("PRAGMA foreign_key_check"):
        detail = f"it names no row of table {row['parent']}"
        raise EvidenceBroken(path, f"a reference of table {row['table']}", detail)
