"""`demo`: the crash boundary, shown."""

from __future__ import annotations

from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from resumeproof.cli.drawing import drawing
from resumeproof.cli.invocation import for_a_session
from resumeproof.cli.options import BOUNDARIES_TEXT, crash_point, one_of, takes_format
from resumeproof.cli.output import Output, note
from resumeproof.crash.kill import Kill
from resumeproof.crash.plan import Boundary
from resumeproof.errors import Exit

if TYPE_CHECKING:
    from resumeproof.lab.demo import DemoResult, Fact


@click.command(short_help="Crash two workflows, resume them, and show what happened.")
@click.option(
    "--output-dir",
    type=click.Path(path_type=Path),
    help="A new or empty directory; otherwise the next free resumeproof-demo.",
)
@click.option(
    "--crash-at",
    metavar="BOUNDARY[#K]",
    default=str(Boundary.TOOL_AFTER),
    show_default=True,
    help=f"Where both processes die: the K-th time at one of {BOUNDARIES_TEXT}.",
)
@click.option(
    "--kill",
    type=one_of(Kill),
    default=str(Kill.EXIT86),
    show_default=True,
    help="How they die: by themselves, or by a supervisor's SIGKILL.",
)
@takes_format
@click.pass_obj
def demo(output: Output, output_dir: Path | None, crash_at: str, kill: str) -> int:
    """Let two workflows die at one boundary, resume them, and show what was and was not known.

    One has an idempotency key, the other has neither key nor lookup. Writes receipt.json,
    timeline.txt, report.html and both databases. Exits with 1 if a fact is not as it should be.

    \b
    Examples:
      resumeproof demo
      resumeproof demo --kill sigkill --output-dir evidence
    """
    from resumeproof.lab.closing import closing
    from resumeproof.lab.demo import picture_of, run_demo
    from resumeproof.lab.output import claim_directory
    from resumeproof.lab.subject import Times

    point = crash_point(crash_at)
    result = run_demo(
        claim_directory(output_dir),
        point=point,
        kill=Kill(kill),
        times=Times(start=None),
        progress=note,
    )
    output.document(_document(result))
    output.lines([*(_fact_text(fact) for fact in result.facts), ""])
    output.lines([f"evidence is in {result.directory}", ""])
    output.picture([*picture_of(result, *drawing()).splitlines(), ""])
    output.lines(closing(result, *for_a_session()))
    for fact in result.broken:
        note(_fact_text(fact))
    return Exit.FINDINGS if result.broken else Exit.DONE


def _document(result: DemoResult) -> dict[str, Any]:
    return {
        "directory": str(result.directory),
        "held": not result.broken,
        "facts": [
            {
                "what": fact.what,
                "holds": fact.holds,
                "expected": _plain(fact.expected),
                "found": _plain(fact.found),
            }
            for fact in result.facts
        ],
        "scenarios": result.receipt["scenarios"],
        "totals": result.receipt["totals"],
    }


def _plain(value: object) -> object:
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value


def _fact_text(fact: Fact) -> str:
    if not fact.holds:
        return f"NOT SO  {fact.what}: expected {fact.expected}, found {fact.found}"
    found = "nothing has changed" if is_dataclass(fact.found) else fact.found
    return f"holds   {fact.what}: {found}"
