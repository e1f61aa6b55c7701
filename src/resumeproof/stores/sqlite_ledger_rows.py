"""The rows of a tool ledger on SQLite, as an auditor reads them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Self

from resumeproof.domain.canonical import digest_of
from resumeproof.domain.contract import Lookup, ToolContract
from resumeproof.domain.receipt import Receipt, ToolCall
from resumeproof.errors import (
    FailedBeforeEffect,
    Fenced,
    KeyConflict,
    StoreRefused,
    ToolNotRegistered,
)
from resumeproof.stores.kind import StoreKind, schema_resource
from resumeproof.stores.sqlite import Database

LEDGER = StoreKind(
    name="ledger",
    application_id=0x52504C47,  # "RPLG"
    schema_version=1,
    schema_sql=schema_resource("ledger.sql"),
)


class InvocationOutcome(StrEnum):
    """What came of an invocation. That of a rejected one is the code of its error."""

    APPLIED = "applied"
    REPLAYED = "replayed"
    KEY_CONFLICT = KeyConflict.code
    FENCED = Fenced.code
    FAILED_BEFORE_EFFECT = FailedBeforeEffect.code


@dataclass(frozen=True)
class Effect:
    """One effect: its receipt as it is stored, and the action's bytes as the tool received them."""

    receipt: Receipt
    action: bytes

    @property
    def damage(self) -> str | None:
        """Why the stored row does not hold together; None if it does."""
        return self.receipt.damage(fingerprint=digest_of(self.action))


@dataclass(frozen=True)
class Invocation:
    """One call that reached the tool.

    `outcome` is an `InvocationOutcome` in every row that this package wrote; `effect_sequence` is
    the effect whose receipt was the answer, None for a rejected call.
    """

    sequence: int
    workflow_id: str
    step: str
    attempt: int
    outcome: str
    effect_sequence: int | None
    key: str | None
    fingerprint: str
    at: str


class LookupOutcome(StrEnum):
    """What came of a consistent lookup."""

    FOUND = "found"
    ABSENT = "absent"
    FENCED = Fenced.code


@dataclass(frozen=True)
class FencedLookup:
    """One consistent lookup; its `attempt` is a fence, unless it met a newer one itself.

    `outcome` is a `LookupOutcome` in every row that this package wrote; `effect_sequence` is the
    effect that was found.
    """

    sequence: int
    workflow_id: str
    step: str
    attempt: int
    outcome: str
    effect_sequence: int | None
    key: str
    at: str


_readable_text = partial(str, encoding="utf-8", errors="backslashreplace")


class LedgerRows:
    """What a tool ledger holds. A damaged receipt is handed out as it is, to be noticed."""

    def __init__(self, database: Database) -> None:
        """Take `database` over. Raises `StoreRefused` for a ledger without an id, and closes it."""
        # Text that is no longer UTF-8 is handed out as well: as a receipt that does not verify.
        database.connection.text_factory = _readable_text
        self._database = database
        try:
            self._ledger_id = _ledger_id(database)
        except BaseException:
            database.close()
            raise

    @property
    def path(self) -> Path:
        return self._database.path

    @property
    def database(self) -> Database:
        """The open store, for whoever inspects it: durability, integrity, a snapshot."""
        return self._database

    @property
    def ledger_id(self) -> str:
        return self._ledger_id

    def close(self) -> None:
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def registration(self, workflow_id: str) -> tuple[ToolContract, int]:
        """The contract of the workflow's tool, and how many calls fail before the effect.

        Raises `ToolNotRegistered`; `StoreRefused` for a contract that contradicts itself.
        """
        row = self._database.row(
            "SELECT * FROM registrations WHERE workflow_id = ?", (workflow_id,)
        )
        if row is None:
            raise ToolNotRegistered(workflow_id, str(self.path))
        return self._contract(row), row["fail_before"]

    def _contract(self, row: sqlite3.Row) -> ToolContract:
        try:
            return ToolContract(
                name=row["tool"],
                idempotent=bool(row["idempotent"]),
                key_lifetime_seconds=row["key_lifetime_seconds"],
                lookup=Lookup(row["lookup"]),
                lookup_lag_seconds=row["lookup_lag_seconds"],
            )
        except ValueError as error:
            reason = f"registration of {row['workflow_id']}: {error}"
            raise StoreRefused(LEDGER.name, str(self.path), reason) from error

    def effect_of_key(
        self, call: ToolCall, *, newest: bool = False, applied_by: str | None = None
    ) -> Receipt | None:
        """The first or newest effect of the call's tool and key, applied by an instant if given.

        It may be damaged. Raises `StoreRefused` where an effect that this step applied is gone.
        """
        row = self._database.row(
            "SELECT * FROM effects WHERE tool = :tool AND key = :key"
            " AND (:applied_by IS NULL OR applied_at <= :applied_by)"
            f" ORDER BY sequence {'DESC' if newest else 'ASC'} LIMIT 1",
            {"tool": call.tool, "key": call.key, "applied_by": applied_by},
        )
        return self._damaged_effect(call) if row is None else receipt_of(row, self.ledger_id)

    def _damaged_effect(self, call: ToolCall) -> Receipt | None:
        # A row that lost its tool, key or age to damage must not pass for an effect that never was.
        row = self._database.row(
            "SELECT effects.*, invocations.effect_sequence FROM invocations"
            " LEFT JOIN effects ON effects.sequence = invocations.effect_sequence"
            " WHERE invocations.workflow_id = :workflow_id AND invocations.step = :step"
            " AND invocations.key = :key AND invocations.outcome = 'applied'"
            " ORDER BY invocations.sequence LIMIT 1",
            {"workflow_id": call.workflow_id, "step": call.step, "key": call.key},
        )
        if row is None:
            return None
        if row["sequence"] is None:
            reason = f"effect {row['effect_sequence']} is missing"
            raise StoreRefused(LEDGER.name, str(self.path), reason)
        receipt = receipt_of(row, self.ledger_id)
        return None if receipt.hash == receipt.recomputed_hash() else receipt

    def effect_count(self, workflow_id: str | None = None) -> int:
        """How many effects there are: in all, or of one workflow."""
        of_workflow, parameters = _of_workflow(workflow_id)
        rows = self._database.rows(f"SELECT count(*) FROM effects {of_workflow}", parameters)
        return int(rows[0][0])

    def effects(self, workflow_id: str | None = None) -> Iterator[Effect]:
        """The effects in order: all, or one workflow's."""
        return map(self._effect, self._each("effects", workflow_id))

    def second_effects(self, workflow_id: str | None = None) -> Iterator[Effect]:
        """The effects beyond the first of their key: all, or those one workflow asked for."""
        return map(self._effect, self._each("second_effects", workflow_id))

    def invocations(self, workflow_id: str | None = None) -> Iterator[Invocation]:
        """The invocations in order: all, or one workflow's."""
        return (Invocation(**dict(row)) for row in self._each("invocations", workflow_id))

    def lookups(self, workflow_id: str | None = None) -> Iterator[FencedLookup]:
        """The consistent lookups in order: all, or one workflow's."""
        return (FencedLookup(**dict(row)) for row in self._each("lookups", workflow_id))

    def _each(self, table: str, workflow_id: str | None) -> Iterator[sqlite3.Row]:
        of_workflow, parameters = _of_workflow(workflow_id)
        return self._database.each(
            f"SELECT * FROM {table} {of_workflow} ORDER BY sequence", parameters
        )

    def _effect(self, row: sqlite3.Row) -> Effect:
        return Effect(receipt_of(row, self.ledger_id), row["action"].encode())


def receipt_of(row: sqlite3.Row, ledger_id: str) -> Receipt:
    """The receipt that a row of `effects` stores, whether it verifies or not."""
    return Receipt(
        sequence=row["sequence"],
        receipt_id=row["receipt_id"],
        ledger_id=ledger_id,
        workflow_id=row["workflow_id"],
        step=row["step"],
        attempt=row["attempt"],
        tool=row["tool"],
        key=row["key"],
        fingerprint=row["fingerprint"],
        applied_at=row["applied_at"],
        hash=row["receipt_hash"],
    )


def _ledger_id(database: Database) -> str:
    row = database.row("SELECT ledger_id FROM ledger")
    if row is None:
        raise StoreRefused(LEDGER.name, str(database.path), "it has no id")
    return str(row["ledger_id"])


def _of_workflow(workflow_id: str | None) -> tuple[str, tuple[str, ...]]:
    return ("", ()) if workflow_id is None else ("WHERE workflow_id = ?", (workflow_id,))
