"""`verify`: re-check evidence against the databases beside it."""

from __future__ import annotations

from pathlib import Path

import click

from resumeproof.cli.options import takes_format
from resumeproof.cli.output import Output


@click.command(short_help="Re-check a receipt file against its databases.")
@click.argument("path", type=click.Path(path_type=Path))
@takes_format
@click.pass_obj
def verify(output: Output, path: Path) -> None:
    """Re-check a receipt file, or the directory of a demo, against the databases beside it.

    Everything is derived from the databases again, and the first thing that does not hold is
    named (exit 7). Evidence that somebody only went on with still holds.

    \b
    Example:
      resumeproof verify resumeproof-demo
    """
    from resumeproof.evidence.verify import verify as verified_at

    verified = verified_at(path)
    totals = dict(verified.totals)
    output.document(
        {
            "path": str(verified.path),
            "verified": True,
            "extended": list(verified.extended),
            "totals": totals,
        }
    )
    counted = ", ".join(f"{name} {count}" for name, count in totals.items())
    output.lines(
        [
            f"{verified.path} holds: {counted}",
            *(f"extended since it was written: {what}" for what in verified.extended),
        ]
    )
