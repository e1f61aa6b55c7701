"""The state machine as a picture, and on it the path that one workflow took.

The statuses' places are a table; which arrows there are between them is what TRANSITIONS says.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import hypot
from types import MappingProxyType
from typing import Final
from xml.etree.ElementTree import Element

from resumeproof.domain.status import ENDED, TRANSITIONS, Event, Status
from resumeproof.evidence.report.markup import element, number

Point = tuple[float, float]

_PLACES: Final = MappingProxyType(
    {
        Status.PENDING_APPROVAL: (0.0, 1.0),
        Status.APPROVED: (1.2, 1.0),
        Status.RUNNING: (2.4, 1.0),
        Status.WAITING: (2.4, 0.0),
        Status.RETRY_WAIT: (2.4, 2.0),
        Status.UNKNOWN: (3.7, 1.0),
        Status.COMPLETED: (3.7, 0.0),
        Status.FAILED: (3.7, 2.0),
        Status.RECONCILED_APPLIED: (4.9, 0.5),
        Status.RECONCILED_NOT_APPLIED: (4.9, 1.5),
        Status.CANCELLED: (0.6, 2.0),
    }
)
"""How far along the way to an end a status is, and how far aside."""
_ROUND: Final = frozenset({(Status.PENDING_APPROVAL, Status.RUNNING)})
"""Arrows that would run through a status, and so go round it."""
_APART: Final = 11
"""Half of the distance between an arrow and the one that goes back."""


@dataclass(frozen=True, slots=True)
class MachineForm:
    """How much room there is. With `upright`, the way to an end leads down."""

    name: str
    width: int
    height: int
    along: float
    aside: float
    box: Point
    margin: Point
    upright: bool

    def place(self, status: Status) -> Point:
        along, aside = _PLACES[status]
        x, y = along * self.along, aside * self.aside
        left, top = self.margin
        return (left + y, top + x) if self.upright else (left + x, top + y)


WIDE_MACHINE: Final = MachineForm(
    "wide", 960, 292, along=160, aside=96, box=(126, 44), margin=(96, 46), upright=False
)
NARROW_MACHINE: Final = MachineForm(
    "narrow", 358, 482, along=84, aside=130, box=(92, 42), margin=(49, 38), upright=True
)


@dataclass(frozen=True, slots=True)
class Step:
    """One event of a workflow, and the statuses before and after it; None before the first."""

    number: int
    before: Status | None
    event: Event
    after: Status


def path_of(events: Iterable[str]) -> tuple[Step, ...]:
    """The way through the machine. Raises KeyError or ValueError where it accepts no such thing."""
    steps: list[Step] = []
    status: Status | None = None
    for place, name in enumerate(events, start=1):
        event = Event(name)
        after = TRANSITIONS[status, event]
        steps.append(Step(place, status, event, after))
        status = after
    return tuple(steps)


def machine_picture(
    path: Sequence[Step], title: str, identifier: str, form: MachineForm
) -> Element:
    """The machine with a path on it; with an empty path the machine alone."""
    taken: dict[tuple[Status | None, Status], list[int]] = {}
    for step in path:
        taken.setdefault((step.before, step.after), []).append(step.number)
    events: dict[tuple[Status | None, Status], list[str]] = {}
    for (before, event), after in TRANSITIONS.items():
        events.setdefault((before, after), []).append(event)
    arrows = [
        _arrow(pair, named, taken.get(pair, []), form, back=pair[::-1] in events)
        for pair, named in sorted(events.items(), key=lambda item: item[0] in taken)
    ]
    seen = {step.after for step in path}
    boxes = [_box(status, form, seen, path[-1].after if path else None) for status in Status]
    name, told = f"{identifier}-{form.name}-title", f"{identifier}-{form.name}-desc"
    return element(
        "svg",
        element("title", title, id=name),
        element("desc", *map(_in_words, path or _every_step()), id=told),
        element("g", *arrows, aria_hidden="true"),
        element("g", *boxes, aria_hidden="true"),
        class_=f"picture machine {form.name}" if path else f"picture machine whole {form.name}",
        viewBox=f"0 0 {form.width} {form.height}",
        width=form.width,
        height=form.height,
        role="img",
        aria_labelledby=f"{name} {told}",
    )


def named(status: Status | Event) -> str:
    """A status or an event as words."""
    return status.replace("_", " ")


def _in_words(step: Step) -> str:
    begin = f"from {named(step.before)} " if step.before else ""
    return f"{step.number}. {named(step.event)}: {begin}to {named(step.after)}. "


def _every_step() -> list[Step]:
    return [
        Step(place, before, event, after)
        for place, ((before, event), after) in enumerate(TRANSITIONS.items(), start=1)
    ]


# -- boxes and arrows ------------------------------------------------------------------------


def _box(status: Status, form: MachineForm, seen: set[Status], last: Status | None) -> Element:
    (x, y), (width, height) = form.place(status), form.box
    classes = ["status"]
    classes += ["seen"] if status in seen else []
    classes += ["last", status] if status is last else []
    made = element("g", class_=" ".join(classes), data_status=str(status))
    frame = {"x": x - width / 2, "y": y - height / 2, "width": width, "height": height}
    made.append(element("rect", **frame, rx=8))
    if status in ENDED:
        inner = {"x": x - width / 2 + 4, "y": y - height / 2 + 4}
        made.append(
            element("rect", **inner, width=width - 8, height=height - 8, rx=5, class_="ended")
        )
    words = named(status).split(" ")
    lines = [words[0], " ".join(words[1:])] if len(named(status)) > 10 else [named(status)]
    label = element("text", x=x, y=y + 5 - (len(lines) - 1) * 8, text_anchor="middle")
    for place, line in enumerate(lines):
        label.append(element("tspan", line, x=x, dy=place and 16))
    made.append(label)
    return made


def _arrow(
    pair: tuple[Status | None, Status],
    events: Sequence[str],
    numbers: Sequence[int],
    form: MachineForm,
    *,
    back: bool,
) -> Element:
    before, after = pair
    line, head, middle = _course(before, after, form, back=back)
    made = element("g", class_="way taken" if numbers else "way")
    begin = named(before) if before else "the beginning"
    told = ", ".join(event.replace("_", " ") for event in events)
    made.append(element("title", f"{begin} to {named(after)}: {told}"))
    made.append(element("path", d=line))
    made.append(element("path", d=head, class_="head"))
    if numbers:
        text = ", ".join(map(str, numbers))
        width = max(20.0, 7.5 * len(text) + 9)
        x, y = middle
        made.append(element("rect", x=x - width / 2, y=y - 10, width=width, height=20, rx=10))
        made.append(element("text", text, x=x, y=y + 4.5, text_anchor="middle"))
    return made


def _course(
    before: Status | None, after: Status, form: MachineForm, *, back: bool
) -> tuple[str, str, Point]:
    """An arrow's line, its head, and the middle where its numbers stand."""
    width, height = form.box
    x, y = form.place(after)
    if before is None:
        return _straight((x - width / 2 - 26, y), (x - width / 2, y), form)
    if before is after:
        return _loop((x - width / 2 + 16, y + height / 2))
    begin = form.place(before)
    if (before, after) in _ROUND:
        return _round(begin, (x, y), form)
    first, last = _edge(begin, (x, y), form.box), _edge((x, y), begin, form.box)
    if back:
        # Two arrows between the same boxes run side by side.
        length = hypot(last[0] - first[0], last[1] - first[1])
        aside = (first[1] - last[1]) / length * _APART, (last[0] - first[0]) / length * _APART
        first, last = _moved(first, aside), _moved(last, aside)
    return _straight(first, last, form)


def _straight(first: Point, last: Point, form: MachineForm) -> tuple[str, str, Point]:
    middle = (first[0] + last[0]) / 2, (first[1] + last[1]) / 2
    return f"M{_at(first)}L{_at(last)}", _head(first, last), middle


def _loop(corner: Point) -> tuple[str, str, Point]:
    """Out of a box's lower edge and back into it."""
    x, y = corner
    last = x + 18, y
    line = f"M{_at(corner)}C{_at((x - 5, y + 20))} {_at((x + 23, y + 20))} {_at(last)}"
    return line, _head((x + 21, y + 9), last), (x + 9, y + 16)


def _round(first: Point, last: Point, form: MachineForm) -> tuple[str, str, Point]:
    """From one box round what lies between to the other."""
    width, height = form.box
    if form.upright:
        out = first[0] - width / 2, first[1] + 8
        into = last[0] - width / 2, last[1] - 8
        bend = min(out[0], into[0]) - 58
        line = f"M{_at(out)}C{_at((bend, out[1]))} {_at((bend, into[1]))} {_at(into)}"
        return line, _head((into[0] - 9, into[1]), into), (bend + 15, (out[1] + into[1]) / 2)
    out, into = (first[0] + 20, first[1] - height / 2), (last[0] - 38, last[1] - height / 2)
    bend = out[1] - 58
    line = f"M{_at(out)}C{_at((out[0], bend))} {_at((into[0], bend))} {_at(into)}"
    return line, _head((into[0], into[1] - 9), into), ((out[0] + into[0]) / 2, bend + 15)


def _edge(inside: Point, towards: Point, box: Point) -> Point:
    """Where the line from a box's middle leaves the box."""
    dx, dy = towards[0] - inside[0], towards[1] - inside[1]
    share = min(
        box[0] / 2 / abs(dx) if dx else 1.0,
        box[1] / 2 / abs(dy) if dy else 1.0,
    )
    return inside[0] + dx * share, inside[1] + dy * share


def _head(first: Point, last: Point) -> str:
    length = hypot(last[0] - first[0], last[1] - first[1])
    x, y = (last[0] - first[0]) / length, (last[1] - first[1]) / length
    left = last[0] - 7 * x - 4 * y, last[1] - 7 * y + 4 * x
    right = last[0] - 7 * x + 4 * y, last[1] - 7 * y - 4 * x
    return f"M{_at(left)}L{_at(last)}L{_at(right)}"


def _moved(point: Point, by: Point) -> Point:
    return point[0] + by[0], point[1] + by[1]


def _at(point: Point) -> str:
    return f"{number(point[0])} {number(point[1])}"
