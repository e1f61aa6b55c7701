"""What the documents say of the proof's own worth, by proving every subject of the catalogue."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from resumeproof.lab.catalogue import ENTRIES
from resumeproof.lab.selftest import Trial, inline_rates, own_driver, rates, try_all
from resumeproof.proof.progress import Silence

HEADS = ("subject", "what it does", "must be found", "process isolation", "inline isolation")


@cache
def trials() -> Sequence[Trial]:
    """Every subject, proved once."""
    return tuple(try_all(ENTRIES, progress=Silence()))


def detection_rows() -> Iterator[tuple[str, ...]]:
    for trial in trials():
        expects = trial.entry.expects
        yield (
            f"`{trial.entry.name}`",
            trial.entry.description,
            "nothing" if expects is None else f"`{expects}`",
            trial.process_said,
            trial.inline_said,
        )


def detection_rates() -> str:
    process, inline = rates(trials()), inline_rates(trials())
    own = str(own_driver(trials()))
    return (
        f"\nProcess isolation: {process}. Inline isolation: {inline}.\n"
        f"\n{own[0].upper()}{own[1:]}.\n"
    )
