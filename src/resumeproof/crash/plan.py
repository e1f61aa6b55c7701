"""Where processes are to die: boundaries, crash points, crash plans, and their one-line text.

    plan     = "baseline" / point *( ";" point )       one point for each life that dies
    point    = boundary [ "#" number ]                 the number-th occurrence; 1 if left out
    boundary = name [ "#" number ] ":" ( "before" / "after" )

    >>> str(CrashPlan.parse("tool:after; ack:before#2"))
    'tool:after#1;ack:before#2'

The first life dies at the first point, the life that resumes it at the second, and the life after
the last point is left alone. An empty text is refused: it is what an unset shell variable looks
like, and it must not quietly become a run in which nothing was killed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from resumeproof.errors import PlanRefused

BASELINE: Final = "baseline"

NAME_LIMIT: Final = 200  # characters: a witness must fit into one atomic write
_OCCURRENCE_LIMIT: Final = 999_999_999
_NUMBER: Final = r"[1-9][0-9]{0,8}"
_BOUNDARY: Final = rf"[a-z][a-z0-9_.-]{{0,{NAME_LIMIT - 1}}}(?:#{_NUMBER})?:(?:before|after)"
_BOUNDARY_TEXT: Final = re.compile(_BOUNDARY)
_POINT_TEXT: Final = re.compile(rf"(?P<boundary>{_BOUNDARY})(?:#(?P<occurrence>{_NUMBER}))?")


class Boundary(StrEnum):
    """The six places of the protocol where a process can die, in the order of the protocol."""

    CLAIM_BEFORE = "claim:before"
    CLAIM_AFTER = "claim:after"
    TOOL_BEFORE = "tool:before"
    TOOL_AFTER = "tool:after"
    ACK_BEFORE = "ack:before"
    ACK_AFTER = "ack:after"


@dataclass(frozen=True)
class CrashPoint:
    """The `occurrence`-th time (from 1) that one life comes to `boundary`.

    `boundary` is a `Boundary`, or any text of its shape, such as `append#3:before` for the third
    append of a wrapped store. Raises `PlanRefused` for anything else.
    """

    boundary: str
    occurrence: int = 1

    def __post_init__(self) -> None:
        if not _BOUNDARY_TEXT.fullmatch(self.boundary):
            raise PlanRefused(
                text=self.boundary,
                reason="a boundary is a name and a side, such as tool:after or append#3:before",
            )
        if not 1 <= self.occurrence <= _OCCURRENCE_LIMIT:
            raise PlanRefused(
                text=f"{self.boundary}#{self.occurrence}",
                reason=f"occurrences are counted from 1 to {_OCCURRENCE_LIMIT}",
            )

    def __str__(self) -> str:
        return f"{self.boundary}#{self.occurrence}"

    @classmethod
    def parse(cls, text: str) -> CrashPoint:
        """Read one point, such as `tool:after` or `tool:after#2`; raises `PlanRefused`."""
        match = _POINT_TEXT.fullmatch(text)
        if match is None:
            raise PlanRefused(
                text=text,
                reason="a crash point is a boundary and its occurrence, such as tool:after#1 in "
                "the lab, effect:before#2 of an agent, append:after#1 of a store, call:after#3 of "
                "a program",
            )
        return cls(match["boundary"], int(match["occurrence"] or 1))


@dataclass(frozen=True)
class CrashPlan:
    """The crash points of consecutive lives. No points: the baseline, in which nobody dies."""

    points: tuple[CrashPoint, ...] = ()

    def __str__(self) -> str:
        return ";".join(map(str, self.points)) or BASELINE

    @classmethod
    def parse(cls, text: str) -> CrashPlan:
        """Read a plan's text; blanks round a point are allowed. Raises `PlanRefused`."""
        if text.strip() == BASELINE:
            return cls()
        parts = [part.strip() for part in text.split(";")]
        if "" in parts:
            raise PlanRefused(
                text=text,
                reason=f"a crash point is missing; a plan without any is written {BASELINE!r}",
            )
        return cls(tuple(map(CrashPoint.parse, parts)))
