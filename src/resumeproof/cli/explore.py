"""`explore`: any program, killed at each of its durable system calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from resumeproof.cli.evidence import Destination
from resumeproof.cli.interrupt import interrupted_once
from resumeproof.cli.options import takes_format
from resumeproof.cli.output import Output, note
from resumeproof.cli.progress import Tally, progress_bar
from resumeproof.cli.proving import (
    DEPTH_MAX,
    PATH,
    takes_destinations,
    takes_jobs,
    takes_keep,
    takes_timeout,
)
from resumeproof.crash.plan import CrashPlan
from resumeproof.errors import Exit

if TYPE_CHECKING:
    from resumeproof.cli.exploration import Found
    from resumeproof.domain.conformance import ConformanceReport
    from resumeproof.proof.commands.settings import Settings

BUDGET_MAX: Final = 1_000_000
BUDGET: Final = 2_000
KEPT_DIRECTORY: Final = "resumeproof-replay"


@click.command(
    short_help="Kill any program at each of its durable system calls.",
    context_settings={"allow_interspersed_args": False},
)
@click.argument("command", nargs=-1, required=True, metavar="CMD...")
@click.option(
    "--directory",
    metavar="DIR",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="CMD starts in a copy of this directory; in an empty one if not given.",
)
@click.option(
    "--resume",
    metavar="CMD",
    help="What is run after a crash; CMD again if not given.",
)
@click.option("--no-resume", is_flag=True, help="Let the check judge what a crash left as it lies.")
@click.option(
    "--check",
    metavar="CMD",
    help="Says whether all promises hold, by exit 0; else its output is the reason.",
)
@click.option(
    "--compare",
    is_flag=True,
    help="With --check: compare the final files with a run without a crash as well.",
)
@click.option(
    "--ignore",
    "ignored",
    metavar="GLOB",
    multiple=True,
    help="Files that are not compared; may be repeated.",
)
@click.option(
    "--ledger",
    metavar="FILE",
    help="A simulated tool ledger below the directory, whose effects are counted.",
)
@click.option("--power-loss", is_flag=True, help="Try what a disk may keep after a power cut, too.")
@click.option(
    "--budget",
    metavar="N",
    type=click.IntRange(1, BUDGET_MAX),
    default=BUDGET,
    show_default=True,
    help="How many ways of losing power are tried at most. Where there are more, what the resume "
    "and the check read tells which of them make a difference.",
)
@click.option(
    "--domain",
    "domains",
    metavar="PATH",
    multiple=True,
    help="A directory below that loses power on its own; may be repeated.",
)
@click.option(
    "--depth",
    metavar="N",
    type=click.IntRange(1, DEPTH_MAX),
    default=1,
    show_default=True,
    help="Deaths in a row: 2 kills each resume as well, at every call it makes.",
)
@takes_timeout("How long CMD, the resume and the check may take, each.")
@takes_jobs("states")
@click.option("--stack", is_flag=True, help="Say which line of a compiled program made each call.")
@click.option(
    "--plan",
    metavar="PLAN",
    help="Try the state of one plan alone, such as call:after#3 or power.l2.l5-7:after#9, and keep "
    "what it left.",
)
@takes_keep
@click.option(
    "--repro",
    metavar="DIR",
    type=PATH,
    help="Write a folder that reproduces the first failure by itself.",
)
@takes_destinations("states")
@click.option("--allow-empty", is_flag=True, help="Exit with 0 where CMD makes no durable call.")
@takes_format
@click.pass_obj
def explore(output: Output, /, command: Sequence[str], **options: Any) -> int:
    """Prove any program, as it is: kill it at each durable system call, resume it, and judge.

    CMD, the resume and the check are run in the directory. In their words {dir} stands for its
    path, and their environment has it in RESUMEPROOF_DIRECTORY, and in RESUMEPROOF_OUTPUT a file
    with what CMD had printed by then. A resume or a check that is written FILE.py:function is
    called with both, as a path and a text.

    Exits with 1 for findings, and with 2 where nothing was proved.

    \b
    Examples:
      resumeproof explore -- python3 "$PWD/writer.py"
      resumeproof explore --no-resume --check check.py:check --power-loss -- ./writer
    """
    from resumeproof.cli.exploration import Told
    from resumeproof.cli.program import replay_line, settings_of
    from resumeproof.cli.reproduction import SCRIPT, Reproduction

    context = click.get_current_context()
    _refuse_contradictions(options)
    settings = settings_of(command, options)
    plan = None if options["plan"] is None else CrashPlan.parse(options["plan"])
    destination = Destination.claimed(options["report_directory"], options["junit"])
    keep = None if plan is None else _claimed(options["keep"], KEPT_DIRECTORY)
    repro = None if options["repro"] is None else _claimed(options["repro"], "")
    tally = progress_bar() or Tally()
    try:
        with interrupted_once():
            try:
                found = _found(settings, plan, options["jobs"], tally, keep)
            finally:
                tally.clear()
    except KeyboardInterrupt as interrupt:
        note(f"so far: {tally.told()}")
        raise click.Abort from interrupt
    told = Told(found, replay_line(context))
    report = told.report
    assert report.terms is not None
    destination.write("explore", [(report.terms, report)])
    if repro is not None and found.discoveries:
        first = found.discoveries[0]
        Reproduction(found, first, told.replay_of(first), repro).write()
    output.document({**told.document(), "kept": None if keep is None else str(keep)})
    output.verdict(told.headline, good=report.passed and not report.nothing_proved)
    output.lines(told.lines())
    if keep is not None:
        output.lines([f"  what the crash and the resume left is in {keep}"])
    if repro is not None:
        how = f"sh {repro / SCRIPT}" if found.discoveries else "there is none"
        output.lines([f"  the first failure by itself: {how}"])
    return _status(report, options["allow_empty"])


def _found(
    settings: Settings, plan: CrashPlan | None, jobs: int | None, tally: Tally, keep: Path | None
) -> Found:
    from resumeproof.cli.exploration import Found
    from resumeproof.proof.commands.exploring import Explorer
    from resumeproof.proof.commands.looking import discoveries

    with Explorer(settings, jobs, tally) as explorer:
        tally.say("it runs twice without a crash")
        explored = explorer.explore() if plan is None else explorer.try_alone(plan)
        if keep is not None:
            explorer.keep(explored, keep)
        tally.say("what failed is looked at again")
        return Found(settings, explored, discoveries(explored, explorer.court), plan)


def _refuse_contradictions(options: Mapping[str, Any]) -> None:
    for wrong, why in (
        (options["resume"] and options["no_resume"], "--resume contradicts --no-resume"),
        (
            options["depth"] > 1 and options["no_resume"],
            "--depth kills resumes, and there is none with --no-resume",
        ),
        (
            options["no_resume"] and not options["check"],
            "--no-resume needs a --check: what a crash cut short differs from what a run leaves",
        ),
        (options["keep"] and not options["plan"], "--keep goes with --plan only"),
        (
            options["domains"] and not options["power_loss"],
            "--domain says what loses power, and goes with --power-loss only",
        ),
    ):
        if wrong:
            raise click.UsageError(why, click.get_current_context())


def _claimed(named: Path | None, default: str) -> Path:
    from resumeproof.lab.output import claim_directory

    return claim_directory(named, default).absolute()


def _status(report: ConformanceReport, allow_empty: bool) -> int:
    if not report.passed:
        return Exit.FINDINGS
    return Exit.USAGE if report.nothing_proved and not allow_empty else Exit.DONE
