"""`shapes`: this package's own runtime, killed at every persistence call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from resumeproof.cli.evidence import Destination
from resumeproof.cli.interrupt import interrupted_once
from resumeproof.cli.invocation import this_command
from resumeproof.cli.options import one_of, takes_format
from resumeproof.cli.output import Output, note
from resumeproof.cli.progress import Tally, progress_bar
from resumeproof.cli.proving import DEPTH_MAX, takes_destinations, takes_jobs
from resumeproof.cli.text import columns
from resumeproof.crash.plan import CrashPlan
from resumeproof.errors import Exit
from resumeproof.stores.protocols import JournalFormat

if TYPE_CHECKING:
    from resumeproof.domain.conformance import ConformanceReport, Proof
    from resumeproof.proof.shapes.run import Cell


Proved = Sequence[tuple["Cell", "ConformanceReport"]]

SHAPE_NAMES = (
    "effect_chain",
    "tool_approval",
    "event_fanout",
    "wait_until",
    "subworkflow",
    "steer_drain",
    "entity_visit",
)
"""As in `resumeproof.proof.shapes.SHAPES`, which a mere `--help` does not import."""

MODE_NAMES = ("sigkill", "exit86", "enospc", "eio", "rival", "stop")
"""As in `resumeproof.proof.shapes.disturbance.Mode`."""


@click.command(short_help="Kill workflow shapes at every persistence call.")
@click.option(
    "--shape",
    "names",
    type=click.Choice(SHAPE_NAMES),
    multiple=True,
    help="A shape; may be repeated. All if not given.",
)
@click.option(
    "--journal",
    "formats",
    type=one_of(JournalFormat),
    multiple=True,
    help="What the journal is kept in; may be repeated. Both if not given.",
)
@click.option(
    "--mode",
    "modes",
    type=click.Choice(MODE_NAMES),
    multiple=True,
    help="What happens at the call: a death; an error instead of it; a second driver starts; or "
    "another driver takes over from a stopped one. May be repeated; sigkill if not given.",
)
@click.option(
    "--depth",
    metavar="N",
    type=click.IntRange(1, DEPTH_MAX),
    default=1,
    show_default=True,
    help="Deaths in a row: 2 kills each resume as well, at every call it still makes.",
)
@takes_jobs("scenarios")
@click.option(
    "--plan",
    metavar="PLAN",
    help="Carry out this crash plan alone, such as append:before#3, in each place.",
)
@takes_destinations("scenarios")
@takes_format
@click.pass_obj
def shapes(output: Output, /, **options: Any) -> int:
    """Let the drivers of seven workflow shapes die at every call of a store, and judge.

    A shape is a pattern of workflows whose crash safety is claimed, with what must come of it. Its
    drivers die before and after each append, save and commit of the journal and each call of the
    tool; then the next driver goes on, and what it comes to is held against a run without a crash.
    A driver that gets an error or a rival instead lives on, and dies at its end.

    Exits with 1 for findings.

    \b
    Examples:
      resumeproof shapes
      resumeproof shapes --shape effect_chain --journal json --depth 2
    """
    plan = None if options["plan"] is None else CrashPlan.parse(options["plan"])
    depth = options["depth"]
    if plan is not None:
        depth = max(1, len(plan.points))
    destination = Destination.claimed(options["report_directory"], options["junit"])
    tally = progress_bar() or Tally()
    proved: list[tuple[Cell, ConformanceReport]] = []
    try:
        with interrupted_once():
            try:
                _prove(options, depth, plan, tally, proved)
            finally:
                tally.clear()
    except KeyboardInterrupt as interrupt:
        note(f"so far: {_told(proved)}; of the next: {tally.told()}")
        raise click.Abort from interrupt
    destination.write("shapes", [_with_terms(report) for _, report in proved])
    output.document(_document(proved))
    output.lines(_matrix(proved))
    output.lines(_findings(proved))
    good = all(report.passed for _, report in proved)
    output.verdict(_verdict(proved), good=good)
    return Exit.DONE if good else Exit.FINDINGS


def _told(proved: Proved) -> str:
    failed = sum(not report.passed for _, report in proved)
    return f"{len(proved)} proof(s) done, {failed} failed"


def _prove(
    options: Mapping[str, Any],
    depth: int,
    plan: CrashPlan | None,
    progress: Tally,
    proved: list[tuple[Cell, ConformanceReport]],
) -> None:
    """Prove one shape after the other; what is done is in `proved`, whatever comes after it."""
    from resumeproof.proof.shapes import SHAPES
    from resumeproof.proof.shapes.disturbance import Mode
    from resumeproof.proof.shapes.run import cells, prove_cell

    chosen = [SHAPES[name] for name in options["names"] or SHAPE_NAMES]
    formats = [JournalFormat(each) for each in options["formats"] or JournalFormat]
    modes = [Mode(each) for each in options["modes"] or [Mode.SIGKILL]]
    for cell in cells(chosen, formats, modes):
        progress.start(0)
        progress.say(f"{cell}: it runs twice without a crash")
        report = prove_cell(cell, depth=depth, jobs=options["jobs"], progress=progress, plan=plan)
        report.replay = (
            f"{this_command()} shapes --shape {cell.shape.name} "
            f"--journal {cell.journal_format} --mode {cell.mode}"
        )
        proved.append((cell, report))


def _with_terms(report: ConformanceReport) -> Proof:
    assert report.terms is not None
    return report.terms, report


def _document(proved: Proved) -> dict[str, Any]:
    from resumeproof.domain.conformance import total

    reports = [report for _, report in proved]
    return {
        "passed": all(report.passed for report in reports),
        "certificate": asdict(total(reports)),
        "absorbed": sum(report.absorbed for report in reports),
        "proofs": [
            {
                "shape": cell.shape.name,
                "journal": str(cell.journal_format),
                "mode": str(cell.mode),
                "passed": report.passed,
                "certificate": asdict(report.certificate),
                "absorbed": report.absorbed,
                "findings": [
                    {
                        "kind": str(finding.kind),
                        "detail": finding.detail,
                        "plan": finding.plan,
                        "replay": report.replay_of(finding),
                    }
                    for finding in report.findings
                ],
                "invalid": report.invalid,
                "nondeterminism": report.nondeterminism,
            }
            for cell, report in proved
        ],
    }


def _matrix(proved: Proved) -> Iterator[str]:
    """A shape on a journal a line, and a mode a column."""
    modes = list(dict.fromkeys(str(cell.mode) for cell, _ in proved))
    lines: dict[tuple[str, str], dict[str, str]] = {}
    for cell, report in proved:
        place = (cell.shape.name, str(cell.journal_format))
        lines.setdefault(place, {})[str(cell.mode)] = _said(report)
    rows = [(*place, *(said[mode] for mode in modes)) for place, said in lines.items()]
    yield from columns([("shape", "journal", *modes), *rows])
    yield ""


def _said(report: ConformanceReport) -> str:
    kills = f"{report.certificate.verified} kills"
    if report.passed:
        return f"{kills}, passed"
    invalid = f", {len(report.invalid)} INVALID" if report.invalid else ""
    return f"{kills}, {len(report.findings)} FOUND{invalid}"


def _findings(proved: Proved) -> Iterator[str]:
    for cell, report in proved:
        if report.passed and report.nondeterminism is None:
            continue
        yield f"{cell}:"
        yield from str(report).splitlines()[1:]
        yield ""


def _verdict(proved: Proved) -> str:
    from resumeproof.domain.conformance import total

    reports = [report for _, report in proved]
    verdict = "PASS" if all(report.passed for report in reports) else "FAIL"
    found = sum(len(report.findings) for report in reports)
    absorbed = sum(report.absorbed for report in reports)
    return (
        f"shapes: {verdict}, {found} finding(s); {total(reports)}; "
        f"{absorbed} calls answered with an earlier receipt"
    )
