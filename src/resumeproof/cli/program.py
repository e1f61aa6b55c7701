"""What the command line of `explore` says of a program: what is run, and the line that says it."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click
from click.core import ParameterSource

from resumeproof.cli.calling import called
from resumeproof.cli.invocation import this_command
from resumeproof.domain.conformance import PLAN_PLACE
from resumeproof.proof.commands.command import Command, Program
from resumeproof.proof.commands.settings import Settings

_VALUES: Final = {
    "directory": "--directory",
    "resume": "--resume",
    "check": "--check",
    "ledger": "--ledger",
    "budget": "--budget",
    "timeout_seconds": "--timeout",
}
_LISTS: Final = {"ignored": "--ignore", "domains": "--domain"}
_FLAGS: Final = {"no_resume": "--no-resume", "compare": "--compare", "power_loss": "--power-loss"}
"""What decides how one state comes out."""

_FUNCTION: Final = re.compile(r".+\.py:[A-Za-z_]\w*")


def settings_of(command: Sequence[str], options: Mapping[str, Any]) -> Settings:
    """How the program is explored. Raises `click.UsageError`, `FactoryRefused`."""
    program = Program(_located(command))
    check = None if options["check"] is None else _command(options["check"])
    resume: Command | None = program
    if options["no_resume"]:
        resume = None
    elif options["resume"] is not None:
        resume = _command(options["resume"])
    return Settings(
        command=program,
        resume=resume,
        check=check,
        directory=options["directory"],
        compares=check is None or options["compare"],
        ignored=options["ignored"],
        ledger=options["ledger"],
        domains=("", *options["domains"]),
        power_loss=options["power_loss"],
        budget=options["budget"],
        depth=options["depth"],
        timeout_seconds=options["timeout_seconds"],
        stack=options["stack"],
    )


def replay_line(context: click.Context) -> str:
    """The present command line, ready for a shell, with a place for a plan."""
    options = context.params
    words: list[str] = []
    for name, flag in _VALUES.items():
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            words += [flag, str(options[name])]
    for name, flag in _LISTS.items():
        words += [word for value in options[name] for word in (flag, value)]
    words += [flag for name, flag in _FLAGS.items() if options[name]]
    given = f"{shlex.join(words)} " if words else ""
    command = shlex.join(options["command"])
    return f"{this_command()} {context.info_name} {given}--plan '{PLAN_PLACE}' -- {command}"


def _command(text: str) -> Command:
    """What an option gives: a Python function, or a command line as a shell would split it."""
    if _FUNCTION.fullmatch(text):
        return called(text)
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise click.UsageError(f"{text!r}: {error}", click.get_current_context()) from error
    if not words:
        raise click.UsageError("a command is blank", click.get_current_context())
    return Program(_located(words))


def _located(words: Sequence[str]) -> tuple[str, ...]:
    """A program that is named by a path is looked for from here, as a shell does.

    Raises `click.UsageError` for a Python file that no shell would start either.
    """
    program = Path(words[0])
    if program.suffix == ".py" and program.is_file() and shutil.which(program) is None:
        how = f"python3 {shlex.quote(str(program.absolute()))}"
        told = (
            f"{program} is not executable: write {how}, or {program}:FUNCTION for a function of it"
        )
        raise click.UsageError(told, click.get_current_context())
    if len(program.parts) > 1 and not program.is_absolute() and program.is_file():
        return (str(program.absolute()), *words[1:])
    return tuple(words)
