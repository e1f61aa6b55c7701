"""What a tool promises about repeated calls; the recovery table rests on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

KEY_LIFETIME_MARGIN = 0.1
"""Share of a key's lifetime that is not relied upon: clocks differ, and a call takes time."""

LONGEST_SECONDS = 100 * 366 * 86_400.0
"""The longest lifetime and lag that can be promised: instants end with the year 9999."""


class Lookup(StrEnum):
    """Whether the tool can be asked for the effect of a key.

    `EVENTUAL` shows an effect only after a lag, so that "nothing there" proves nothing.
    `CONSISTENT` takes the asking attempt as a fence and refuses calls of older attempts from
    then on; only so does "nothing there" prove that nothing will be there.
    """

    NONE = "none"
    CONSISTENT = "consistent"
    EVENTUAL = "eventual"


@dataclass(frozen=True)
class ToolContract:
    """One tool's promises.

    `idempotent`: one effect per key, a repeat is answered with the first receipt.
    `key_lifetime_seconds`: how long a key is remembered; None is for ever.
    `lookup_lag_seconds`: how late an eventual lookup may show an effect.

    Raises `ValueError` for a promise that contradicts itself.
    """

    name: str
    idempotent: bool = False
    key_lifetime_seconds: float | None = None
    lookup: Lookup = Lookup.NONE
    lookup_lag_seconds: float = 0.0

    def __post_init__(self) -> None:
        lifetime = self.key_lifetime_seconds
        if lifetime is not None and not 0 < lifetime <= LONGEST_SECONDS:
            raise ValueError("a key's lifetime must be more than 0 seconds and at most a century")
        if self.key_lifetime_seconds is not None and not self.idempotent:
            raise ValueError("only an idempotent tool has a key lifetime")
        if not 0 <= self.lookup_lag_seconds <= LONGEST_SECONDS:
            raise ValueError("a lookup's lag must be 0 seconds or more and at most a century")
        if self.lookup_lag_seconds and self.lookup is not Lookup.EVENTUAL:
            raise ValueError("only an eventual lookup has a lag")

    def to_json(self) -> dict[str, Any]:
        return {
            "idempotent": self.idempotent,
            "key_lifetime_seconds": self.key_lifetime_seconds,
            "lookup": str(self.lookup),
            "lookup_lag_seconds": self.lookup_lag_seconds,
            "name": self.name,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> ToolContract:
        """Raises `KeyError`, `TypeError` or `ValueError` for what `to_json` never wrote."""
        return cls(
            name=value["name"],
            idempotent=value["idempotent"],
            key_lifetime_seconds=value["key_lifetime_seconds"],
            lookup=Lookup(value["lookup"]),
            lookup_lag_seconds=value["lookup_lag_seconds"],
        )

    @property
    def relied_lifetime_seconds(self) -> float | None:
        """The part of a key's lifetime that a replay may rely upon; None is for ever."""
        if self.key_lifetime_seconds is None:
            return None
        return self.key_lifetime_seconds * (1 - KEY_LIFETIME_MARGIN)
