"""What every command that proves something takes: how long, how many at once, and where to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from resumeproof.cli.options import positive_seconds

Command = TypeVar("Command", bound=Callable[..., Any])

JOBS_MAX: Final = 1_000
DEPTH_MAX: Final = 10
PATH: Final = click.Path(path_type=Path)


def takes_timeout(help_text: str) -> Callable[[Command], Command]:
    return click.option(
        "--timeout",
        "timeout_seconds",
        metavar="SECONDS",
        type=positive_seconds,
        default=30.0,
        show_default=True,
        help=help_text,
    )


def takes_jobs(name: str) -> Callable[[Command], Command]:
    """`name` is the plural of what is carried out side by side."""
    return click.option(
        "--jobs",
        metavar="N",
        type=click.IntRange(1, JOBS_MAX),
        help=f"{name.capitalize()} side by side; one for each core if not given.",
    )


def takes_keep(command: Command) -> Command:
    return click.option(
        "--keep",
        metavar="DIR",
        type=PATH,
        help="With --plan: a new or empty directory; otherwise the next free resumeproof-replay.",
    )(command)


def takes_destinations(name: str) -> Callable[[Command], Command]:
    """Where the evidence is written to; `name` is the plural of what JUnit's test cases are."""

    def taking(command: Command) -> Command:
        command = click.option(
            "--junit", metavar="FILE", type=PATH, help=f"Write the {name} as JUnit XML."
        )(command)
        return click.option(
            "--report",
            "report_directory",
            metavar="DIR",
            type=PATH,
            help="Write receipt.json, report.txt and report.html into a new or empty directory.",
        )(command)

    return taking
