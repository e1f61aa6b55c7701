"""Whether a store's file is a sound database with the schema that it was made with."""

from __future__ import annotations

from resumeproof.errors import EvidenceBroken
from resumeproof.stores.intact import schema_damage
from resumeproof.stores.sqlite_journal import SqliteJournal
from resumeproof.stores.sqlite_ledger import SqliteLedger

Store = SqliteJournal | SqliteLedger

_CONSTRAINT = "CHECK constraint failed"


def check_pages(store: Store) -> None:
    """Pages, indexes and types. Raises `EvidenceBroken` as SQLite names it."""
    _check_integrity(store, constraints=False)


def check_constraints(store: Store) -> None:
    """Schema, references and CHECKs, of which SQLite names the table only: hence last."""
    path = str(store.path)
    if damage := schema_damage(store.database):
        detail = f"{damage}; it may not be append-only any more"
        raise EvidenceBroken(path, "the schema", detail)
    for row in store.database.rows("PRAGMA foreign_key_check"):
        detail = f"it names no row of table {row['parent']}"
        raise EvidenceBroken(path, f"a reference of table {row['table']}", detail)
    _check_integrity(store, constraints=True)


def _check_integrity(store: Store, *, constraints: bool) -> None:
    for row in store.database.rows("PRAGMA integrity_check"):
        problem = str(row[0])
        if problem != "ok" and problem.startswith(_CONSTRAINT) is constraints:
            raise EvidenceBroken(str(store.path), "the database file", problem)
