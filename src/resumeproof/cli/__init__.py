"""The command line, one file for each group of commands.

This file is all that `--version` costs: whatever a command needs is imported with the command.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import click

from resumeproof.cli.lazy import LazyGroup
from resumeproof.cli.output import Output, settle_errors
from resumeproof.version import __version__

_HOMES = {
    "create": "resumeproof.cli.action:create",
    "approve": "resumeproof.cli.decision:approve",
    "replace-action": "resumeproof.cli.action:replace_action",
    "cancel": "resumeproof.cli.decision:cancel",
    "resume": "resumeproof.cli.resume:resume",
    "reconcile": "resumeproof.cli.decision:reconcile",
    "timeline": "resumeproof.cli.timeline:timeline",
    "show": "resumeproof.cli.look:show",
    "list": "resumeproof.cli.look:list_",
    "effects": "resumeproof.cli.look:effects",
    "health": "resumeproof.cli.health:health",
    "verify": "resumeproof.cli.verify:verify",
    "report": "resumeproof.cli.report:report",
    "demo": "resumeproof.cli.demo:demo",
    "conform": "resumeproof.cli.conform:conform",
    "selftest": "resumeproof.cli.selftest:selftest",
    "shapes": "resumeproof.cli.shapes:shapes",
    "explore": "resumeproof.cli.explore:explore",
}


class CommandLine(LazyGroup):
    """Ends every command with an exit status of docs/cli.md, and never with a traceback."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command, whose value is its exit status; exit with it if `standalone_mode`."""
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        output, given = Output.wanted_by(sys.argv[1:] if args is None else args), sys.stdout
        try:
            status = super().main(
                args, prog_name, complete_var, standalone_mode=False, obj=output, **extra
            )
            output.finish()
        except SystemExit:
            # Where the reader of a help page had enough, click puts another stdout in its place.
            if sys.stdout is given:
                raise
            status = 0
        except (Exception, KeyboardInterrupt) as error:
            from resumeproof.cli.failure import report

            status = report(error, output)
        settle_errors()
        sys.exit(status)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            # Of an option without its argument click does not say which command it was.
            if error.ctx is None and ctx.invoked_subcommand is not None:
                command = self.get_command(ctx, ctx.invoked_subcommand)
                if command is not None:
                    error.ctx = click.Context(command, ctx, ctx.invoked_subcommand)
            raise
        except KeyboardInterrupt as interrupt:
            # Of a KeyboardInterrupt click would print an empty line of its own.
            raise click.Abort from interrupt


@click.group(cls=CommandLine, homes=_HOMES, no_args_is_help=False)
@click.version_option(__version__)
def main() -> None:
    """Kill a workflow wherever a crash can hurt it, resume it, and show whether that was safe.

    \b
    Example:
      resumeproof demo
    """
