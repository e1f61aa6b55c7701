"""The receiver of an agent's effects in one scenario: a small ledger of its own, one row a call.

It keeps a contract's promises as the simulated tool ledger does, in a form that costs one row and
one commit an effect. It lies on a memory file system where there is one, and a process that is
killed loses nothing it wrote, so nothing is synced: power loss is no matter of this store.
"""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from resumeproof.domain.contract import Lookup, ToolContract
from resumeproof.errors import KeyConflict
from resumeproof.stores.kind import schema_resource
from resumeproof.stores.sqlite import connect
from resumeproof.stores.sqlite_errors import ErrorsNamed

_PAGE_BYTES = 1024
_CHECKPOINT_PAGES = 250
_COLUMNS = "sequence, life, ordinal, kind, payload, key, at, absorbed_by"
_INSERT = f"INSERT INTO invocations ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_SELECT = f"SELECT {_COLUMNS} FROM invocations ORDER BY sequence"
_HOLDING = """
SELECT count(*) - count(absorbed_by),
    json_group_array(json_array(sequence, kind, hex(payload), key, absorbed_by))
FROM invocations
"""
# A table is read in the order of its rowids where no index is; to ask for that takes twice as long.


class ReceivedEffect(NamedTuple):
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
        self._memory: _Memory | None = None

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
        told = (life, ordinal, kind, payload, key, now, absorbed_by)
        sequence = self._connection.execute(_INSERT, (None, *told)).lastrowid
        assert sequence is not None, "an integer primary key is the rowid"
        invocation = ReceivedEffect(sequence, *told)
        if self._memory is not None:
            self._memory.add(invocation)
        return invocation

    def effects(self) -> list[ReceivedEffect]:
        """The effects that the receiver shows now, in order; an eventual lookup lags behind."""
        return self._shown(self._remembered().effects)

    def find(self, key: str) -> ReceivedEffect | None:
        """The first effect of a key that the receiver shows now, or None."""
        return next(iter(self._shown(self._remembered().of_key(key))), None)

    def close(self) -> None:
        self._connection.close()

    def _shown(self, effects: Sequence[ReceivedEffect]) -> list[ReceivedEffect]:
        if self._contract.lookup is not Lookup.EVENTUAL:
            return list(effects)
        shown_by = self._now() - self._contract.lookup_lag_seconds
        return [effect for effect in effects if effect.at <= shown_by]

    def _bound_effect(self, kind: str, key: str | None, now: float) -> ReceivedEffect | None:
        if key is None:
            return None
        of_key = self._remembered().of_key(key)
        bound = next((effect for effect in reversed(of_key) if effect.kind == kind), None)
        lifetime = self._contract.key_lifetime_seconds
        if bound is None or (lifetime is not None and bound.at + lifetime <= now):
            return None
        return bound

    def _remembered(self) -> _Memory:
        """What the ledger holds; read when it is first asked for, since many lives never ask."""
        if self._memory is None:
            self._memory = _Memory(_read(self._connection))
        return self._memory


class _Memory:
    """The effects in order, and by key, so that a lookup costs the same after thousands."""

    def __init__(self, invocations: Iterable[ReceivedEffect]) -> None:
        self.effects = [each for each in invocations if each.absorbed_by is None]

    def add(self, invocation: ReceivedEffect) -> None:
        if invocation.absorbed_by is None:
            self.effects.append(invocation)
            if "_of_key" in self.__dict__:
                self._of_key[invocation.key].append(invocation)

    def of_key(self, key: str) -> Sequence[ReceivedEffect]:
        return self._of_key.get(key, ())

    @cached_property
    def _of_key(self) -> defaultdict[str | None, list[ReceivedEffect]]:
        found = defaultdict(list)
        for effect in self.effects:
            found[effect.key].append(effect)
        return found


class Holding(NamedTuple):
    """What a receiver holds, but for when it was asked, and by which life.

    `text` says all invocations; it is the same for the same ones, and SQLite writes it much sooner
    than their rows could be read.
    """

    effect_count: int
    text: str

    def effects(self) -> Iterator[tuple[int, str, bytes, str | None]]:
        """Sequence, kind, payload and key of each invocation that was an effect of its own."""
        for sequence, kind, payload, key, absorbed_by in json.loads(self.text):
            if absorbed_by is None:
                yield sequence, kind, bytes.fromhex(payload), key


def look_at_receiver(path: Path) -> Holding:
    """What a receiver holds; no life has it open.

    Raises `StoreUnavailable` or `StoreRefused` where the subject has harmed it.
    """
    with _opened_alone(path) as connection:
        return Holding(*connection.execute(_HOLDING).fetchone())


def read_receiver(path: Path) -> list[ReceivedEffect]:
    """All invocations that a receiver holds, in order; no life has it open.

    Raises as `look_at_receiver` does.
    """
    with _opened_alone(path) as connection:
        return _read(connection)


@contextmanager
def _opened_alone(path: Path) -> Iterator[sqlite3.Connection]:
    settled = not path.with_name(f"{path.name}-wal").exists()
    with ErrorsNamed("receiver", path):
        connection = connect(path, "alone" if settled else "rw")
        try:
            connection.row_factory = None
            yield connection
        finally:
            connection.close()


def _read(connection: sqlite3.Connection) -> list[ReceivedEffect]:
    return list(map(ReceivedEffect._make, connection.execute(_SELECT)))
