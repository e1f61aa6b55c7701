"""From an older schema to the present one."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from resumeproof.stores.kind import StoreKind


def statements(script: str) -> Iterator[str]:
    """Yield the statements of a script, each with its comments.

    `Connection.executescript` would commit the transaction that it finds.
    """
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
    if statement.strip():
        yield statement


def schema_version(connection: sqlite3.Connection) -> int:
    """The schema version in the file's header."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def migrate(connection: sqlite3.Connection, kind: StoreKind) -> None:
    """Bring an older store to `kind.schema_version`, in one transaction with its number.

    Raises sqlite3.Error, with everything as it was.
    """
    if schema_version(connection) >= kind.schema_version:
        return
    # Foreign keys can be switched only outside a transaction, and a table that is rebuilt would
    # otherwise take its children with it. Source: sqlite.org/lang_altertable.html, section 7.
    connection.execute("PRAGMA foreign_keys=OFF")
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Read again: somebody else may have migrated while we waited to begin.
        for version in range(schema_version(connection), kind.schema_version):
            for statement in statements(kind.migrations[version - 1]()):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version={version + 1}")
        if connection.execute("PRAGMA foreign_key_check").fetchone() is not None:
            raise sqlite3.DatabaseError("a migration breaks a foreign key")
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        connection.execute("PRAGMA foreign_keys=ON")
