"""The picture of a crash for people: three lanes, in at most 100 columns, or in 80.

    JOURNAL                          PROCESS                    TOOL LEDGER

The journal's records are on the left, what reached the tool is on the right, and between them
live the processes that wrote to both. A death is a mark in the middle lane; the life that resumes
begins below it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from resumeproof.domain.observation import LifeSeen
from resumeproof.evidence.lanes import HEADER, UNICODE, WIDE, Glyphs, Lanes, cut, lines_of
from resumeproof.evidence.order import Entry
from resumeproof.evidence.story import story


def heading(workflow: Mapping[str, Any], glyphs: Glyphs = UNICODE, lanes: Lanes = WIDE) -> str:
    """Says which workflow the picture is of, in a line, or in two where the lanes are narrow.

    Takes what `workflow_json` returns.
    """
    key = f", key {workflow['key']}" if workflow["key"] else ", no key"
    reason = f" ({workflow['reason']})" if workflow["status"] == "unknown" else ""
    what = f"{workflow['mode']}; {workflow['status']}{reason}{key}"
    if lanes is WIDE:
        return cut(f"{workflow['id']}: {what}", lanes.width, glyphs)
    return f"{cut(workflow['id'], lanes.width, glyphs)}\n{cut(what, lanes.width, glyphs)}"


def render(
    entries: Sequence[Entry],
    *,
    lives: Sequence[LifeSeen] = (),
    driver_alive: bool = False,
    glyphs: Glyphs = UNICODE,
    lanes: Lanes = WIDE,
) -> str:
    """Draw one workflow's entries; `story` says what is asked of the others."""
    rows = [HEADER, *story(entries, lives=lives, driver_alive=driver_alive)]
    return "".join(f"{line}\n" for row in rows for line in lines_of(row, glyphs, lanes))
