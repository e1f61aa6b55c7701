"""`conform`: somebody's own agent, killed at each of its effects."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from resumeproof.cli.evidence import Destination
from resumeproof.cli.inputs import input_value, read_inputs
from resumeproof.cli.interrupt import interrupted_once
from resumeproof.cli.options import one_of, positive_seconds, seconds, takes_at, takes_format
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
from resumeproof.cli.replay import replay_command
from resumeproof.cli.target import load_factory
from resumeproof.crash.kill import Kill
from resumeproof.crash.plan import BASELINE, CrashPlan
from resumeproof.domain.conformance import AT_CALLS
from resumeproof.domain.contract import Lookup, ToolContract
from resumeproof.errors import Exit

if TYPE_CHECKING:
    from resumeproof.domain.conformance import ConformanceReport, ProofTerms

KEPT_DIRECTORY = "resumeproof-replay"
_SIDES = {"before": ("before",), "after": ("after",), "both": ("before", "after")}


@click.command(short_help="Kill an agent at each effect or call, and judge its resumes.")
@click.argument("target")
@click.option(
    "--inputs",
    "inputs_file",
    metavar="FILE",
    type=PATH,
    help="A JSON file that holds an array: what every life is fed, in order.",
)
@click.option(
    "--input",
    "given_inputs",
    metavar="JSON",
    type=input_value,
    multiple=True,
    help="One input, instead of a file; may be repeated. What is no JSON is taken as text.",
)
@takes_at
@click.option(
    "--isolation",
    type=click.Choice(["process", "spawn", "inline"]),
    help="Whether lives are forked, are new interpreters, or only play their deaths.  "
    "[env var: RESUMEPROOF_ISOLATION; default: process]",
)
@click.option(
    "--kill",
    type=one_of(Kill),
    default=str(Kill.SIGKILL),
    show_default=True,
    help="How a life dies.",
)
@click.option(
    "--when",
    type=click.Choice([*_SIDES]),
    help="At which side of an effect it dies; both if not given, and inline only after.",
)
@click.option(
    "--depth",
    metavar="N",
    type=click.IntRange(1, DEPTH_MAX),
    help="Deaths in a row, 1 if not given: 2 kills each resume as well, at every effect or call it "
    "still makes.",
)
@takes_timeout("How long one life may take.")
@takes_jobs("scenarios")
@click.option(
    "--directory",
    metavar="DIR",
    type=PATH,
    help="Where scenarios lie; a memory file system if not given, where there is one.",
)
@click.option("--no-dedupe", is_flag=True, help="Resume equal images once more each time.")
@click.option(
    "--mode",
    type=click.Choice(["idempotent", "non_idempotent"]),
    default="non_idempotent",
    show_default=True,
    help="What the receiver of the effects promises about a repeated key.",
)
@click.option(
    "--lookup",
    type=one_of(Lookup),
    default=str(Lookup.CONSISTENT),
    show_default=True,
    help="Whether it can be asked for a key's effect.",
)
@click.option(
    "--lookup-lag", type=seconds, default=0.0, help="How late an eventual lookup may show it."
)
@click.option(
    "--key-lifetime",
    metavar="SECONDS",
    type=positive_seconds,
    help="How long an idempotent receiver remembers a key; for ever if not given.",
)
@click.option(
    "--plan", metavar="PLAN", help="Carry out this crash plan alone, and keep what it left."
)
@takes_keep
@takes_destinations("scenarios")
@click.option("--no-shrink", is_flag=True, help="Do not look for fewer inputs that still fail.")
@click.option(
    "--allow-empty", is_flag=True, help="Exit with 0 where there were no effects to crash at."
)
@takes_format
@click.pass_obj
def conform(output: Output, /, target: str, **options: Any) -> int:
    """Prove an agent: let it die before and after each effect, resume it, and judge.

    With --at calls it dies at each durable system call below its directory instead, so also between
    two of its own writes, and its final files are compared as well.

    TARGET is module:factory or path/to/file.py:factory. The factory is called with a context for
    every life, and returns an object with step(input) and perhaps state().

    Exits with 1 for findings, and with 2 where nothing was proved.

    \b
    Examples:
      resumeproof conform agent:make --inputs jobs.json
      resumeproof conform agent.py:make --input one --input two --depth 2
      resumeproof conform agent:make --input one --at calls --ignore '*.log'
    """
    context = click.get_current_context()
    inputs = read_inputs(options["inputs_file"], options["given_inputs"])
    arguments = _arguments(options)
    factory, name = load_factory(target)
    destination = Destination.claimed(options["report_directory"], options["junit"])
    keep = _claim_kept(arguments["isolation"], arguments["plan"], options["keep"])
    proof = _Proof(
        name if arguments["isolation"] == "spawn" else factory, {**arguments, "keep": keep}
    )
    tally = progress_bar() or Tally()
    interrupted = False
    try:
        with interrupted_once():
            try:
                report = proof.of(inputs, tally)
                report.replay = replay_command(context, arguments["isolation"])
                if not (options["no_shrink"] or arguments["plan"]):
                    interrupted = not proof.shrink(report, inputs, tally)
            finally:
                tally.clear()
    except KeyboardInterrupt as interrupt:
        note(f"so far: {tally.told()}")
        raise click.Abort from interrupt
    assert report.terms is not None
    terms = replace(report.terms, subject=target)
    destination.write("conform", [(terms, report)])
    _print(output, terms, report, keep)
    if interrupted:
        return Exit.INTERRUPTED
    return _status(report, options["allow_empty"])


@dataclass(frozen=True, slots=True)
class _Proof:
    factory: Callable[..., Any] | str
    arguments: Mapping[str, Any]

    def of(self, inputs: Sequence[Any], progress: Tally) -> ConformanceReport:
        from resumeproof.proof.conform import conform

        progress.say("it runs twice without a crash")
        # Standard output is for the document; only played lives share it, and only they print here.
        with contextlib.redirect_stdout(sys.stderr):
            return conform(self.factory, inputs, progress=progress, **self.arguments)

    def shrink(self, report: ConformanceReport, inputs: Sequence[Any], progress: Tally) -> bool:
        """Note the fewest inputs that still fail; False where that was interrupted."""
        from resumeproof.proof.shrink import shrunk

        progress.say("fewer inputs that still fail are looked for")
        try:
            shrunk(report, inputs, lambda fewer: self.of(fewer, Tally()))
        except KeyboardInterrupt:
            note("interrupted while fewer inputs were looked for; the proof itself is whole")
            return False
        return True


def _arguments(options: Mapping[str, Any]) -> dict[str, Any]:
    """What `conform()` is called with, as far as it does not depend on the target.

    Raises `click.UsageError` for options that contradict each other, `PlanRefused`.
    """
    from resumeproof.proof.conform import chosen_isolation

    plan = options["plan"]
    for wrong, why in (
        (options["ignored"] and options["at"] != AT_CALLS, "--ignore goes with --at calls only"),
        (options["when"] and options["at"] == AT_CALLS, "--when says nothing beside --at calls"),
        (options["keep"] and not plan, "--keep goes with --plan only"),
        (options["depth"] and plan, "--depth says nothing beside --plan: a plan has its own"),
        (options["when"] and plan, "--when says nothing beside --plan: a plan has its own"),
    ):
        if wrong:
            raise click.UsageError(why, click.get_current_context())
    return {
        "isolation": chosen_isolation(options["isolation"]),
        "kill": options["kill"],
        "when": None if options["when"] is None else _SIDES[options["when"]],
        "depth": options["depth"] or 1,
        "timeout_seconds": options["timeout_seconds"],
        "jobs": options["jobs"],
        "directory": options["directory"],
        "dedupe": not options["no_dedupe"],
        "tool": _contract(options),
        "plan": None if plan is None else str(CrashPlan.parse(plan)),
        "at": options["at"],
        "ignore": options["ignored"],
    }


def _contract(options: Mapping[str, Any]) -> ToolContract:
    try:
        return ToolContract(
            "agent",
            idempotent=options["mode"] == "idempotent",
            key_lifetime_seconds=options["key_lifetime"],
            lookup=Lookup(options["lookup"]),
            lookup_lag_seconds=options["lookup_lag"],
        )
    except ValueError as error:
        raise click.UsageError(str(error), click.get_current_context()) from error


def _claim_kept(isolation: str, plan: str | None, named: Path | None) -> Path | None:
    """Where a replay's directories go; None where there is no replay, or no death that is real."""
    if plan in (None, BASELINE) or isolation == "inline":
        return None
    from resumeproof.lab.output import claim_directory

    return claim_directory(named, KEPT_DIRECTORY).absolute()


def _status(report: ConformanceReport, allow_empty: bool) -> int:
    if not report.passed:
        return Exit.FINDINGS
    return Exit.USAGE if report.nothing_proved and not allow_empty else Exit.DONE


def _print(output: Output, terms: ProofTerms, report: ConformanceReport, keep: Path | None) -> None:
    from resumeproof.evidence.proof_receipt import proof_json

    kept = None if keep is None else str(keep)
    output.document({**proof_json(terms, report), "kept": kept})
    headline, *lines = str(report).splitlines()
    output.verdict(headline, good=report.passed and not report.nothing_proved)
    output.lines(lines)
    if kept is not None:
        output.lines([f"  what each life left is in {kept}"])
