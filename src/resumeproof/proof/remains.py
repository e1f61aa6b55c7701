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
from resumeproof.stores.receiver import Holding, look_at_receiver, read_receiver

RECEIVER_NAME = "the receiver"
_REMEMBERED = 64


class AgentRemains:
    """The subject's directory, and the receiver at a path; `now` tells seconds, as it does."""

    def __init__(
        self,
        directory: Path,
        receiver: Path,
        contract: ToolContract,
        now: Callable[[], float],
    ) -> None:
        self._directory = directory
        self._receiver = receiver
        self._holding = look_at_receiver(receiver)
        self._contract = contract
        self._now = now

    @property
    def effects(self) -> Sequence[Effect]:
        return _effects(self._holding)

    @property
    def effect_count(self) -> int:
        return self._holding.effect_count

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
        received = [effect for effect in read_receiver(self._receiver) if effect.key == key]
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
        text = self._holding.text.encode("utf-8", "backslashreplace")
        return hashlib.blake2b(text, digest_size=16).hexdigest()


@lru_cache(maxsize=_REMEMBERED)
def _effects(holding: Holding) -> Sequence[Effect]:
    """Effects that nobody here changes: the scenarios of one proof come to nearly always the same.

    Each of them would else be made anew from its bytes for each scenario.
    """
    return tuple(
        Effect(kind, unpack(payload), key, sequence - 1)
        for sequence, kind, payload, key in holding.effects()
    )
