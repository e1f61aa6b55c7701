"""What the rows of a SQLite journal say, however they were changed by hand.

Damage that a fold can name is handed on as it is; only what cannot be a `Stored` is refused here.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from resumeproof.domain.inspection import Stored
from resumeproof.domain.record import Record
from resumeproof.errors import JournalDamaged, WorkflowNotFound
from resumeproof.stores.sqlite import Database

# The action as BLOB: its bytes, and nothing else, are what is digested and sent.
WORKFLOW: Final = """
    SELECT number, CAST(action AS BLOB) AS action, action_digest,
        id, program, program_digest, ledger_id, mode, "key", status, step, reason,
        approved_digest, in_doubt, attempts, retries, recoveries, max_retries, max_recoveries,
        retry_at, driver, revision, head_hash, created_at, updated_at
    FROM workflows
"""

_ADMITTED: Final = (str, int, type(None))


def lossless_text(stored: bytes) -> str:
    """A TEXT value that need not be UTF-8; what is not becomes lone surrogates (PEP 383)."""
    return stored.decode("utf-8", "surrogateescape")


def workflow_row(database: Database, workflow_id: str) -> sqlite3.Row:
    """The row of one workflow, as selected by `WORKFLOW`.

    Raises `WorkflowNotFound`; `JournalDamaged` where a timeline has lost its row.
    """
    try:
        row = database.row(f"{WORKFLOW} WHERE id = ?", (workflow_id,))
        if row is not None:
            return row
        orphan = database.row("SELECT 1 FROM timeline WHERE workflow_id = ?", (workflow_id,))
    except UnicodeEncodeError:
        # What came from a command line need not be Unicode text, and every stored id is.
        orphan = None
    if orphan is not None:
        raise JournalDamaged(workflow_id, "it has a timeline and no row")
    raise WorkflowNotFound(workflow_id, str(database.path))


def stored_workflow(row: sqlite3.Row, records: tuple[Record, ...]) -> Stored:
    """Raises `JournalDamaged` where a column is of a type that no STRICT table admits.

    A changed byte in the file makes such a value, and no statement can.
    """
    columns = dict(row)
    del columns["number"]
    for name, value in columns.items():
        if not isinstance(value, bytes if name == "action" else _ADMITTED):
            raise JournalDamaged(str(row["id"]), f"column {name} is of type {type(value).__name__}")
    return Stored(
        action=columns.pop("action"),
        action_digest=columns.pop("action_digest"),
        row=columns,
        records=records,
    )


def stored_record(workflow_id: str, row: sqlite3.Row) -> Record:
    """One record, from its columns in order. Raises `JournalDamaged` as `stored_workflow` does."""
    for name, value in zip(row.keys(), row, strict=True):
        if not isinstance(value, int if name == "sequence" else str):
            damage = f"timeline column {name} is of type {type(value).__name__}"
            raise JournalDamaged(workflow_id, damage)
    return Record(*row)
