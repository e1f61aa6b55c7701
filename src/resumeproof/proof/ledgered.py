"""What a scenario left whose effects are in a tool ledger, as the oracle compares them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from resumeproof.domain.action import Action
from resumeproof.proof.context import Effect
from resumeproof.proof.image import byte_digest, meanings
from resumeproof.proof.living import Boundary
from resumeproof.stores.sqlite_ledger import SqliteLedger


def _always_knowable(_: Boundary) -> None:
    """A tool with a key that is kept, or a consistent lookup, settles every doubt."""


class LedgeredRemains:
    """A `resumeproof.proof.living.Remains` of two stores side by side.

    Files whose name ends in one of `unread` are left out: those that no resume reads. `unknowable`
    names the key of the effect whose outcome nobody can know after a death at a boundary.
    """

    def __init__(
        self,
        root: Path,
        ledger_name: str,
        *,
        unread: tuple[str, ...] = (),
        unknowable: Callable[[Boundary], str | None] = _always_knowable,
    ) -> None:
        self._root = root
        self._ledger = root / ledger_name
        self._unread = unread
        self._unknowable = unknowable

    @cached_property
    def effects(self) -> Sequence[Effect]:
        with SqliteLedger.open_reader(self._ledger) as ledger:
            return [
                Effect(
                    effect.receipt.tool,
                    Action.from_canonical(effect.action).arguments,
                    effect.receipt.key,
                    effect.receipt.sequence - 1,
                )
                for effect in ledger.effects()
            ]

    @property
    def effect_count(self) -> int:
        return len(self.effects)

    def image_digest(self) -> str:
        return byte_digest(self._root, without=self._unread)

    def meanings(self) -> Mapping[str, str]:
        meant = meanings(self._root)
        return {name: each for name, each in meant.items() if not name.endswith(self._unread)}

    def unknowable(self, boundary: Boundary, baseline: Sequence[Effect]) -> str | None:
        return self._unknowable(boundary)
