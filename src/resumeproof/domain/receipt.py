"""What a tool returns for an effect. Its hash covers every column of the effect.

A local hash is no provider's word: it shows that a receipt was changed afterwards, and not that
the tool ever did what it says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from resumeproof.domain.canonical import canonical_bytes, digest_of


@dataclass(frozen=True)
class Receipt:
    """`fingerprint` is the digest of the action's canonical bytes as the tool received them."""

    sequence: int
    receipt_id: str
    ledger_id: str
    workflow_id: str
    step: str
    attempt: int
    tool: str
    key: str | None
    fingerprint: str
    applied_at: str
    hash: str = ""

    @classmethod
    def issued(cls, **fields: Any) -> Receipt:
        """A receipt with its hash; `fields` are all but that."""
        return cls(**fields, hash=_hash(fields))

    def recomputed_hash(self) -> str:
        """SHA-256 of the RFC 8785 form of all fields but `hash`."""
        covered = self.to_json()
        del covered["hash"]
        return _hash(covered)

    def damage(self, *, fingerprint: str) -> str | None:
        """Why this receipt proves no effect of the action with `fingerprint`; None if it does."""
        try:
            hashed = self.recomputed_hash()
        except ValueError as error:
            return f"receipt {self.receipt_id}: its contents cannot be hashed ({error})"
        if self.hash != hashed:
            return f"receipt {self.receipt_id}: its hash does not match its contents"
        if self.fingerprint != fingerprint:
            return f"receipt {self.receipt_id} is of other bytes: {self.fingerprint}"
        return None

    def to_json(self) -> dict[str, Any]:
        return dict(vars(self))

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Receipt:
        """Raises `KeyError` for a missing member."""
        return cls(**{name: value[name] for name in _FIELDS})


def _hash(covered: dict[str, Any]) -> str:
    return digest_of(canonical_bytes(covered))


_FIELDS = tuple(field.name for field in fields(Receipt))


@dataclass(frozen=True)
class ToolCall:
    """What a driver sends: the approved bytes, and who asks.

    `action` is the RFC 8785 canonical bytes as they were stored, never parsed and written again.
    """

    workflow_id: str
    step: str
    attempt: int
    key: str | None
    action: bytes
    tool: str


@dataclass(frozen=True)
class Answer:
    """A tool's receipt; `replayed` says that it is the receipt of an earlier invocation."""

    receipt: Receipt
    replayed: bool
