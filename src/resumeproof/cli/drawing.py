"""With what, and in how many columns, a picture is drawn on standard output."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from resumeproof.evidence.lanes import Glyphs, Lanes


def drawing() -> tuple[Glyphs, Lanes]:
    """ASCII where standard output's encoding has no more; narrow lanes on a narrow terminal."""
    from resumeproof.evidence.lanes import NARROW, WIDE, glyphs_for

    glyphs = glyphs_for(getattr(sys.stdout, "encoding", None))
    if sys.stdout is None or not sys.stdout.isatty():
        return glyphs, WIDE
    columns = shutil.get_terminal_size((WIDE.width, 24)).columns
    return glyphs, WIDE if columns >= WIDE.width else NARROW
