"""Text in a lane: whoever wrote it, it stays on its line and in its columns."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resumeproof.evidence.lanes import (
    ASCII,
    HEADER,
    NARROW,
    UNICODE,
    WIDE,
    Glyphs,
    Lanes,
    Mark,
    Row,
    cut,
    drawn,
    glyphs_for,
    lines_of,
)

BOTH = pytest.mark.parametrize("glyphs", [UNICODE, ASCII], ids=["unicode", "ascii"])


def columns(line: str) -> int:
    """How wide a terminal draws a line, reckoned in another way than the code does."""
    wide = sum(unicodedata.east_asian_width(character) in ("W", "F") for character in line)
    marks = sum(unicodedata.category(character) in ("Mn", "Me") for character in line)
    return len(line) + wide - marks


HOSTILE = {
    "a line end": "a\nb",
    "a carriage return": "a\rb",
    "an escape sequence": "\x1b[2J\x1b[31m",
    "a C1 control": "\x9b2J",
    "a bidirectional override": "abc\u202edef",
    "an isolate": "\u2066a\u2069",
    "a line separator": "a\u2028b",
    "a zero-width joiner": "a\u200db",
    "a lone surrogate": "a\ud800b",
    "a private character": "\U000f0000",
    "NUL": "\0",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_what_could_move_a_cursor_is_escaped(text: str) -> None:
    shown = cut(text, 80, UNICODE)
    assert (shown.isprintable(), "\\u" in shown.lower()) == (True, True)


@BOTH
@given(text=st.text(st.characters(), max_size=60), width=st.integers(1, 40))
def test_no_text_is_wider_than_its_lane(glyphs: Glyphs, text: str, width: int) -> None:
    shown = cut(text, width, glyphs)
    assert columns(shown) <= width
    assert shown.isprintable()


@BOTH
@given(
    journal=st.text(st.characters(), max_size=60),
    process=st.text(st.characters(), max_size=60),
    ledger=st.text(st.characters(), max_size=60),
    mark=st.sampled_from(Mark),
    arrow=st.booleans(),
    lanes=st.sampled_from([WIDE, NARROW]),
)
def test_no_row_leaves_its_lanes(
    glyphs: Glyphs, journal: str, process: str, ledger: str, mark: Mark, arrow: bool, lanes: Lanes
) -> None:
    lines = lines_of(Row(journal, process, ledger, mark, arrow), glyphs, lanes)
    assert {columns(line) <= lanes.width and line.isprintable() for line in lines} == {True}
    if glyphs is ASCII:
        assert all(line.isascii() for line in lines)


def test_a_death_too_long_for_its_lane_goes_on_where_the_ledger_would_stand() -> None:
    row = Row(
        "knows no outcome", "exit 86 at tool:after#1", "the ledger keeps 1 effect", Mark.DEATH
    )
    assert lines_of(row, UNICODE, NARROW) == [
        "knows no outcome                  ✖ exit 86 at tool:after#1",
        " " * 50 + "the ledger keeps 1 effect",
    ]
    assert len(lines_of(row, UNICODE, WIDE)) == 1


def test_the_lanes_stand_where_they_are_whatever_is_in_them() -> None:
    texts = ("", "plain", "表" * 40, "e\u0301" * 40, "x" * 10**6, "\x1b[2J")
    rows = [drawn(Row(text, text, "end", Mark.LIFE), UNICODE) for text in texts]
    assert {columns(row[: row.index("│")]) for row in rows} == {36}
    assert {columns(row[: row.rindex("end")]) for row in rows} == {68}


def test_a_tower_of_combining_marks_stays_low() -> None:
    assert cut("a" + "\u0301" * 10**5 + "b", 10, UNICODE) == "a\u0301\u0301b"


@BOTH
def test_what_is_cut_says_so(glyphs: Glyphs) -> None:
    assert cut("abcdefgh", 5, glyphs) == f"abcd{glyphs.cut}"
    assert cut("abcde", 5, glyphs) == "abcde"


def test_ascii_glyphs_escape_what_ascii_cannot_write() -> None:
    assert (cut("Zoë", 20, ASCII), cut("Zoë", 20, UNICODE)) == ("Zo\\u00eb", "Zoë")


@pytest.mark.parametrize(
    ("encoding", "glyphs"),
    [
        ("utf-8", UNICODE),
        ("UTF-8", UNICODE),
        ("gb18030", UNICODE),
        ("ascii", ASCII),
        ("latin-1", ASCII),
        ("cp1252", ASCII),
        ("no-such-encoding", ASCII),
        (None, ASCII),
    ],
)
def test_the_encoding_decides(encoding: str | None, glyphs: Glyphs) -> None:
    assert glyphs_for(encoding) == glyphs


def test_the_header_names_the_lanes() -> None:
    assert drawn(HEADER, UNICODE).split("  ")[0] == "JOURNAL"
    assert [drawn(HEADER, UNICODE).index(name) for name in ("PROCESS", "TOOL LEDGER")] == [36, 68]
