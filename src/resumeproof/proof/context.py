"""What a subject is given: a way to have effects, and a way to ask what became of them.

The shape is the one people know: `Context(run_id, log, crash_at=None)`, `ctx.effect(kind, payload,
key=...)`, `ctx.effects`, `ctx.run_id`. What stands behind the log is a list in this process
(`EffectLog`), or a receiver's ledger that survives the process (`ReceiverLog`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resumeproof.domain.contract import Lookup, ToolContract
from resumeproof.errors import LookupNotOffered
from resumeproof.proof.payload import pack, unpack
from resumeproof.stores.receiver import ReceivedEffect, Receiver

EFFECT_BEFORE = "effect:before"
EFFECT_AFTER = "effect:after"

AtBoundary = Callable[[str, int], None]
"""Called at each boundary with its name and the ordinal of the effect within the life (from 1)."""


class InjectedCrash(BaseException):
    """The death of a process, where it is only played (inline isolation).

    A `BaseException`, so that `except Exception` cannot swallow it; `finally` still runs, which is
    one of the things that only a real death shows.
    """


@dataclass(frozen=True)
class Effect:
    """One effect as the receiver knows it; `seq` is its place among all, from 0."""

    kind: str
    payload: Any = None
    key: str | None = None
    seq: int = 0


@dataclass(frozen=True)
class Unknown:
    """What a subject's state may hold for an effect that it cannot know the outcome of."""

    key: str


class EffectLog:
    """The effects of one run, in order, shared by its lives."""

    def __init__(self) -> None:
        self._effects: list[Effect] = []

    def record(self, kind: str, payload: Any = None, key: str | None = None) -> Effect:
        """Let an effect happen, and return it."""
        effect = Effect(kind, payload, key, len(self._effects))
        self._effects.append(effect)
        return effect

    @property
    def effects(self) -> list[Effect]:
        """All effects so far."""
        return list(self._effects)

    def keys(self) -> list[str]:
        """The keys of all effects that have one, in order."""
        return [effect.key for effect in self.effects if effect.key is not None]

    def find(self, key: str) -> Effect | None:
        """The first effect of a key, or None."""
        return next((effect for effect in self.effects if effect.key == key), None)


class ReceiverLog(EffectLog):
    """The effects that a receiver's ledger holds, as the life numbered `life` sees them."""

    def __init__(self, receiver: Receiver, life: int) -> None:
        super().__init__()
        self._receiver = receiver
        self._life = life
        self._ordinal = 0

    def record(self, kind: str, payload: Any = None, key: str | None = None) -> Effect:
        """Send an effect to the receiver, and return it, or the one that a repeat was taken for.

        Raises `KeyConflict` where an idempotent receiver has seen the key with another payload,
        `PayloadRefused` for a payload that cannot leave the process.
        """
        self._ordinal += 1
        packed = pack(payload, "payload")
        received = self._receiver.call(self._life, self._ordinal, kind, packed, key)
        sequence = received.absorbed_by or received.sequence
        return Effect(kind, payload, key, sequence - 1)

    @property
    def effects(self) -> list[Effect]:
        return [effect_of(received) for received in self._receiver.effects()]

    # Agents ask for keys at each step: no other payload is unpacked for that.

    def keys(self) -> list[str]:
        return [effect.key for effect in self._receiver.effects() if effect.key is not None]

    def find(self, key: str) -> Effect | None:
        found = self._receiver.find(key)
        return None if found is None else effect_of(found)


def effect_of(received: ReceivedEffect) -> Effect:
    return Effect(received.kind, unpack(received.payload), received.key, received.sequence - 1)


class Context:
    """Handed to the factory at the start of each life."""

    def __init__(
        self,
        run_id: str,
        log: EffectLog,
        crash_at: int | None = None,
        *,
        directory: Path | None = None,
        contract: ToolContract | None = None,
        at_boundary: AtBoundary | None = None,
    ) -> None:
        self._run_id = run_id
        self._log = log
        self._crash_at = crash_at
        self._directory = directory
        self._contract = contract
        self._at_boundary = at_boundary
        self._count = 0
        self._lock = threading.Lock()
        self.run_id_was_read = False
        self.doubts: list[str] = []

    @property
    def run_id(self) -> str:
        """The scenario's name: "run" for the baseline, "run-<k>" for a crash after effect k."""
        self.run_id_was_read = True
        return self._run_id

    @property
    def directory(self) -> Path:
        """A directory of this scenario's own, which survives the crash."""
        if self._directory is None:
            raise ValueError("this context has no directory; conform() gives one")
        return self._directory

    @property
    def effects(self) -> EffectLog:
        """What the receiver shows of this scenario's effects.

        Raises `LookupNotOffered` where the tool's contract offers no lookup.
        """
        self._need_lookup()
        return self._log

    def effect(self, kind: str, payload: Any = None, key: str | None = None) -> Effect:
        """Let an effect happen at the receiver; the process may die just before it, or just after.

        Raises `KeyConflict` or `PayloadRefused`, as the receiver does.
        """
        with self._lock:
            self._count += 1
            ordinal = self._count
            self._reach(EFFECT_BEFORE, ordinal)
            effect = self._log.record(kind, payload, key)
            self._reach(EFFECT_AFTER, ordinal)
        if self._crash_at is not None and ordinal >= self._crash_at:
            raise InjectedCrash(f"crash after effect #{ordinal} ({kind})")
        return effect

    def lookup(self, key: str) -> Effect | None:
        """The first effect of a key that the receiver shows, or None."""
        self._need_lookup()
        return self._log.find(key)

    def in_doubt(self, key: str) -> None:
        """Report that this subject cannot know whether the effect of `key` happened."""
        self.doubts.append(key)

    def _reach(self, boundary: str, ordinal: int) -> None:
        if self._at_boundary is not None:
            self._at_boundary(boundary, ordinal)

    def _need_lookup(self) -> None:
        if self._contract is not None and self._contract.lookup is Lookup.NONE:
            raise LookupNotOffered(self._contract.name)
