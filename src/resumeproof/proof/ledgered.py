"""The effects that a tool ledger holds, as the oracle compares them."""

from __future__ import annotations

from pathlib import Path

from resumeproof.domain.action import Action
from resumeproof.proof.context import Effect
from resumeproof.stores.sqlite_ledger import SqliteLedger


def effects_of_ledger(path: Path) -> list[Effect]:
    """All effects of a ledger, in order; raises what opening it raises."""
    with SqliteLedger.open_reader(path) as ledger:
        return [
            Effect(
                effect.receipt.tool,
                Action.from_canonical(effect.action).arguments,
                effect.receipt.key,
                effect.receipt.sequence - 1,
            )
            for effect in ledger.effects()
        ]
