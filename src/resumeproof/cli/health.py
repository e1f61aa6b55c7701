"""`health`: the counters of a journal, which no failure of its store may bypass."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from resumeproof.cli.options import takes_format
from resumeproof.cli.output import Output

MEANINGS: Final = {
    "terminal_append_failed": "the record that ends a workflow was not taken",
    "outcome_commit_failed": "what a driver knew, such as a tool's answer, was not taken",
    "cut_off": "a death had left what was never committed, such as a torn line",
    "unreadable": "lines of the counters' own file that say nothing",
}


@click.command(short_help="Show what went wrong while a journal was written.")
@click.option(
    "--journal",
    type=click.Path(path_type=Path),
    default="workflow-journal.sqlite3",
    envvar="RESUMEPROOF_JOURNAL",
    show_envvar=True,
    show_default=True,
    help="The journal: a file, or a directory of JSON.",
)
@takes_format
def health(journal: Path) -> None:
    """Show what went wrong while a journal was written.

    The counters lie beside the journal, in `<journal>.health`, and not in the store that refused.

    \b
    Example:
      resumeproof health --journal workflow-journal.sqlite3
    """
    from resumeproof.runtime.health import UNREADABLE, Counter, read_counts
    from resumeproof.stores.journals import open_journal

    output: Output = click.get_current_context().obj
    with open_journal(journal):
        counted = read_counts(journal)
    counters = {str(name): counted.get(name, 0) for name in (*Counter, UNREADABLE)}
    output.document({"journal": str(journal), "counters": counters})
    width = max(map(len, counters))
    output.lines(f"{counters[name]:>6}  {name:<{width}}  {MEANINGS[name]}" for name in counters)
