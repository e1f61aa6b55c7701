"""The command that carries one scenario of a proof out alone."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from typing import Any

import click
from click.core import ParameterSource

from resumeproof.cli.inputs import input_value
from resumeproof.cli.invocation import this_command

_FLAGS = {
    "at": "--at",
    "kill": "--kill",
    "timeout_seconds": "--timeout",
    "mode": "--mode",
    "lookup": "--lookup",
    "lookup_lag": "--lookup-lag",
    "key_lifetime": "--key-lifetime",
}
"""What decides how one scenario comes out, beside the isolation, which the environment may say."""


def replay_command(context: click.Context, isolation: str) -> str:
    """The present command line up to `--plan`, ready for a shell, as far as it counts."""
    words = shlex.join(_words(context, isolation))
    return f"{this_command()} {context.info_name} {words}"


def _words(context: click.Context, isolation: str) -> Iterator[str]:
    given = context.params
    yield given["target"]
    if given["inputs_file"] is not None:
        yield from ("--inputs", str(given["inputs_file"]))
    for value in given["given_inputs"]:
        yield from ("--input", _input(value))
    if isolation != "process":
        yield from ("--isolation", isolation)
    for name, flag in _FLAGS.items():
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            yield from (flag, str(given[name]))
    for glob in given["ignored"]:
        yield from ("--ignore", glob)


def _input(value: Any) -> str:
    """An input as it may have been given; what is not plain, as JSON in ASCII on one line."""
    plain = isinstance(value, str) and value.isprintable() and not value.startswith("-")
    return value if plain and input_value(value) == value else json.dumps(value)
