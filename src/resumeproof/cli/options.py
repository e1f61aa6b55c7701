"""What several commands take: stores, a workflow, a format, and values with bounds."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import click

from resumeproof.cli.output import FORMATS
from resumeproof.cli.stores import Stores
from resumeproof.crash.plan import Boundary, CrashPoint
from resumeproof.domain.conformance import AT_CALLS, AT_EFFECTS

Command = TypeVar("Command", bound=Callable[..., Any])

ACTOR_LENGTH_MAX: Final = 1_000
KEY_LENGTH_MAX: Final = 255
NOTE_BYTES_MAX: Final = 64 << 10
SECONDS_MAX: Final = 1e9
"""Some 31 years: far from where adding seconds to an instant overflows."""
COUNT_MAX: Final = 1_000_000
BOUNDARIES: Final = tuple(map(str, Boundary))
BOUNDARIES_TEXT: Final = f"{', '.join(BOUNDARIES[:-1])} and {BOUNDARIES[-1]}"

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def one_of(values: type[StrEnum]) -> click.Choice[str]:
    """An option's type: the value, and not the name, of one member."""
    return click.Choice([str(value) for value in values])


def bounded_text(length_max: int) -> Callable[[str], str]:
    """An option's type: Unicode text of at most `length_max` characters that is not blank."""

    def text(value: str) -> str:
        if not unicode_text(value).strip():
            raise click.BadParameter("it is blank")
        if len(value) > length_max:
            raise click.BadParameter(f"it is longer than {length_max} characters")
        return value

    return text


def note_text(value: str) -> str:
    """An option's type: Unicode text of at most 64 KiB, which may be empty."""
    if len(unicode_text(value).encode()) > NOTE_BYTES_MAX:
        raise click.BadParameter(f"it is longer than {NOTE_BYTES_MAX} bytes")
    return value


def unicode_text(value: str) -> str:
    """Raise `click.BadParameter` for an argument that was no UTF-8.

    It reaches Python with lone surrogates (PEP 383), which neither RFC 8785 nor a store can hold.
    """
    if _LONE_SURROGATE.search(value):
        raise click.BadParameter("it is not valid UTF-8")
    return value


def seconds(value: str | float) -> float:
    """An option's type: a finite number of seconds from 0 on."""
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise click.BadParameter(f"{value!r} is not a number of seconds")
    if not 0 <= number <= SECONDS_MAX:
        raise click.BadParameter(f"{value} is not in the range 0 to {SECONDS_MAX:.0f}")
    return number


def positive_seconds(value: str | float) -> float:
    """An option's type: as `seconds`, without 0."""
    number = seconds(value)
    if not number:
        raise click.BadParameter("it is not above 0")
    return number


def crash_point(text: str) -> CrashPoint:
    """A crash point of the protocol; no other would ever be reached. Raises `PlanRefused`."""
    from resumeproof.errors import PlanRefused

    with suppress(PlanRefused):
        point = CrashPoint.parse(text)
        if point.boundary in BOUNDARIES:
            return point
    raise PlanRefused(text, f"it is no BOUNDARY or BOUNDARY#K; boundaries are {BOUNDARIES_TEXT}")


def takes_format(command: Command) -> Command:
    """`--format`. Its value is in the command's `Output`, which reads it before click does."""
    return click.option(
        "--format",
        type=click.Choice(FORMATS),
        expose_value=False,
        help="Print text or JSON; text on a terminal, JSON in a pipe.",
    )(command)


def takes_at(command: Command) -> Command:
    """`--at` and `--ignore`: where lives of an agent die, and what is not compared then."""
    taken = click.option(
        "--ignore",
        "ignored",
        metavar="GLOB",
        multiple=True,
        help="With --at calls: final files that are not compared; may be repeated.",
    )(command)
    return click.option(
        "--at",
        type=click.Choice([AT_EFFECTS, AT_CALLS]),
        default=AT_EFFECTS,
        show_default=True,
        help="Where it dies: at its effects, or at each durable system call (Linux, with strace).",
    )(taken)


def takes_stores(command: Command) -> Command:
    """`--journal`, `--ledger` and `--format`; the command gets its `Output` and its `Stores`."""

    @functools.wraps(command)
    def given(*, journal: Path, ledger: Path, **options: Any) -> Any:
        output = click.get_current_context().obj
        return command(output, Stores(journal, ledger), **options)

    taken = takes_format(given)
    for name, default, what in (
        ("ledger", "simulated-tool-ledger.sqlite3", "The tool ledger's file."),
        ("journal", "workflow-journal.sqlite3", "The journal: a file, or a directory of JSON."),
    ):
        taken = click.option(
            f"--{name}",
            type=click.Path(path_type=Path),
            default=default,
            envvar=f"RESUMEPROOF_{name.upper()}",
            show_envvar=True,
            show_default=True,
            help=what,
        )(taken)
    return cast("Command", taken)


takes_workflow = click.option(
    "--workflow",
    "workflow_id",
    metavar="ID",
    required=True,
    type=bounded_text(KEY_LENGTH_MAX),
    help="The workflow's id, as `create` printed it.",
)
takes_actor = click.option(
    "--actor",
    metavar="NAME",
    required=True,
    type=bounded_text(ACTOR_LENGTH_MAX),
    help="Who decides: a label for the record, not authentication.",
)
takes_action = click.option(
    "--action",
    "action_file",
    metavar="FILE",
    required=True,
    type=click.Path(allow_dash=True, path_type=Path),
    help="The action's JSON file; - reads standard input.",
)
