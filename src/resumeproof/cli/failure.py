"""How a command fails: one line for people, one document for programs, one exit status.

The line goes to standard error. Where a program reads, standard output holds one JSON document
whatever happens: `{"error": {"code", "message", ...facts}}`.
"""

from __future__ import annotations

import os
import sys
import traceback
from dataclasses import dataclass, field
from typing import Any, Final

import click

from resumeproof.cli.output import Output, coloured, complain
from resumeproof.domain.printable import shown
from resumeproof.errors import Exit, ResumeproofError

BUG_STATUS: Final = 70
"""Exit status of an exception that nobody foresaw. Source: EX_SOFTWARE of sysexits.h."""

TRACEBACK_VARIABLE: Final = "RESUMEPROOF_TRACEBACK"


@dataclass(frozen=True, slots=True)
class Failure:
    """What there is to say of an exception."""

    status: int
    code: str
    message: str
    facts: dict[str, Any] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """The `error` object, as it is printed and as it stands in a report."""
        return {"code": self.code, "message": self.message, **self.facts}


def failure_of(error: BaseException) -> Failure:
    """What an exception means to the caller of a command."""
    match error:
        case ResumeproofError():
            return Failure(error.exit, error.code, str(error), error.facts)
        case click.UsageError():
            return Failure(Exit.USAGE, "usage", _usage_message(error))
        case click.ClickException():
            return Failure(Exit.USAGE, "usage", error.format_message())
        case KeyboardInterrupt() | click.Abort():
            return Failure(Exit.INTERRUPTED, "interrupted", "interrupted")
        case OSError():
            # A page of click's own that standard output did not take, for one.
            return Failure(Exit.DAMAGED, "unavailable", f"the system refuses: {error}")
        case _:
            what = f"{type(error).__name__}: {error}".rstrip(": ")
            advice = f"set {TRACEBACK_VARIABLE}=1 for its traceback"
            return Failure(BUG_STATUS, "bug", f"a bug of resumeproof: {what} ({advice})")


def _usage_message(error: click.UsageError) -> str:
    # click lists the choices of a missing option below one another.
    message = " ".join(error.format_message().split())
    command = error.ctx.command_path if error.ctx else "resumeproof"
    ended = message if message.endswith("?") else f"{message.rstrip('.')}."
    return f"{ended} Try '{command} --help'."


def report(error: BaseException, output: Output) -> int:
    """Say that a command failed, on both streams, and return its exit status."""
    failure = failure_of(error)
    try:
        output.document({"error": failure.document()})
        output.finish()
    except ResumeproofError:
        pass  # Standard output takes no more, and standard error is told below.
    if failure.status == BUG_STATUS and os.environ.get(TRACEBACK_VARIABLE) == "1":
        traceback.print_exception(error)
    label = click.style("error:", fg="red", bold=True) if coloured(sys.stderr) else "error:"
    complain(f"resumeproof: {label} {shown(failure.message)}")
    return int(failure.status)
