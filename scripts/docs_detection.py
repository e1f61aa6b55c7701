"""What the documents say of the proof's own worth, by proving every subject of the catalogue.

The tests of the catalogue hold each subject to its row.
"""

from __future__ import annotations

from collections.abc import Sequence

from resumeproof.lab.catalogue import ENTRIES
from resumeproof.lab.selftest import Trial, inline_rates, own_driver, rates, try_all
from resumeproof.proof.progress import Silence

HEADS = ("subject", "what it does", "must be found", "process isolation", "inline isolation")


def trials() -> Sequence[Trial]:
    """Every subject, proved once."""
    return tuple(try_all(ENTRIES, progress=Silence()))


def detection_row(trial: Trial) -> tuple[str, ...]:
    expects = trial.entry.expects
    return (
        f"`{trial.entry.name}`",
        trial.entry.description,
        "nothing" if expects is None else f"`{expects}`",
        trial.process_said,
        trial.inline_said,
    )


def detection_rates(tried: Sequence[Trial]) -> str:
    process, inline = rates(tried), inline_rates(tried)
    own = str(own_driver(tried))
    return (
        f"\nProcess isolation: {process}. Inline isolation: {inline}.\n"
        f"\n{own[0].upper()}{own[1:]}.\n"
    )
