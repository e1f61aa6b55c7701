"""What the rows of a SQLite journal say, however they were changed by hand.

Damage that a fold can name is handed on as it is; only what cannot be a `Stored` is refused here.
"""

from __future__ import annotations

import sqlite3
from functools import partial
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

WORKFLOW_BY_ID: Final = f"{WORKFLOW} WHERE id = ?"

_ADMITTED: Final = frozenset({str, int, type(None)})
_RECORD: Final = [str, int, str, str, str, str, str]


lossless_text: Final = partial(str, encoding="utf-8", errors="surrogateescape")
"""A TEXT value that need not be UTF-8; what is not becomes lone surrogates (PEP 383)."""


def workflow_row(database: Database, workflow_id: str) -> sqlite3.Row:
    """The row of one workflow, as selected by `WORKFLOW`.

    Raises `WorkflowNotFound`; `JournalDamaged` where a timeline has lost its row.
    """
    try:
        row = database.row(WORKFLOW_BY_ID, (workflow_id,))
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
    # Not dict(row): that searches the names anew for each column.
    columns = dict(zip(row.keys(), row, strict=True))
    del columns["number"]
    action = columns.pop("action")
    if type(action) is not bytes or not _ADMITTED.issuperset(map(type, columns.values())):
        raise JournalDamaged(str(row["id"]), _misfit({"action": action, **columns}))
    action_digest = columns.pop("action_digest")
    return Stored(row=columns, action=action, action_digest=action_digest, records=records)


def _misfit(columns: dict[str, object]) -> str:
    for name, value in columns.items():
        kind = type(value)
        if kind is not bytes if name == "action" else kind not in _ADMITTED:
            return f"column {name} is of type {kind.__name__}"
    raise ValueError("every column is of a type that a table admits")


def stored_record(workflow_id: str, row: sqlite3.Row) -> Record:
    """One record, from its columns in order. Raises `JournalDamaged` as `stored_workflow` does."""
    if list(map(type, row)) != _RECORD:
        for name, value, kind in zip(row.keys(), row, _RECORD, strict=True):
            if type(value) is not kind:
                damage = f"timeline column {name} is of type {type(value).__name__}"
                raise JournalDamaged(workflow_id, damage)
    return Record(*row)
