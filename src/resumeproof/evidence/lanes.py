"""How the picture's lanes are drawn: glyphs, arrows, and text that cannot break out of its lane."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from enum import Enum, auto

from resumeproof.domain.printable import escaped

WIDTH = 100
_JOURNAL_WIDTH = 36
_PROCESS_WIDTH = 32
_LEDGER_WIDTH = WIDTH - _JOURNAL_WIDTH - _PROCESS_WIDTH
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


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the picture. With `arrow`, a life wrote what stands in the outer lane."""

    journal: str = ""
    process: str = ""
    ledger: str = ""
    mark: Mark = Mark.NONE
    arrow: bool = False


HEADER = Row("JOURNAL", "PROCESS", "TOOL LEDGER")


def drawn(row: Row, glyphs: Glyphs) -> str:
    """The row as one line of at most `WIDTH` columns, without its line end."""
    lane = {
        Mark.NONE: "",
        Mark.BIRTH: glyphs.birth,
        Mark.LIFE: glyphs.down,
        Mark.DEATH: glyphs.death,
        Mark.END: glyphs.end,
    }[row.mark]
    journal = cut(row.journal, _JOURNAL_WIDTH - 4, glyphs)
    ledger = cut(row.ledger, _LEDGER_WIDTH, glyphs)
    process = cut(f"{lane} {row.process}" if lane else row.process, _PROCESS_WIDTH - 1, glyphs)
    if row.arrow and journal:
        journal = f"{journal} {glyphs.left}"
        return _padded(journal, _JOURNAL_WIDTH, glyphs.line) + lane
    if row.arrow:
        process = f"{lane}{glyphs.line * (_PROCESS_WIDTH - 3)}{glyphs.right} "
    left = _padded(journal, _JOURNAL_WIDTH)
    return f"{left}{_padded(process, _PROCESS_WIDTH)}{ledger}".rstrip()


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
