"""What happened to one workflow, row by row: the account that every picture of it draws.

Each record, each call that reached the tool and each end of a process is a row, in the order of
`evidence.order`. A death has a row of its own, in which each store says what it knows.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from resumeproof.domain.decision import Purpose
from resumeproof.domain.observation import LifeSeen
from resumeproof.domain.status import Event
from resumeproof.evidence.lanes import Mark, Row
from resumeproof.evidence.order import Entry


def story(
    entries: Sequence[Entry], *, lives: Sequence[LifeSeen] = (), driver_alive: bool = False
) -> Iterator[Row]:
    """The rows of one workflow's entries, downwards in time.

    `lives` are the process lives that somebody watched, in order: they tell how each ended, and
    of those that wrote nothing. `driver_alive` says that the open attempt is being driven now.
    """
    steps = {each.facts["step"] for each in entries if each.what == Event.ATTEMPT_STARTED}
    yield from _Story(deque(lives), driver_alive, len(steps) > 1).rows(_segments(entries))
    if entries and entries[-1].what == Event.MARKED_UNKNOWN:
        yield Row(journal="waits for an operator", mark=Mark.WAIT)


@dataclass(slots=True)
class _Life:
    """The entries of one process life: what its records and its calls show of it."""

    driver: str
    entries: list[Entry] = field(default_factory=list)

    @property
    def left_open(self) -> bool:
        """Its last record is a claim."""
        records = [entry.what for entry in self.entries if entry.store == "journal"]
        return records[-1:] == [Event.ATTEMPT_STARTED]


def _segments(entries: Sequence[Entry]) -> Iterator[Entry | _Life]:
    """The lives, and between them what people did."""
    life: _Life | None = None
    for entry, later in zip(entries, _later(entries), strict=True):
        if entry.store == "ledger":
            # Without a life it is what the journal has lost: it was rolled back.
            if life is None:
                yield entry
            else:
                life.entries.append(entry)
            continue
        if life is not None and _ends_before(entry, life, later):
            yield life
            life = None
        if life is None and entry.what in BY_PEOPLE:
            yield entry
            continue
        if life is None:
            life = _Life("")
        # Only claims name their driver: a life that began with another record is named later.
        life.driver = life.driver or entry.facts.get("driver", "")
        life.entries.append(entry)
    if life is not None:
        yield life


@dataclass(frozen=True, slots=True)
class _Later:
    """What drivers wrote after an entry: whether there is any, and which driver it names first.

    None is named where a driver that was found dead comes before.
    """

    goes_on: bool = False
    driver: str | None = None


def _later(entries: Sequence[Entry]) -> list[_Later]:
    found, later = [], _Later()
    for entry in reversed(entries):
        found.append(later)
        if entry.store == "ledger" or entry.what in BY_PEOPLE:
            continue
        recovers = entry.facts.get("recovered_attempt") is not None
        named = None if recovers else entry.facts.get("driver", later.driver)
        later = _Later(not recovers, named)
    return found[::-1]


def _ends_before(entry: Entry, life: _Life, later: _Later) -> bool:
    """Whether somebody else wrote `entry`: another driver, one who found this one dead, or a person
    when this one was at its end.
    """
    if entry.what in BY_PEOPLE:
        known = bool(life.driver) and later.driver == life.driver
        return not (later.goes_on and (known or life.left_open))
    if entry.facts.get("recovered_attempt") is not None:
        return True
    named = entry.facts.get("driver", life.driver)
    return bool(life.driver) and named != life.driver


@dataclass(slots=True)
class _Story:
    """The rows of a picture in the making: which lives there were, and what is known so far."""

    watched: deque[LifeSeen]
    driver_alive: bool
    several_steps: bool
    number: int = 0
    effects: int = 0
    journal_knows: str = "knows of no attempt"

    def rows(self, segments: Iterator[Entry | _Life]) -> Iterator[Row]:
        told = list(segments)
        for segment in told:
            if isinstance(segment, Entry):
                yield self._entry(segment, Mark.NONE)
                continue
            while self.watched and not _fits(self.watched[0], segment):
                yield from self._silent(self.watched.popleft())
            seen = self.watched.popleft() if self.watched else None
            yield from self._life(segment, seen, last=segment is told[-1])
        while self.watched:
            yield from self._silent(self.watched.popleft())

    def _life(self, life: _Life, seen: LifeSeen | None, *, last: bool) -> Iterator[Row]:
        yield self._birth()
        for entry in life.entries:
            yield self._entry(entry, Mark.LIFE)
        if seen is not None and seen.witnessed is not None:
            yield self._death(seen)
        elif not life.left_open:
            yield self._end()
        elif last and self.driver_alive:
            yield Row(process="is running", mark=Mark.LIFE)
        else:
            yield self._death(None)

    def _silent(self, seen: LifeSeen) -> Iterator[Row]:
        """A life that was watched, and that wrote nothing."""
        yield self._birth()
        yield self._end("wrote nothing") if seen.witnessed is None else self._death(seen)

    def _birth(self) -> Row:
        self.number += 1
        return Row(process=f"life {self.number}", mark=Mark.BIRTH)

    def _end(self, how: str = "ended") -> Row:
        return Row(process=f"life {self.number} {how}", mark=Mark.END)

    def _death(self, seen: LifeSeen | None) -> Row:
        """The crash: what killed the process, and what each store knows at this moment."""
        how = f"{_ending(seen)} at {seen.witnessed}" if seen else "its driver died"
        number = f"{self.effects} effect{'' if self.effects == 1 else 's'}"
        kept = f"keeps {number}" if self.effects else "holds no effect"
        return Row(self.journal_knows, how, f"the ledger {kept}", Mark.DEATH)

    def _entry(self, entry: Entry, mark: Mark) -> Row:
        if entry.store == "ledger":
            self.effects += entry.what == "call applied"
            by_this_life = mark is Mark.LIFE and not _late(entry)
            return Row(ledger=_ledger_text(entry), mark=mark, arrow=by_this_life, entry=entry)
        by_a_life = mark is Mark.LIFE and entry.what not in BY_PEOPLE
        if entry.what not in BY_PEOPLE:
            opened = entry.what == Event.ATTEMPT_STARTED
            self.journal_knows = "knows no outcome" if opened else "knows the outcome"
        text = _journal_text(entry, self.several_steps)
        return Row(journal=text, mark=mark, arrow=by_a_life, entry=entry)


def _ending(seen: LifeSeen) -> str:
    """How a life ended; a signal by its name alone where it has one, since a lane is narrow."""
    text = str(seen.exit["text"])
    name = text.partition("(")[2].rstrip(")") if seen.exit["kind"] == "signal" else ""
    return name or text


_CLAIM_IS_OPEN = frozenset({"claim:after", "tool:before", "tool:after", "ack:before"})


def _fits(seen: LifeSeen, life: _Life) -> bool:
    """Whether a life that ended so could have left these records."""
    if seen.witnessed is None:
        return not life.left_open
    boundary, _, occurrence = seen.witnessed.rpartition("#")
    if (boundary, occurrence) == ("claim:before", "1"):
        return False
    return life.left_open == (boundary in _CLAIM_IS_OPEN)


BY_PEOPLE: Final = frozenset(
    {
        Event.CREATED,
        Event.APPROVED,
        Event.ACTION_REPLACED,
        Event.CANCELLED,
        Event.RECONCILED_APPLIED,
        Event.RECONCILED_NOT_APPLIED,
        Event.DECIDED,
        Event.MESSAGE_RECEIVED,
    }
)
"""What no driver writes."""


def _journal_text(entry: Entry, several_steps: bool) -> str:
    facts = entry.facts
    match entry.what:
        case Event.ATTEMPT_STARTED if several_steps:
            return f"attempt {entry.attempt} started ({facts['purpose']} {facts['step']})"
        case Event.ATTEMPT_STARTED:
            return f"attempt {entry.attempt} started ({facts['purpose']})"
        case Event.EFFECT_ACKNOWLEDGED if facts["source"] == Purpose.LOOKUP:
            return "acknowledged: a lookup found it"
        case Event.EFFECT_ACKNOWLEDGED:
            return f"acknowledged, replayed: {str(facts['replayed']).lower()}"
        case Event.APPROVED | Event.RECONCILED_APPLIED | Event.RECONCILED_NOT_APPLIED:
            return f"{entry.what} by {facts['actor']}"
        case Event.ATTEMPT_FAILED | Event.ATTEMPT_FAILED_IN_DOUBT:
            return f"attempt {entry.attempt} failed before effect"
        case Event.LOOKUP_FAILED:
            return f"attempt {entry.attempt}: lookup failed"
        case Event.ABSENCE_PROVED:
            return f"attempt {entry.attempt}: absence proved"
        case Event.DECIDED:
            applied = "applied" if facts["applied"] else "not applied"
            return f"decided {applied} by {facts['actor']}"
        case Event.MESSAGE_RECEIVED:
            return f"message from {facts['sender']}"
        case Event.MESSAGES_APPLIED:
            return f"{len(facts['messages'])} messages applied"
        case Event.EMITTED:
            return f"emitted {facts['event']}"
        case Event.WAIT_STARTED:
            return f"waits: {facts['wait']['kind']}"
        case Event.MARKED_UNKNOWN:
            return f"unknown: {facts['reason']}"
        case Event.FAILED:
            return f"failed: {facts['reason']}"
        case _:
            return entry.what.replace("_", " ")


def _late(entry: Entry) -> bool:
    return entry.what in ("call fenced", "lookup fenced")


def _ledger_text(entry: Entry) -> str:
    effect = entry.facts["effect_sequence"]
    match entry.what:
        case "call applied":
            return f"EFFECT {effect} applied"
        case "call replayed":
            return f"replayed: receipt of effect {effect}"
        case "call failed_before_effect":
            return "failed before the effect"
        case "call key_conflict":
            return "refused: key conflict"
        case "call fenced":
            return f"late call of attempt {entry.attempt}: fenced"
        case "lookup found":
            return f"lookup: found effect {effect}"
        case "lookup absent":
            return f"lookup: nothing; fence {entry.attempt}"
        case "lookup fenced":
            return f"late lookup of attempt {entry.attempt}: fenced"
        case _:
            return entry.what
