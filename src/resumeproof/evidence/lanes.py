"""How the picture's lanes are drawn: glyphs, arrows, and text that cannot break out of its lane."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto

from resumeproof.domain.printable import escaped
from resumeproof.domain.status import Event
from resumeproof.evidence.order import Entry


@dataclass(frozen=True, slots=True)
class Lanes:
    """How many columns each lane has."""

    journal: int
    process: int
    ledger: int

    @property
    def width(self) -> int:
        return self.journal + self.process + self.ledger


WIDE = Lanes(36, 32, 32)
NARROW = Lanes(34, 16, 30)
WIDTH = WIDE.width
_COMBINED_AT_MOST = 2
"""Combining marks that one column may bear; more of them would climb into other lines."""


class Ink(Enum):
    """What a lane's words are about, for whoever draws in colour."""

    PLAIN = auto()
    HEADER = auto()
    DEATH = auto()
    DOUBT = auto()
    EFFECT = auto()
    DONE = auto()


def unpainted(ink: Ink, text: str) -> str:
    """The text itself."""
    return text


@dataclass(frozen=True, slots=True)
class Glyphs:
    """What the lanes are drawn with; each glyph is one column wide.

    `paint` gives words the colour of their ink, and adds no column.
    """

    down: str
    birth: str
    end: str
    left: str
    right: str
    line: str
    death: str
    cut: str
    paint: Callable[[Ink, str], str] = unpainted


UNICODE = Glyphs("│", "┌", "└", "◀", "▶", "─", "✖", "…")
ASCII = Glyphs("|", ",", "'", "<", ">", "-", "X", "~")


def glyphs_for(encoding: str | None) -> Glyphs:
    """Lines and arrows where the encoding can write them, else plain ASCII."""
    try:
        "│┌└◀▶─✖…".encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return UNICODE


class Mark(Enum):
    """What stands in the middle lane."""

    NONE = auto()
    BIRTH = auto()
    LIFE = auto()
    DEATH = auto()
    END = auto()
    WAIT = auto()


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the picture. With `arrow`, a life wrote what stands in the outer lane.

    `entry` is what stands there, where it is a record or a call.
    """

    journal: str = ""
    process: str = ""
    ledger: str = ""
    mark: Mark = Mark.NONE
    arrow: bool = False
    entry: Entry | None = None


HEADER = Row("JOURNAL", "PROCESS", "TOOL LEDGER")


def lines_of(row: Row, glyphs: Glyphs, lanes: Lanes = WIDE) -> list[str]:
    """The row as one line; as two where the middle lane is too narrow for what it says."""
    said = f"{_lane(row.mark, glyphs)} {row.process}"
    if row.arrow or not row.ledger or columns(said) < lanes.process:
        return [drawn(row, glyphs, lanes)]
    return [
        drawn(replace(row, ledger=""), glyphs, lanes),
        drawn(Row(ledger=row.ledger), glyphs, lanes),
    ]


def drawn(row: Row, glyphs: Glyphs, lanes: Lanes = WIDE) -> str:
    """The row as one line of at most `lanes.width` columns, without its line end.

    What the middle lane says may go on into the ledger's where that is empty.
    """
    lane = _lane(row.mark, glyphs)
    journal = cut(row.journal, lanes.journal - 3, glyphs)
    ledger = cut(row.ledger, lanes.ledger, glyphs)
    room = lanes.process - 1 if row.ledger else lanes.process + lanes.ledger
    process = cut(f"{lane} {row.process}" if lane else row.process, room, glyphs)
    fill, between, beyond = " ", process, ""
    if row.arrow and journal:
        fill, between, beyond = glyphs.line, "", f" {glyphs.left}"
    if row.arrow:
        between = lane if journal else f"{lane}{glyphs.line * (lanes.process - 3)}{glyphs.right} "
    ink = ink_of(row)

    def words(text: str) -> str:
        return glyphs.paint(ink, text) if text else ""

    parts = [
        words(journal) + beyond + fill * (lanes.journal - columns(journal + beyond)),
        between if row.arrow else words(between),
        " " * (lanes.process - columns(between)),
        words(ledger),
    ]
    return "".join(parts).rstrip()


def ink_of(row: Row) -> Ink:
    """The ink of a row's words."""
    if row.mark is Mark.DEATH:
        return Ink.DEATH
    if row.mark is Mark.WAIT:
        return Ink.DOUBT
    if row is HEADER:
        return Ink.HEADER
    return _INKS.get(row.entry.what, Ink.PLAIN) if row.entry is not None else Ink.PLAIN


_INKS: Mapping[str, Ink] = {
    Event.MARKED_UNKNOWN: Ink.DOUBT,
    Event.COMPLETED: Ink.DONE,
    "call applied": Ink.EFFECT,
}


def columns(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return sum(map(_columns, text))


def _lane(mark: Mark, glyphs: Glyphs) -> str:
    return {
        Mark.NONE: "",
        Mark.WAIT: "",
        Mark.BIRTH: glyphs.birth,
        Mark.LIFE: glyphs.down,
        Mark.DEATH: glyphs.death,
        Mark.END: glyphs.end,
    }[mark]


def cut(text: str, width: int, glyphs: Glyphs) -> str:
    """`text` on one line of at most `width` columns, with every other character escaped.

    Escaped is what could move a cursor, turn the text round or end the line (control and format
    characters, lone surrogates), and what ASCII cannot write where the glyphs are ASCII. Width is
    that of a terminal: two columns for East Asian wide characters (Unicode Standard Annex 11),
    none for combining marks, of which only a few are kept.
    """
    pieces: list[str] = []
    used_columns = combined = 0
    ends = [(0, 0)]  # how many pieces fit into how many columns
    for character in text:
        piece = character
        if not character.isprintable() or (glyphs.line.isascii() and not character.isascii()):
            piece = escaped(character)
        piece_columns = columns(piece)
        combined = 0 if piece_columns else combined + 1
        if combined > _COMBINED_AT_MOST:
            continue
        if used_columns + piece_columns > width:
            # Room for the mark of the cut: give up what stands where it goes.
            kept = next(count for count, used in reversed(ends) if used < width)
            return "".join(pieces[:kept]) + glyphs.cut
        pieces.append(piece)
        used_columns += piece_columns
        ends.append((len(pieces), used_columns))
    return "".join(pieces)


def _columns(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
