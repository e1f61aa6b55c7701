"""The crash as a picture: three lanes over one order, drawn wide, or narrow enough for a phone.

Time runs downwards. A record is a mark in the journal's lane and a call one in the ledger's; a
life is a bar between them, and an arrow says which life wrote a mark. A death cuts its bar off, in
a band in which each store says what it knows at that moment; the life that resumes begins below.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final
from xml.etree.ElementTree import Element

from resumeproof.evidence.lanes import UNICODE, Mark, Row, cut
from resumeproof.evidence.report.marks import Shape, arrow, lost, mark, shape_of
from resumeproof.evidence.report.markup import element, extended


@dataclass(frozen=True, slots=True)
class Words:
    """Where a lane's words stand: beside `x`, on at most `lines` lines of `columns` each."""

    x: float
    anchor: str
    columns: int
    lines: int = 1


@dataclass(frozen=True, slots=True)
class Form:
    """How much room there is. `journal`, `process` and `ledger` are the lanes' middles."""

    name: str
    width: int
    journal: int
    process: int
    ledger: int
    journal_words: Words
    process_words: Words
    ledger_words: Words
    row: int
    line: int


WIDE: Final = Form(
    "wide", 960, 352, 480, 608,
    Words(328, "end", 40), Words(480, "middle", 30), Words(632, "start", 40), row=42, line=20,
)  # fmt: skip
_BESIDE: Final = Words(90, "start", 33, 2)
NARROW: Final = Form("narrow", 358, 12, 38, 64, _BESIDE, _BESIDE, _BESIDE, row=32, line=18)
_PLACE: Final = {
    Mark.BIRTH: "birth",
    Mark.END: "end",
    Mark.DEATH: "death",
    Mark.WAIT: "wait",
}


def crash_picture(
    rows: Sequence[Row], title: str, identifier: str, form: Form, aside: str = ""
) -> Element:
    """The story's rows as one picture; `identifier` begins the ids that it needs for itself.

    `aside` says why the tool was not asked where nobody can know.
    """
    canvas = _Canvas(form, aside)
    canvas.lanes()
    for row in rows:
        canvas.row(row)
    height = canvas.finish()
    name, told = f"{identifier}-{form.name}-title", f"{identifier}-{form.name}-desc"
    return element(
        "svg",
        element("title", title, id=name),
        element("desc", *_in_words(rows), id=told),
        *canvas.layers(),
        class_=f"picture {form.name}",
        viewBox=f"0 0 {form.width} {height}",
        width=form.width,
        height=height,
        role="img",
        aria_labelledby=f"{name} {told}",
    )


def answer_lost(row: Row) -> bool:
    """Whether a process died between the tool's commit and its answer."""
    return row.mark is Mark.DEATH and " at tool:after#" in row.process


def _in_words(rows: Sequence[Row]) -> list[str]:
    """The same story for whoever cannot see it."""
    return [f"{number}. {said_in_words(row)}. " for number, row in enumerate(rows, start=1)]


def said_in_words(row: Row) -> str:
    """One row as a sentence, without its full stop."""
    if row.mark is Mark.DEATH:
        return f"The process died: {row.process}; the journal {row.journal}, {row.ledger}"
    if row.mark is Mark.WAIT:
        return f"The workflow {row.journal}"
    lanes = (("Journal", row.journal), ("Process", row.process), ("Tool ledger", row.ledger))
    return next(f"{lane}: {text}" for lane, text in lanes if text)


@dataclass(slots=True)
class _Canvas:
    """The layers of a picture in the making, and how far down it has come."""

    form: Form
    aside: str
    y: float = 0
    born: float | None = None
    called: float | None = None
    bands: list[Element] = field(default_factory=list)
    rails: list[Element] = field(default_factory=list)
    lives: list[Element] = field(default_factory=list)
    rows: list[Element] = field(default_factory=list)

    def layers(self) -> list[Element]:
        return [
            element("g", *layer, aria_hidden="true")
            for layer in (self.bands, self.rails, self.lives, self.rows)
            if layer
        ]

    def lanes(self) -> None:
        """The lanes' names; in a narrow picture each stands on a step that leads to its lane."""
        form = self.form
        names = (
            ("Journal", form.journal, form.journal_words),
            ("Process", form.process, form.process_words),
            ("Tool ledger", form.ledger, form.ledger_words),
        )
        for name, x, words in names:
            self.y += 22 if form is NARROW or x == form.journal else 0
            side = name.split()[-1].lower()
            label = self._label(name, words, self.y, f"lane {side}")
            self.rows.append(label)
            if form is NARROW:
                self.rails.append(
                    element("path", d=f"M{words.x - 6} {self.y}H{x}V{self.y + 12}", class_="step")
                )
        self.y += 18

    def finish(self) -> float:
        """Draw the lanes down to here; return the picture's height."""
        form, bottom = self.form, self.y + 8
        if self.born is not None:
            self._life(bottom, "going")
        top = 78 if form is NARROW else 34
        for lane, x in (("journal", form.journal), ("ledger", form.ledger)):
            self.rails.append(element("line", x1=x, y1=top, x2=x, y2=bottom, class_=f"rail {lane}"))
        self.rails.append(
            element(
                "line", x1=form.process, y1=top, x2=form.process, y2=bottom, class_="rail faint"
            )
        )
        return bottom + 4

    def row(self, row: Row) -> None:
        """Draw one row below what there is."""
        kind = _PLACE.get(row.mark) or (
            "record" if row.journal else "call" if row.ledger else "life"
        )
        drawn = {
            "birth": self._birth,
            "end": self._end,
            "death": self._death,
            "life": self._end,
        }.get(kind, self._entry)
        group = element("g", class_=kind, data_mark=kind)
        if row.entry is not None:
            group.append(element("title", f"{said_in_words(row)} ({row.entry.at})"))
        self.rows.append(extended(group, *drawn(row)))

    # -- one row ------------------------------------------------------------------------------

    def _entry(self, row: Row) -> list[Element]:
        form = self.form
        x, words, text = (
            (form.journal, form.journal_words, row.journal)
            if row.journal
            else (form.ledger, form.ledger_words, row.ledger)
        )
        lines = _wrapped(text, words)
        middle = self._advance(len(lines))
        drawn = []
        if row.arrow:
            drawn.append(arrow(form.process, x, middle))
            self.called = middle if row.ledger else None
        shape = shape_of(row)
        drawn.append(mark(shape, x, middle))
        loud = "loud" if shape in (Shape.EFFECT, Shape.DOUBT, Shape.WAIT, Shape.DONE) else ""
        drawn.append(self._lines(lines, words, middle, f"{shape} {loud}".strip()))
        if shape is Shape.DOUBT and self.aside:
            below = middle if form is WIDE else self._advance(1) - 8
            drawn.append(self._label(self.aside, form.ledger_words, below, "told"))
        return drawn

    def _birth(self, row: Row) -> list[Element]:
        words = self.form.process_words
        middle = self._advance(1)
        if self.form is WIDE:
            self.born = middle + 13
            return [self._pill(row.process, middle, "born")]
        self.born = middle
        return [self._label(row.process, words, middle, "told")]

    def _end(self, row: Row) -> list[Element]:
        words, going = self.form.process_words, row.mark is Mark.LIFE
        middle = self._advance(1)
        if self.form is WIDE:
            self._life(middle - 13, "going" if going else "whole")
            return [self._pill(row.process, middle, "ended")]
        self._life(middle, "going" if going else "whole")
        return [self._label(row.process, words, middle, "told")]

    def _death(self, row: Row) -> list[Element]:
        form = self.form
        said = (
            (form.process_words, row.process, "died"),
            (form.journal_words, f"the journal {row.journal}", "knows"),
            (form.ledger_words, row.ledger, "knows"),
        )
        top = self.y + 4
        if form is WIDE:
            height, middle = 72.0, top + 24
            places = (top + 53, top + 36, top + 36)
        else:
            height, middle = 78.0, top + 17
            places = (middle, middle + 22, middle + 43)
        self.y = top + height + 8
        self._life(middle, "cut")
        self.bands.append(
            element("rect", x=0, y=top, width=form.width, height=height, rx=6, class_="death")
        )
        drawn = [mark(Shape.DEATH, form.process, middle)]
        if answer_lost(row) and self.called is not None:
            drawn.append(lost((form.ledger - 9, self.called + 10), (form.process + 12, middle - 8)))
        for (words, text, class_), y in zip(said, places, strict=True):
            drawn.append(self._label(text, words, y, class_))
        return drawn

    # -- what rows are made of ----------------------------------------------------------------

    def _advance(self, lines: int) -> float:
        """Make room for a row; return its middle."""
        height = self.form.row + (lines - 1) * self.form.line
        self.y += height
        return self.y - height / 2

    def _life(self, bottom: float, how: str) -> None:
        top = bottom if self.born is None else self.born
        x = self.form.process
        self.lives.append(
            element(
                "rect", x=x - 4, y=top, width=8, height=bottom - top, rx=4, class_=f"life {how}"
            )
        )
        self.born = None

    def _pill(self, text: str, middle: float, class_: str) -> Element:
        words = self.form.process_words
        text = cut(text, words.columns, UNICODE)
        width = 7.4 * len(text) + 24
        box = element(
            "rect", x=words.x - width / 2, y=middle - 13, width=width, height=26, rx=13,
            class_=f"pill {class_}",
        )  # fmt: skip
        return element("g", box, self._label(text, words, middle, class_))

    def _label(self, text: str, words: Words, middle: float, class_: str) -> Element:
        return self._lines([cut(text, words.columns, UNICODE)], words, middle, class_)

    def _lines(self, lines: list[str], words: Words, middle: float, class_: str) -> Element:
        first = middle - (len(lines) - 1) * self.form.line / 2 + 5
        label = element(
            "text", x=words.x, y=first, text_anchor=words.anchor, class_=class_.strip() or None
        )
        if len(lines) == 1:
            return extended(label, lines[0])
        for place, line in enumerate(lines):
            label.append(element("tspan", line, x=words.x, dy=place and self.form.line))
        return label


def _wrapped(text: str, words: Words) -> list[str]:
    """The text on as many lines as there are, each of at most so many columns."""
    whole = cut(text, words.columns * words.lines, UNICODE)
    lines = textwrap.wrap(
        whole, words.columns, max_lines=words.lines, placeholder=UNICODE.cut, drop_whitespace=True
    )
    return [cut(line, words.columns, UNICODE) for line in lines] or [""]
