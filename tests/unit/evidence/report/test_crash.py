"""The picture of a crash holds what the receipt says: counted, and in its order."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any
from xml.etree.ElementTree import Element

import pytest

from resumeproof.evidence.lanes import UNICODE, Mark, Row
from resumeproof.evidence.report.cases import Case, cases
from resumeproof.evidence.report.crash import NARROW, WIDE, Form, crash_picture
from resumeproof.evidence.report.knowledge import not_asked
from resumeproof.evidence.report.marks import LEGEND, Shape, paths, shape_of
from tests.unit.evidence.report.reading import of_class, text_of
from tests.unit.evidence.scene import STORIES

FORMS = pytest.mark.parametrize("form", [WIDE, NARROW], ids=lambda form: form.name)
# The story of a conflict needs a workflow before its own.
PLACES = range(len(STORIES) + 1)


def drawn(case: Case, form: Form) -> Element:
    return crash_picture(case.rows, "A title", "crash", form, "not asked")


def marked(picture: Element) -> list[Element]:
    return [each for each in picture.iter() if each.get("data-mark")]


@FORMS
@pytest.mark.parametrize("place", PLACES)
def test_every_record_call_and_life_is_a_mark(
    stories: dict[str, Any], place: int, form: Form
) -> None:
    case = cases(stories)[place]
    workflow = case.workflow
    counted = Counter(each.get("data-mark") for each in marked(drawn(case, form)))
    lives = case.scenario["lives"]
    expected = {
        "record": len(workflow["timeline"]),
        "call": workflow["invocations"] + workflow["lookups"],
        "birth": len(lives),
        "death": sum(life["witnessed"] is not None for life in lives),
        "end": sum(life["witnessed"] is None for life in lives),
        "wait": int(workflow["status"] == "unknown"),
    }
    assert dict(counted) == {kind: count for kind, count in expected.items() if count}


@FORMS
@pytest.mark.parametrize("place", PLACES)
def test_marks_go_downwards_and_lie_in_their_lanes(
    stories: dict[str, Any], place: int, form: Form
) -> None:
    picture = drawn(cases(stories)[place], form)
    places = [
        (float(y), float(x), each.get("class", ""))
        for each in of_class(picture, "mark")
        for x, y in [each.get("transform", "")[len("translate(") : -1].split()]
    ]
    assert [y for y, _, _ in places] == sorted({y for y, _, _ in places})
    lanes = {"death": form.process} | dict.fromkeys(
        ("effect", "replay", "lookup", "refused"), form.ledger
    )
    for _, x, name in places:
        assert x == lanes.get(name.removeprefix("mark "), form.journal)
    assert places[-1][0] < float(picture.get("height", ""))


@FORMS
def test_a_life_is_a_bar_from_its_birth_to_its_death_and_the_next_begins_below(
    stories: dict[str, Any], form: Form
) -> None:
    picture = drawn(cases(stories)[11], form)  # "resume crashed"
    bars = [
        (each.get("class"), float(each.get("y", "")), float(each.get("height", "")))
        for each in of_class(picture, "life")
        if each.tag == "rect"
    ]
    assert [name for name, _, _ in bars] == ["life cut", "life cut", "life whole"]
    for (_, y, height), (_, below, _) in pairwise(bars):
        assert height > 0
        assert below > y + height


def test_a_driver_that_still_runs_is_drawn_to_the_end() -> None:
    rows = [Row(process="life 1", mark=Mark.BIRTH), Row(process="is running", mark=Mark.LIFE)]
    (bar,) = (
        each for each in of_class(crash_picture(rows, "t", "p", WIDE), "life") if each.tag == "rect"
    )
    assert bar.get("class") == "life going"


@FORMS
def test_whoever_cannot_see_it_is_told_the_same(stories: dict[str, Any], form: Form) -> None:
    case = cases(stories)[1]
    picture = drawn(case, form)
    title, told = picture[0], picture[1]
    assert picture.get("role") == "img"
    assert picture.get("aria-labelledby") == f"{title.get('id')} {told.get('id')}"
    assert text_of(told) == (
        "1. Journal: created. "
        "2. Journal: approved by lab. "
        "3. Process: life 1. "
        "4. Journal: attempt 1 started (call). "
        "5. Tool ledger: EFFECT 2 applied. "
        "6. The process died: exit 86 at tool:after#1; the journal knows no outcome, "
        "the ledger keeps 1 effect. "
        "7. Process: life 2. "
        "8. Journal: unknown: outcome_unknown. "
        "9. Process: life 2 ended. "
        "10. The workflow waits for an operator. "
    )


@FORMS
def test_at_a_death_each_store_says_what_it_knows(stories: dict[str, Any], form: Form) -> None:
    picture = drawn(cases(stories)[0], form)
    (death,) = (each for each in marked(picture) if each.get("data-mark") == "death")
    words = {each.get("class"): text_of(each) for each in death.iter("text")}
    knew = [text_of(each) for each in death.iter("text") if each.get("class") == "knows"]
    assert words["died"] == "exit 86 at tool:after#1"
    assert knew == ["the journal knows no outcome", "the ledger keeps 1 effect"]


@FORMS
def test_where_nobody_can_know_it_says_why_the_tool_was_not_asked(
    stories: dict[str, Any], form: Form
) -> None:
    told = [text_of(each) for each in drawn(cases(stories)[1], form).iter("text")]
    known = [text_of(each) for each in drawn(cases(stories)[0], form).iter("text")]
    assert ("not asked" in told, "not asked" in known) == (True, False)


@FORMS
def test_words_stay_in_their_lanes(form: Form) -> None:
    rows = [Row(journal="\u540d" * 300), Row(ledger="w" * 300), Row("k" * 90, "d" * 90, "l" * 90)]
    for words in crash_picture([*rows], "t", "p", form).iter("text"):
        for line in list(words) or [words]:
            wide = sum(2 if character == "\u540d" else 1 for character in text_of(line))
            assert wide <= 40


LOST = {0: ["lost"], 4: [], 11: ["lost"]}
"""An idempotent tool that was killed after its call; one with its answer in hand; killed twice."""


@FORMS
@pytest.mark.parametrize(("place", "expected"), LOST.items(), ids=str)
def test_an_answer_is_lost_only_where_nobody_lived_to_hear_it(
    stories: dict[str, Any], place: int, expected: list[str], form: Form
) -> None:
    picture = drawn(cases(stories)[place], form)
    assert [each.get("class") for each in of_class(picture, "lost")] == expected


def test_each_meaning_has_a_shape_of_its_own_and_words() -> None:
    drawn_as = [tuple(paths()[shape]) for shape in Shape]
    outlines = {Shape.PERSON, Shape.WAIT}  # one is filled, the other only dashed
    assert len(set(drawn_as)) == len(drawn_as) - len(outlines) + 1
    assert LEGEND.keys() == set(Shape)


def test_every_entry_of_every_story_has_a_shape(stories: dict[str, Any]) -> None:
    shapes = {
        shape_of(row)
        for case in cases(stories)
        for row in case.rows
        if row.entry is not None or row.mark in (Mark.DEATH, Mark.WAIT)
    }
    assert shapes == set(Shape) - {Shape.LOST}  # which belongs to two rows


@FORMS
@pytest.mark.parametrize("place", PLACES)
def test_no_words_of_ours_are_cut_off(stories: dict[str, Any], place: int, form: Form) -> None:
    case = cases(stories)[place]
    picture = crash_picture(case.rows, "A title", "crash", form, not_asked(case))
    assert UNICODE.cut not in text_of(picture)
