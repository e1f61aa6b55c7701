"""What an agent's scenario left: the subject's directory, and what the receiver holds."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path

from resumeproof.domain.contract import Lookup, ToolContract
from resumeproof.proof.context import Effect
from resumeproof.proof.image import byte_digest, meanings
from resumeproof.proof.living import Boundary
from resumeproof.proof.oracle import is_ambiguous
from resumeproof.proof.payload import unpack
from resumeproof.stores.receiver import ReceivedEffect

RECEIVER_NAME = "the receiver"
_REMEMBERED_EFFECTS = 1 << 14


class AgentRemains:
    """`received` are all invocations that the receiver holds; `now` tells seconds, as it does."""

    def __init__(
        self,
        directory: Path,
        received: Sequence[ReceivedEffect],
        contract: ToolContract,
        now: Callable[[], float],
    ) -> None:
        self._directory = directory
        self._received = received
        self._contract = contract
        self._now = now

    @cached_property
    def effects(self) -> Sequence[Effect]:
        return [
            _effect(received.kind, received.payload, received.key, received.sequence)
            for received in self._received
            if received.absorbed_by is None
        ]

    @property
    def effect_count(self) -> int:
        return sum(received.absorbed_by is None for received in self._received)

    def image_digest(self) -> str:
        """The subject's bytes, and what the receiver holds.

        When the receiver was asked, and by which life, no subject can see.
        """
        return f"{byte_digest(self._directory)}:{self._held}"

    def meanings(self) -> Mapping[str, str]:
        return {**meanings(self._directory), RECEIVER_NAME: self._held}

    def unknowable(self, boundary: Boundary, baseline: Sequence[Effect]) -> str | None:
        """The key of the effect at which the life died, where neither key nor lookup tells."""
        _, occurrence = boundary
        if not is_ambiguous(self._contract) or occurrence > len(baseline):
            return None
        key = baseline[occurrence - 1].key
        received = [effect for effect in self._received if effect.key == key]
        now = self._now()
        lifetime = self._contract.key_lifetime_seconds
        if self._contract.idempotent and lifetime is not None:
            return key if any(effect.at + lifetime <= now for effect in received) else None
        shown_by = now - self._contract.lookup_lag_seconds
        eventual = self._contract.lookup is Lookup.EVENTUAL
        if eventual and any(effect.at <= shown_by for effect in received):
            return None
        return key

    @cached_property
    def _held(self) -> str:
        rows = [(each.kind, each.payload, each.key, each.absorbed_by) for each in self._received]
        text = repr(rows).encode("utf-8", "backslashreplace")
        return hashlib.blake2b(text, digest_size=16).hexdigest()


@lru_cache(maxsize=_REMEMBERED_EFFECTS)
def _effect(kind: str, payload: bytes, key: str | None, sequence: int) -> Effect:
    """An effect that nobody here changes: the scenarios of one proof have nearly all in common."""
    return Effect(kind, unpack(payload), key, sequence - 1)
