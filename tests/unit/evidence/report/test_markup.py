"""Whatever somebody else wrote is text in a page, and stays on its line."""

from __future__ import annotations

import json

import pytest

from resumeproof.evidence.report.markup import (
    DISPLAYED_AT_MOST,
    brief,
    counted,
    data,
    displayed,
    element,
    html,
    joined,
    number,
    svg,
    verbatim,
)
from tests.unit.evidence.report.reading import read, text_of

HOSTILE = {
    "markup": ("<script>alert(1)</script>", "<script>alert(1)</script>"),
    "an attribute's end": ("\" onload='x' a=\"", "\" onload='x' a=\""),
    "a reference": ("&lt;b&gt; &amp;", "&lt;b&gt; &amp;"),
    "control": ("\x00\x1b[2J\x9b", "\\u0000\\u001b[2J\\u009b"),
    "line ends": ("a\r\nb\u2028", "a\\u000d\\u000ab\\u2028"),
    "bidirectional": ("a\u202ecila\u2066", "a\\u202ecila\\u2066"),
    "a lone surrogate": ("\ud800", "\\ud800"),
    "a comment": ("--> <!-- ]]>", "--> <!-- ]]>"),
}
every_hostile = pytest.mark.parametrize(("text", "shown"), HOSTILE.values(), ids=HOSTILE)


@every_hostile
def test_text_comes_back_as_it_is_displayed(text: str, shown: str) -> None:
    page = html(element("p", element("b", "before"), text, title=text))
    (paragraph,) = (read(page),)
    assert (text_of(paragraph), paragraph.get("title")) == (f"before{shown}", shown)
    assert [each.tag for each in paragraph.iter()] == ["p", "b"]


@every_hostile
def test_data_comes_back_as_it_was_and_begins_no_markup(text: str, shown: str) -> None:
    page = html(element("body", data("told", {"text": text})))
    script = read(page)[0]
    assert json.loads(text_of(script)) == {"text": text}
    assert "<" not in text_of(script)


def test_a_name_is_cut_where_a_sentence_would_drown_in_it() -> None:
    assert brief("x" * 101) == "x" * 100 + "\N{HORIZONTAL ELLIPSIS} [101 characters]"
    assert brief("a\nb") == "a\\u000ab"


def test_a_megabyte_is_cut_and_its_length_is_said() -> None:
    shown = displayed("x" * 1_000_000)
    assert shown == "x" * DISPLAYED_AT_MOST + "\N{HORIZONTAL ELLIPSIS} [1,000,000 characters]"
    assert displayed("x" * DISPLAYED_AT_MOST) == "x" * DISPLAYED_AT_MOST


@pytest.mark.parametrize("text", ["</style>", "a <!-- b", "</"])
def test_what_would_end_a_style_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="must not hold"):
        verbatim("style", text)


def test_names_and_numbers_are_written_as_svg_takes_them() -> None:
    made = element("line", x1=1.005, x2=2.0, stroke_width=1.5, class_="rail", y1=None)
    assert made.attrib == {"x1": "1", "x2": "2", "stroke-width": "1.5", "class": "rail"}
    assert list(map(number, (0, -0.001, 1 / 3, 100.0))) == ["0", "0", "0.33", "100"]


def test_a_picture_of_its_own_has_its_namespace() -> None:
    assert (
        svg(element("svg", element("g"))) == '<svg xmlns="http://www.w3.org/2000/svg"><g /></svg>\n'
    )


def test_words_are_counted_and_joined() -> None:
    assert [counted(count, "call") for count in range(3)] == ["no call", "1 call", "2 calls"]
    assert [joined(["a"]), joined(["a", "b"]), joined(["a", "b", "c"])] == [
        "a", "a and b", "a, b and c",
    ]  # fmt: skip
