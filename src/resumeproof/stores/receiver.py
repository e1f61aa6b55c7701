"""The receiver of an agent's effects in one scenario: a small ledger of its own, one row a call.

It keeps a contract's promises as the simulated tool ledger does, in a form that costs one row and
one commit an effect. It lies on a memory file system where there is one, and a process that is
killed loses nothing it wrote, so nothing is synced: power loss is no matter of this store.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from resumeproof.domain.contract import Lookup, ToolContract
from resumeproof.errors import KeyConflict
from resumeproof.stores.kind import schema_resource
from resumeproof.stores.sqlite import connect

_PAGE_BYTES = 1024
_CHECKPOINT_PAGES = 250
_INSERT = (
    "INSERT INTO invocations (sequence, life, ordinal, kind, payload, key, at, absorbed_by)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)


@dataclass(frozen=True)
class ReceivedEffect:
    """One invocation. `payload` is the sender's bytes; `absorbed_by` the sequence of the effect
    that a repeat was taken for, None where the invocation was an effect of its own.
    """

    sequence: int
    life: int
    ordinal: int
    kind: str
    payload: bytes
    key: str | None
    at: float
    absorbed_by: int | None


def make_receiver(path: Path) -> None:
    """Make an empty receiver at a path where nothing is."""
    path.touch(exist_ok=False)
    connection = connect(path, "rw")
    try:
        connection.execute(f"PRAGMA page_size={_PAGE_BYTES}")
        connection.execute("PRAGMA journal_mode=WAL")
        connection.executescript(schema_resource("receiver.sql")())
    finally:
        connection.close()


class Receiver:
    """An open receiver. One process writes at a time; a life opens its own, and forks none.

    Any thread of the life may call, one at a time.

    `now` tells seconds since any epoch that the lives of a scenario share.
    """

    def __init__(self, path: Path, contract: ToolContract, now: Callable[[], float]) -> None:
        self._contract = contract
        self._now = now
        self._connection = connect(path, "rw", any_thread=True)
        self._connection.row_factory = None
        self._connection.execute("PRAGMA synchronous=OFF")
        self._connection.execute(f"PRAGMA wal_autocheckpoint={_CHECKPOINT_PAGES}")
        self.invocations = _read(self._connection)
        self._bound: dict[tuple[str, str], ReceivedEffect] = {}
        for invocation in self.invocations:
            self._remember(invocation)

    def call(
        self, life: int, ordinal: int, kind: str, payload: bytes, key: str | None
    ) -> ReceivedEffect:
        """Apply an effect, or absorb a repeat where the contract is idempotent; in one commit.

        Raises `KeyConflict` for a live key that came with another payload before.
        """
        now = self._now()
        absorbed_by = None
        bound = self._bound_effect(kind, key, now) if self._contract.idempotent else None
        if bound is not None:
            if bound.payload != payload:
                raise KeyConflict(str(key), bound.payload.hex()[:32], payload.hex()[:32])
            absorbed_by = bound.sequence
        invocation = ReceivedEffect(
            len(self.invocations) + 1, life, ordinal, kind, payload, key, now, absorbed_by
        )
        self._connection.execute(
            _INSERT,
            (invocation.sequence, life, ordinal, kind, payload, key, now, absorbed_by),
        )
        self.invocations.append(invocation)
        self._remember(invocation)
        return invocation

    def effects(self) -> list[ReceivedEffect]:
        """The effects that the receiver shows now, in order; an eventual lookup lags behind."""
        shown_by = self._now() - self._contract.lookup_lag_seconds
        eventual = self._contract.lookup is Lookup.EVENTUAL
        return [
            invocation
            for invocation in self.invocations
            if invocation.absorbed_by is None and not (eventual and invocation.at > shown_by)
        ]

    def close(self) -> None:
        self._connection.close()

    def _bound_effect(self, kind: str, key: str | None, now: float) -> ReceivedEffect | None:
        if key is None:
            return None
        bound = self._bound.get((kind, key))
        lifetime = self._contract.key_lifetime_seconds
        if bound is None or (lifetime is not None and bound.at + lifetime <= now):
            return None
        return bound

    def _remember(self, invocation: ReceivedEffect) -> None:
        if invocation.key is not None and invocation.absorbed_by is None:
            self._bound[invocation.kind, invocation.key] = invocation


def read_receiver(path: Path) -> list[ReceivedEffect]:
    """All invocations that a receiver holds, in order."""
    connection = connect(path, "rw")
    try:
        connection.row_factory = None
        return _read(connection)
    finally:
        connection.close()


def _read(connection: sqlite3.Connection) -> list[ReceivedEffect]:
    rows = connection.execute(
        "SELECT sequence, life, ordinal, kind, payload, key, at, absorbed_by"
        " FROM invocations ORDER BY sequence"
    ).fetchall()
    return [ReceivedEffect(*row) for row in rows]
