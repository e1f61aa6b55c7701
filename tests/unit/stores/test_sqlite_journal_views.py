"""What the journal's views show, asked of SQLite alone, as any tool would."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from resumeproof.domain import protocol
from resumeproof.domain.decision import Acknowledge, Doubt, MarkUnknown, Purpose
from resumeproof.domain.receipt import Receipt
from resumeproof.domain.record import Draft
from resumeproof.domain.status import Event
from resumeproof.proof.told import (
    CREATED_AT,
    Told,
    approved,
    at,
    cancelled,
    created,
    replaced,
    write,
)
from resumeproof.stores.sqlite_journal import SqliteJournal


def claimed(told: Told, purpose: Purpose, driver: str) -> Told:
    return told.then(
        protocol.claim(told.workflow, purpose, driver=driver, digest=told.action.digest)
    )


def acknowledged(told: Told) -> Told:
    receipt = Receipt(
        sequence=1,
        receipt_id="receipt-1",
        ledger_id="ledger-1",
        workflow_id=told.workflow.id,
        step="call",
        attempt=1,
        tool="charge",
        key="key-1",
        fingerprint=told.action.digest,
        applied_at=CREATED_AT,
    )
    receipt = replace(receipt, hash=receipt.recomputed_hash())
    conclusion = Acknowledge(receipt, replayed=True, source=Purpose.CALL)
    return told.then(*protocol.outcome(told.workflow, conclusion, claimed=True, then="finish"))


def marked_unknown(told: Told) -> Told:
    conclusion = MarkUnknown(Doubt.OUTCOME_UNKNOWN)
    return told.then(*protocol.outcome(told.workflow, conclusion, claimed=False))


@pytest.fixture
def lived(journal_path: Path) -> Path:
    """A journal of lives: an acknowledgement after a death, two decisions, an open attempt."""
    w = approved(replaced(approved(created("w"), "ada"), 9900), "grace")
    w = acknowledged(claimed(claimed(w, Purpose.CALL, "driver-1"), Purpose.REPLAY, "driver-2"))
    x = marked_unknown(claimed(approved(created("x", key=None)), Purpose.CALL, "driver-3"))
    x = x.then(Draft(Event.RECONCILED_APPLIED, {"actor": "ada", "note": "it's on the statement"}))
    y = marked_unknown(claimed(approved(created("y", key=None)), Purpose.CALL, "driver-4"))
    y = y.then(Draft(Event.RECONCILED_NOT_APPLIED, {"actor": "grace", "note": ""}))
    with SqliteJournal.open(journal_path) as journal:
        for told in (w, x, y, claimed(approved(created("z")), Purpose.CALL, "driver-5")):
            write(journal, None, told)
        write(journal, None, cancelled(approved(created("v"))))
    return journal_path


def view(path: Path, name: str) -> list[dict[str, object]]:
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        query = f"SELECT * FROM {name} ORDER BY workflow_id, sequence"
        return [dict(row) for row in connection.execute(query)]


def table(columns: str, *rows: tuple[object, ...]) -> list[dict[str, object]]:
    return [dict(zip(columns.split(), row, strict=True)) for row in rows]


def test_approvals_say_which_were_voided(lived: Path) -> None:
    first, second = created("w").action.digest, replaced(created("w"), 9900).action.digest
    assert view(lived, "approvals") == table(
        "workflow_id sequence at actor digest voided",
        ("v", 2, at(2), "ada", first, 1),
        ("w", 2, at(2), "ada", first, 1),
        ("w", 4, at(4), "grace", second, 0),
        ("x", 2, at(2), "ada", first, 0),
        ("y", 2, at(2), "ada", first, 0),
        ("z", 2, at(2), "ada", first, 0),
    )


def test_attempts_say_how_they_ended_and_which_were_found_dead(lived: Path) -> None:
    first, second = created("w").action.digest, replaced(created("w"), 9900).action.digest
    assert view(lived, "attempts") == table(
        "workflow_id attempt purpose step driver digest sequence at outcome outcome_at recovered",
        ("w", 1, "call", "call", "driver-1", second, 5, at(5), None, None, 1),
        ("w", 2, "replay", "call", "driver-2", second, 6, at(6), "effect_acknowledged", at(7), 0),
        ("x", 1, "call", "call", "driver-3", first, 3, at(3), "marked_unknown", at(4), 1),
        ("y", 1, "call", "call", "driver-4", first, 3, at(3), "marked_unknown", at(4), 1),
        ("z", 1, "call", "call", "driver-5", first, 3, at(3), None, None, 0),
    )


def test_acknowledgements_name_their_receipts(lived: Path) -> None:
    digest = replaced(created("w"), 9900).action.digest
    assert view(lived, "acknowledgements") == table(
        "workflow_id sequence at step attempt recovered_attempt source replayed receipt_id "
        "receipt_attempt fingerprint applied_at",
        ("w", 7, at(7), "call", 2, None, "call", 1, "receipt-1", 1, digest, CREATED_AT),
    )


def test_reconciliations_name_who_decided_what(lived: Path) -> None:
    assert view(lived, "reconciliations") == table(
        "workflow_id sequence at actor resolution note",
        ("x", 5, at(5), "ada", "confirmed_applied", "it's on the statement"),
        ("y", 5, at(5), "grace", "confirmed_not_applied", ""),
    )
