"""`selftest`: what the proof itself is worth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from resumeproof.cli.options import takes_format
from resumeproof.cli.output import Output
from resumeproof.cli.progress import progress_bar
from resumeproof.errors import Exit

if TYPE_CHECKING:
    from resumeproof.lab.selftest import Found, OwnDriver, Rates, Trial


@click.command(short_help="Prove subjects whose verdict is known, and see it found.")
@takes_format
@click.pass_obj
def selftest(output: Output) -> int:
    """Prove correct subjects and broken ones, and see whether the proof can tell them apart.

    Each dies in processes that really die, and once more inline, where its death is only played.
    Some die at each durable system call, which strace records; where it cannot, they are not tried.
    The lab's own driver is among the correct ones, and with one bug put into it among the broken.
    Exits with 1 if under process isolation a broken subject is not found for its own reason, or a
    correct one is condemned.

    \b
    Example:
      resumeproof selftest
    """
    from resumeproof.lab.catalogue import ENTRIES
    from resumeproof.lab.selftest import inline_rates, own_driver, rates, try_all
    from resumeproof.proof.progress import Silence

    bar = progress_bar()
    try:
        trials = list(try_all(ENTRIES, progress=bar or Silence()))
    finally:
        if bar is not None:
            bar.clear()
    process, inline, own = rates(trials), inline_rates(trials), own_driver(trials)
    output.document(_document(trials, process, inline, own))
    output.lines(_table(trials))
    output.lines(["", f"process isolation: {process}", f"inline isolation:  {inline}"])
    if own is not None:
        output.lines([str(own)])
    output.lines([f"not tried: {reason}" for reason in _untried(trials)])
    told = all(trial.told or trial.untried for trial in trials)
    return Exit.DONE if told else Exit.FINDINGS


def _untried(trials: Sequence[Trial]) -> Sequence[str]:
    """Why subjects were not tried, each reason once."""
    return list(dict.fromkeys(str(trial.process.failed) for trial in trials if trial.untried))


def _document(
    trials: Sequence[Trial], process: Rates, inline: Rates, own: OwnDriver | None
) -> dict[str, Any]:
    return {
        "subjects": [
            {
                "name": trial.entry.name,
                "description": trial.entry.description,
                "correct": trial.entry.expects is None,
                "expects": sorted(trial.entry.reasons),
                "at": trial.entry.at,
                "told": trial.told,
                "tried": not trial.untried,
                "process": _found(trial.process),
                "inline": trial.inline and _found(trial.inline),
            }
            for trial in trials
        ],
        "rates": {"process": asdict(process), "inline": asdict(inline)},
        "own_driver": own and asdict(own),
    }


def _found(found: Found) -> dict[str, Any]:
    return {"reasons": list(found.reasons), "failed": found.failed}


def _table(trials: Sequence[Trial]) -> Iterator[str]:
    heads = ("subject", "must be found", "process", "inline")
    rows = [
        (
            trial.entry.name,
            trial.entry.expects or "nothing",
            trial.process_said,
            trial.inline_said,
        )
        for trial in trials
    ]
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    yield _row(heads, widths)
    for trial, row in zip(trials, rows, strict=True):
        yield _row(row, widths)
        yield f"  {trial.entry.description}"


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()
