"""The marks of a picture. Each meaning has its own shape, and the shapes are told in a legend."""

from __future__ import annotations

from enum import StrEnum
from types import MappingProxyType
from typing import Final
from xml.etree.ElementTree import Element

from resumeproof.domain.status import Event
from resumeproof.evidence.lanes import Mark, Row
from resumeproof.evidence.report.markup import element, extended, number
from resumeproof.evidence.story import BY_PEOPLE

Point = tuple[float, float]


class Shape(StrEnum):
    """What a mark stands for."""

    RECORD = "record"
    DONE = "done"
    PERSON = "person"
    EFFECT = "effect"
    REPLAY = "replay"
    LOOKUP = "lookup"
    REFUSED = "refused"
    LOST = "lost"
    DEATH = "death"
    DOUBT = "doubt"
    WAIT = "wait"


LEGEND: Final = MappingProxyType(
    {
        Shape.RECORD: "a record that a process wrote into the journal",
        Shape.DONE: "the record that ends a workflow well",
        Shape.PERSON: "a record of what a person did",
        Shape.EFFECT: "an effect: the tool acted, and that cannot be taken back",
        Shape.REPLAY: "the same call again: the tool answered with its first receipt",
        Shape.LOOKUP: "a question to the tool",
        Shape.REFUSED: "a call without effect: it failed, or was refused",
        Shape.LOST: "an answer of the tool that nobody lived to hear",
        Shape.DEATH: "the process was killed",
        Shape.DOUBT: "the record that nobody can know",
        Shape.WAIT: "a person has to decide",
    }
)
"""What each shape says, in the order of a legend."""

_PEOPLE = "M-7 8a7 7 0 0 1 14 0zM0-9a4 4 0 1 1 0 8 4 4 0 0 1 0-8z"
_PATHS: Final = MappingProxyType(
    {
        Shape.RECORD: "M-5.5-7h11a1.5 1.5 0 0 1 1.5 1.5v11a1.5 1.5 0 0 1-1.5 1.5h-11a1.5 1.5 0 0 1"
        "-1.5-1.5v-11a1.5 1.5 0 0 1 1.5-1.5z",
        Shape.DONE: "M-7.5-9h15a1.5 1.5 0 0 1 1.5 1.5v15a1.5 1.5 0 0 1-1.5 1.5h-15a1.5 1.5 0 0 1"
        "-1.5-1.5v-15a1.5 1.5 0 0 1 1.5-1.5z",
        Shape.PERSON: _PEOPLE,
        Shape.EFFECT: "M0-11l11 11-11 11-11-11z",
        Shape.REPLAY: "M0-9.5l9.5 9.5-9.5 9.5-9.5-9.5z",
        Shape.LOOKUP: "M-1-8a6 6 0 1 1 0 12 6 6 0 0 1 0-12zM4 3.5l5 5",
        Shape.REFUSED: "M0-8a8 8 0 1 1 0 16 8 8 0 0 1 0-16zM-5.6-5.6l11.2 11.2",
        Shape.LOST: "M11-6l-22 12",
        Shape.DEATH: "M-8-8l16 16m0-16l-16 16",
        Shape.DOUBT: "M-7.5-9h15a1.5 1.5 0 0 1 1.5 1.5v15a1.5 1.5 0 0 1-1.5 1.5h-15a1.5 1.5 0 0 1"
        "-1.5-1.5v-15a1.5 1.5 0 0 1 1.5-1.5z",
        Shape.WAIT: _PEOPLE,
    }
)
_INNER: Final = MappingProxyType(
    {
        Shape.DONE: "M-4.2 0.2l3 3 5.4-6",
        Shape.DOUBT: "M-2.6-2.4a2.6 2.6 0 1 1 3.8 2.3c-.9.5-1.2 1-1.2 1.9m0 2.6v.4",
        Shape.REPLAY: "M-3.4 0h6.8m-2.6-2.6l2.6 2.6-2.6 2.6",
    }
)
_OF_CALLS: Final = MappingProxyType(
    {
        "call applied": Shape.EFFECT,
        "call replayed": Shape.REPLAY,
        "lookup found": Shape.LOOKUP,
        "lookup absent": Shape.LOOKUP,
    }
)
_OF_EVENTS: Final = MappingProxyType(
    {Event.COMPLETED: Shape.DONE, Event.MARKED_UNKNOWN: Shape.DOUBT}
)


def shape_of(row: Row) -> Shape:
    """The shape of a row that has a mark in an outer lane, or of a death."""
    if row.mark is Mark.DEATH:
        return Shape.DEATH
    if row.mark is Mark.WAIT or row.entry is None:
        return Shape.WAIT
    if row.entry.store == "ledger":
        return _OF_CALLS.get(row.entry.what, Shape.REFUSED)
    if row.entry.what in BY_PEOPLE:
        return Shape.PERSON
    return _OF_EVENTS.get(Event(row.entry.what), Shape.RECORD)


def mark(shape: Shape, x: float, y: float) -> Element:
    """The shape with its middle at a place."""
    at = f"translate({number(x)} {number(y)})"
    drawn = element("g", class_=f"mark {shape}", transform=at)
    if shape is Shape.DEATH:
        drawn.append(element("circle", r=15))
    drawn.append(element("path", d=_PATHS[shape]))
    if shape in _INNER:
        drawn.append(element("path", d=_INNER[shape], class_="inner"))
    return drawn


def paths() -> dict[str, list[str]]:
    """How each shape is drawn round its middle, for a script that draws it as `mark` does."""
    return {
        str(shape): [path, *([_INNER[shape]] if shape in _INNER else [])]
        for shape, path in _PATHS.items()
    }


def arrow(begin: float, end: float, y: float) -> Element:
    """From a life to what it wrote."""
    sense = 1 if end > begin else -1
    tip = end - sense * 13
    head = f"M{number(tip - sense * 6)} {number(y - 4)}L{number(tip)} {number(y)}"
    head += f"L{number(tip - sense * 6)} {number(y + 4)}"
    line = element("line", x1=begin + sense * 4, y1=y, x2=tip, y2=y)
    return element("g", line, element("path", d=head), class_="arrow")


def lost(begin: Point, end: Point) -> Element:
    """From a call to the death of its caller, where the answer came too late."""
    path = f"M{number(begin[0])} {number(begin[1])}L{number(end[0])} {number(end[1])}"
    return element("path", d=path, class_="lost")


def legend(shapes: list[Shape]) -> Element:
    """What the given shapes say, in the legend's order."""
    items = (
        element("li", _small(shape), element("span", told))
        for shape, told in LEGEND.items()
        if shape in shapes
    )
    return extended(element("ul", class_="legend"), *items)


def _small(shape: Shape) -> Element:
    return element(
        "svg", mark(shape, 16, 16), viewBox="0 0 32 32", width=22, height=22, aria_hidden="true"
    )
