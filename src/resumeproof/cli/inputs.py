"""The inputs of a proof, from a file or from the command line itself."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from resumeproof.errors import UsageRefused


def input_value(text: str) -> Any:
    """An option's type: JSON, and whatever is none is taken as text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def read_inputs(file: Path | None, given: Sequence[Any]) -> list[Any]:
    """The inputs of one proof.

    Raises `click.UsageError` where there are none, or two sources of them, and `UsageRefused` for
    a file that is no UTF-8 JSON array.
    """
    if (file is None) is not bool(given):
        why = "give the inputs either by --inputs FILE or by --input JSON"
        raise click.UsageError(why, click.get_current_context())
    if file is None:
        return list(given)
    try:
        inputs = json.loads(file.read_bytes())
    except OSError as error:
        reason = f"cannot be read: {(error.strerror or str(error)).lower()}"
    except UnicodeDecodeError as error:
        reason = f"is no UTF-8: {error.reason} at byte {error.start}"
    except (ValueError, RecursionError) as error:
        reason = f"is no JSON: {error}"
    else:
        if isinstance(inputs, list):
            return inputs
        reason = "holds no array"
    raise UsageRefused(f"inputs file {file} {reason}")
