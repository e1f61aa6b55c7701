"""The state machine's picture: all of TRANSITIONS, and the path of one workflow on it."""

from __future__ import annotations

import re
from itertools import combinations
from typing import Any

import pytest

from resumeproof.domain.status import ENDED, TRANSITIONS, Status
from resumeproof.evidence.report.machine import (
    NARROW_MACHINE,
    WIDE_MACHINE,
    MachineForm,
    machine_picture,
    path_of,
)
from tests.unit.evidence.report.reading import of_class, text_of

FORMS = pytest.mark.parametrize("form", [WIDE_MACHINE, NARROW_MACHINE], ids=lambda form: form.name)
PATH = path_of(["created", "approved", "attempt_started", "marked_unknown", "reconciled_applied"])


@FORMS
def test_every_status_is_a_box_and_every_transition_lies_on_an_arrow(form: MachineForm) -> None:
    picture = machine_picture((), "t", "p", form)
    boxes = [each.get("data-status") for each in of_class(picture, "status")]
    assert boxes == [str(status) for status in Status]
    ended = {
        each.get("data-status") for each in of_class(picture, "status") if of_class(each, "ended")
    }
    assert ended == {str(status) for status in ENDED}
    told = sorted(text_of(each[0]) for each in of_class(picture, "way"))
    expected: dict[tuple[str, str], list[str]] = {}
    for (before, event), after in TRANSITIONS.items():
        begin = (before or "the_beginning").replace("_", " ")
        expected.setdefault((begin, after.replace("_", " ")), []).append(event.replace("_", " "))
    assert told == sorted(
        f"{begin} to {after}: {', '.join(events)}" for (begin, after), events in expected.items()
    )


@FORMS
def test_the_boxes_stand_apart_within_the_picture(form: MachineForm) -> None:
    width, height = form.box
    for first, second in combinations([form.place(status) for status in Status], 2):
        assert abs(first[0] - second[0]) > width or abs(first[1] - second[1]) > height
    for x, y in (form.place(status) for status in Status):
        assert width / 2 <= x <= form.width - width / 2
        assert height / 2 <= y <= form.height - height / 2


@FORMS
def test_nothing_is_drawn_outside(form: MachineForm) -> None:
    picture = machine_picture(PATH, "t", "p", form)
    for path in picture.iter("path"):
        numbers = list(map(float, re.findall(r"-?[0-9.]+", path.get("d", ""))))
        # A curve's bend reaches beyond it; its ends do not.
        assert 0 <= numbers[-2] <= form.width
        assert 0 <= numbers[-1] <= form.height


@FORMS
def test_a_path_is_numbered_along_its_arrows_and_ends_in_its_status(form: MachineForm) -> None:
    picture = machine_picture(PATH, "t", "p", form)
    numbers = [text_of(each.findall("text")[0]) for each in of_class(picture, "taken")]
    assert sorted(numbers) == ["1", "2", "3", "4", "5"]
    seen = {each.get("data-status") for each in of_class(picture, "seen")}
    assert seen == {str(step.after) for step in PATH}
    assert [each.get("data-status") for each in of_class(picture, "last")] == ["reconciled_applied"]


def test_steps_on_one_arrow_share_it() -> None:
    path = path_of(["created", "approved", "attempt_started", "attempt_started"])
    more = path_of([*(step.event for step in path), "attempt_started"])
    picture = machine_picture(more, "t", "p", WIDE_MACHINE)
    numbers = [text_of(each.findall("text")[0]) for each in of_class(picture, "taken")]
    assert sorted(numbers) == ["1", "2", "3", "4, 5"]


def test_whoever_cannot_see_it_is_told_the_path() -> None:
    picture = machine_picture(PATH[:2], "t", "p", WIDE_MACHINE)
    assert text_of(picture[1]) == (
        "1. created: to pending approval. 2. approved: from pending approval to approved. "
    )


@pytest.mark.parametrize("events", [["approved"], ["created", "completed"], ["no event"]], ids=str)
def test_what_the_machine_does_not_accept_is_no_path(events: list[str]) -> None:
    with pytest.raises((KeyError, ValueError)):
        path_of(events)


def test_every_story_ends_where_its_receipt_says(stories: dict[str, Any]) -> None:
    for workflow in stories["workflows"]:
        path = path_of(record["event"] for record in workflow["timeline"])
        assert path[-1].after == workflow["status"]
