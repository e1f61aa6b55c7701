"""How the picture's lanes are drawn: glyphs, arrows, and text that cannot break out of its lane."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from enum import Enum, auto

from resumeproof.domain.printable import escaped
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


@dataclass(frozen=True, slots=True)
class Glyphs:
    """What the lanes are drawn with; each is one column wide."""

    down: str
    birth: str
    end: str
    left: str
    right: str
    line: str
    death: str
    cut: str


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
    if row.arrow or not row.ledger or sum(map(_columns, said)) < lanes.process:
        return [drawn(row, glyphs, lanes)]
    return [
        drawn(Row(row.journal, row.process, mark=row.mark), glyphs, lanes),
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
    if row.arrow and journal:
        journal = f"{journal} {glyphs.left}"
        return _padded(journal, lanes.journal, glyphs.line) + lane
    if row.arrow:
        process = f"{lane}{glyphs.line * (lanes.process - 3)}{glyphs.right} "
    left = _padded(journal, lanes.journal)
    return f"{left}{_padded(process, lanes.process)}{ledger}".rstrip()


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
    columns = combined = 0
    ends = [(0, 0)]  # how many pieces fit into how many columns
    for character in text:
        piece = character
        if not character.isprintable() or (glyphs is ASCII and not character.isascii()):
            piece = escaped(character)
        piece_columns = sum(map(_columns, piece))
        combined = 0 if piece_columns else combined + 1
        if combined > _COMBINED_AT_MOST:
            continue
        if columns + piece_columns > width:
            # Room for the mark of the cut: give up what stands where it goes.
            kept = next(count for count, used in reversed(ends) if used < width)
            return "".join(pieces[:kept]) + glyphs.cut
        pieces.append(piece)
        columns += piece_columns
        ends.append((len(pieces), columns))
    return "".join(pieces)


def _padded(text: str, width: int, filling: str = " ") -> str:
    return text + filling * (width - sum(map(_columns, text)))


def _columns(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
