"""The picture of a crash for people: three lanes, in at most 100 columns.

    JOURNAL                          PROCESS                    TOOL LEDGER

The journal's records are on the left, what reached the tool is on the right, and between them
live the processes that wrote to both. A death is a mark in the middle lane; the life that resumes
begins below it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from resumeproof.domain.status import Event
from resumeproof.evidence.order import Entry

WIDTH = 100
_JOURNAL_WIDTH = 36
_PROCESS_WIDTH = 32
_LEDGER_WIDTH = WIDTH - _JOURNAL_WIDTH - _PROCESS_WIDTH


@dataclass(frozen=True, slots=True)
class Glyphs:
    """What the lanes are drawn with."""

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


class _Mark(Enum):
    NONE = auto()
    BIRTH = auto()
    LIFE = auto()
    DEATH = auto()
    END = auto()


@dataclass(frozen=True, slots=True)
class _Row:
    """One line of the picture. In a life, a text of an outer lane is something it wrote there."""

    journal: str = ""
    process: str = ""
    ledger: str = ""
    mark: _Mark = _Mark.NONE


def heading(workflow: Mapping[str, Any], glyphs: Glyphs = UNICODE) -> str:
    """One line that says which workflow the picture is of; takes what `workflow_json` returns."""
    key = f", key {workflow['key']}" if workflow["key"] else ", no key"
    reason = f" ({workflow['reason']})" if workflow["status"] == "unknown" else ""
    text = f"{workflow['id']}: {workflow['mode']}; {workflow['status']}{reason}{key}"
    return _cut(text, WIDTH, glyphs)


def render(
    entries: Sequence[Entry],
    *,
    deaths: Sequence[str] = (),
    driver_alive: bool = False,
    glyphs: Glyphs = UNICODE,
) -> str:
    """Draw one workflow's entries.

    `deaths` describes the deaths in their order ("exit 86 at tool:after#1"), as far as anybody
    watched; `driver_alive` says that the open attempt is being driven now.
    """
    header = _line("JOURNAL", "PROCESS", "TOOL LEDGER", glyphs)
    rows = _rows(entries, iter(deaths), driver_alive=driver_alive)
    return "\n".join([header, *(_drawn(row, glyphs) for row in rows)]) + "\n"


def _rows(entries: Sequence[Entry], deaths: Iterator[str], *, driver_alive: bool) -> Iterator[_Row]:
    lives = effects = 0
    driver: str | None = None
    for entry in entries:
        if entry.store == "ledger":
            effects += entry.what == "call applied"
            yield _Row(ledger=_ledger_text(entry), mark=_Mark.LIFE)
            continue
        if driver is not None and entry.facts.get("recovered_attempt") is not None:
            yield _death(deaths, effects)
            driver = None
        if driver is not None and entry.what in _BY_PEOPLE:
            yield _end(lives)
            driver = None
        newcomer = str(entry.facts.get("driver", driver or "resume"))
        if entry.what not in _BY_PEOPLE and newcomer != driver:
            if driver is not None:
                yield _end(lives)
            lives += 1
            driver = newcomer
            yield _Row(process=f"life {lives}", mark=_Mark.BIRTH)
        mark = _Mark.NONE if driver is None else _Mark.LIFE
        yield _Row(journal=_journal_text(entry), mark=mark)
    if driver is not None:
        last = [entry for entry in entries if entry.store == "journal"][-1]
        if last.what != Event.ATTEMPT_STARTED:
            yield _end(lives)
        elif driver_alive:
            yield _Row(process="is running", mark=_Mark.LIFE)
        else:
            yield _death(deaths, effects)


def _end(life: int) -> _Row:
    return _Row(process=f"life {life} ends", mark=_Mark.END)


def _death(deaths: Iterator[str], effects: int) -> _Row:
    """The crash: what killed the process, and what each store knows at this moment."""
    kept = f"keeps {_counted(effects, 'effect')}" if effects else "holds no effect"
    return _Row(
        "knows no outcome", next(deaths, "its driver died"), f"the ledger {kept}", _Mark.DEATH
    )


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


_BY_PEOPLE = frozenset(
    {
        Event.CREATED,
        Event.APPROVED,
        Event.ACTION_REPLACED,
        Event.CANCELLED,
        Event.RECONCILED_APPLIED,
        Event.RECONCILED_NOT_APPLIED,
    }
)


def _journal_text(entry: Entry) -> str:
    facts = entry.facts
    match entry.what:
        case Event.ATTEMPT_STARTED:
            return f"attempt {entry.attempt} started ({facts['purpose']})"
        case Event.EFFECT_ACKNOWLEDGED:
            return f"acknowledged, replayed: {str(facts['replayed']).lower()}"
        case Event.APPROVED | Event.RECONCILED_APPLIED | Event.RECONCILED_NOT_APPLIED:
            return f"{entry.what} by {facts['actor']}"
        case Event.ATTEMPT_FAILED | Event.ATTEMPT_FAILED_IN_DOUBT:
            return f"attempt {entry.attempt} failed before effect"
        case Event.MARKED_UNKNOWN:
            return f"unknown: {facts['reason']}"
        case Event.FAILED:
            return f"failed: {facts['reason']}"
        case _:
            return entry.what.replace("_", " ")


def _ledger_text(entry: Entry) -> str:
    effect = entry.facts["effect_sequence"]
    match entry.what:
        case "call applied":
            return f"EFFECT {effect} applied"
        case "call replayed":
            return f"replayed: receipt of effect {effect}"
        case "lookup found":
            return f"lookup: found effect {effect}"
        case "lookup absent":
            return f"lookup: nothing; fence {entry.attempt}"
        case _:
            return entry.what.replace("_", " ")


def _drawn(row: _Row, glyphs: Glyphs) -> str:
    lane = {
        _Mark.NONE: " ",
        _Mark.BIRTH: glyphs.birth,
        _Mark.LIFE: glyphs.down,
        _Mark.DEATH: glyphs.death,
        _Mark.END: glyphs.end,
    }[row.mark]
    if row.journal and row.mark is _Mark.LIFE:
        text = _cut(row.journal, _JOURNAL_WIDTH - 4, glyphs)
        arrow = f"{text} {glyphs.left}".ljust(_JOURNAL_WIDTH, glyphs.line)
        return f"{arrow}{lane}".rstrip()
    if row.ledger and row.mark is _Mark.LIFE:
        arrow = f"{lane}{glyphs.line * (_PROCESS_WIDTH - 3)}{glyphs.right} "
        return f"{'':{_JOURNAL_WIDTH}}{arrow}{_cut(row.ledger, _LEDGER_WIDTH, glyphs)}"
    return _line(row.journal, f"{lane} {row.process}", row.ledger, glyphs)


def _line(journal: str, process: str, ledger: str, glyphs: Glyphs) -> str:
    left = _cut(journal, _JOURNAL_WIDTH - 2, glyphs)
    middle = process if not ledger else _cut(process, _PROCESS_WIDTH - 1, glyphs)
    right = _cut(ledger, _LEDGER_WIDTH, glyphs)
    return f"{left:{_JOURNAL_WIDTH}}{middle:{_PROCESS_WIDTH}}{right}".rstrip()


def _cut(text: str, width: int, glyphs: Glyphs) -> str:
    """One line of visible characters, at most `width` long."""
    visible = _visible(text)
    return visible if len(visible) <= width else visible[: width - 1] + glyphs.cut


def _visible(text: str) -> str:
    return "".join(
        character if character.isprintable() else f"\\u{ord(character):04x}" for character in text
    )
