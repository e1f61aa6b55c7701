"""With what, and in how many columns, a picture is drawn on standard output."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

import click

from resumeproof.cli.output import coloured

if TYPE_CHECKING:
    from resumeproof.evidence.lanes import Glyphs, Ink, Lanes


def drawing() -> tuple[Glyphs, Lanes]:
    """ASCII where standard output's encoding has no more; narrow lanes on a narrow terminal.

    In colour where that is wanted, which says nothing that the words do not say as well.
    """
    from dataclasses import replace

    from resumeproof.evidence.lanes import NARROW, WIDE, glyphs_for

    glyphs = glyphs_for(getattr(sys.stdout, "encoding", None))
    if sys.stdout is None or not sys.stdout.isatty():
        return glyphs, WIDE
    if coloured(sys.stdout):
        glyphs = replace(glyphs, paint=_paint)
    columns = shutil.get_terminal_size((WIDE.width, 24)).columns
    return glyphs, WIDE if columns >= WIDE.width else NARROW


def _paint(ink: Ink, text: str) -> str:
    style = _STYLES.get(ink.name)
    return style(text) if style else text


_STYLES: Mapping[str, Callable[[str], str]] = {
    "HEADER": partial(click.style, bold=True),
    "DEATH": partial(click.style, fg="red", bold=True),
    "DOUBT": partial(click.style, fg="yellow", bold=True),
    "EFFECT": partial(click.style, fg="cyan", bold=True),
    "DONE": partial(click.style, fg="green"),
}
"""By the name of an ink, since the inks are imported where a picture is drawn."""
