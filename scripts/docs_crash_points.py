"""What the documents say of each shape's crash points, by killing its driver at every one of them.

At each call that one life of a shape makes of its stores, a copy of it is killed. What the copy
left is given to the next driver, as far as its first commit: that is what it does.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, redirect_stderr, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Final, TypeVar, cast

from resumeproof.crash.calls import CountedCalls
from resumeproof.crash.channel import send_copy_to_death
from resumeproof.crash.faults import CrashingJournal
from resumeproof.crash.kill import Kill
from resumeproof.domain.contract import ToolContract
from resumeproof.domain.inspection import Stored
from resumeproof.domain.record import Record
from resumeproof.domain.status import Event
from resumeproof.proof.crew import Crew
from resumeproof.proof.image import copy_image
from resumeproof.proof.living import Boundary
from resumeproof.proof.shapes import Shape
from resumeproof.proof.shapes.subject import MakeWorld, ShapeSubject
from resumeproof.proof.shapes.world import World
from resumeproof.runtime.clock import SteppedClock
from resumeproof.runtime.engine import Engine
from resumeproof.stores.protocols import Journal, JournalFormat

HEADS: Final = (
    "what the driver does",
    "crash points until it is durable",
    "the next driver",
    "JSON journal, between a record and its save",
)
NOTHING_LEFT: Final = "nothing to do"

_DURABLE: Final = ("commit:after", "register:after", "tool:after")
_CALLS: Final = {"call": "calls", "replay": "calls with the same key", "lookup": "looks up"}


Made = TypeVar("Made")


@dataclass
class Step:
    """One durable step of an undisturbed life, and the boundaries at which it is not yet that."""

    label: str = ""
    boundaries: list[Boundary] = field(default_factory=list)


# -- in words --------------------------------------------------------------------------------


def _commit(programs: Mapping[str, str], records: Sequence[Record]) -> str:
    """A commit, told by its records; a workflow goes by the name of its program."""
    return f"{_name(programs, records[0])}: {_records(records)}"


def _name(programs: Mapping[str, str], record: Record) -> str:
    return f"`{programs.get(record.workflow_id) or record.facts['program']}`"


def _records(records: Sequence[Record]) -> str:
    return ", ".join(map(_record, records))


def _record(record: Record) -> str:
    step = record.facts.get("step")
    if record.event == Event.ATTEMPT_STARTED:
        return f"claims `{step}` and {_CALLS[record.facts['purpose']]}"
    return f"`{record.event}`" + (f" at `{step}`" if step and record.sequence > 1 else "")


def _programs(journal: Journal) -> dict[str, str]:
    return {str(row.row["id"]): str(row.row["program"]) for row in journal.rows()}


def _settled(found: Sequence[Stored], journal: Journal) -> list[str]:
    """What became by now of the records whose save a dead driver has not made."""
    programs = _programs(journal)
    said = []
    for before in found:
        now = journal.load(str(before.row["id"]))
        ahead = before.records[before.row["revision"] :]
        if ahead and not now.save_missing:
            said.append(f"{_name(programs, ahead[0])}: saves {_records(ahead)}")
        if before.uncommitted and not now.uncommitted:
            said.append(f"cuts off `{before.uncommitted.partition(' ')[0]}`")
    return said


# -- an undisturbed life, the deaths in it, and the life after each --------------------------


class _FirstCommit(BaseException):
    """A driver has shown what it does, and need not go on."""


def _telling(tell: Callable[[Engine, Sequence[Record]], None]) -> MakeWorld:
    """Worlds whose drivers tell of each commit just before it is made."""

    def make(engine: Engine, clock: SteppedClock, contract: ToolContract) -> World:
        def name(records: Sequence[Record]) -> None:
            tell(engine, records)

        journal = CrashingJournal(engine.journal, CountedCalls(_unheeded), name)
        return World(replace(engine, journal=journal), clock, contract)

    return make


def _unheeded(_: str, __: int) -> None:
    """Nobody is to die in here."""


def steps_of(shape: Shape) -> list[Step]:
    """The steps of an undisturbed life; the last is what comes after its last commit."""
    steps, claimed = [Step()], ""

    def tell(engine: Engine, records: Sequence[Record]) -> None:
        nonlocal claimed
        programs = _programs(engine.journal)
        steps[-1].label = _commit(programs, records)
        if records[-1].event == Event.ATTEMPT_STARTED:
            step = records[-1].facts["step"]
            claimed = f"{_name(programs, records[-1])}: the effect of `{step}`"

    def reach(name: str, occurrence: int) -> None:
        if name in _DURABLE:
            steps[-1].label = {
                "tool:after": claimed,
                "register:after": "the tool is told of a new workflow",
            }.get(name, steps[-1].label)
            steps.append(Step())
        steps[-1].boundaries.append((name, occurrence))

    subject = ShapeSubject(shape, JournalFormat.SQLITE, _telling(tell))
    with tempfile.TemporaryDirectory() as scratch:
        subject.lay_out(Path(scratch))
        with subject.driving(Path(scratch), 1, reach) as driver:
            shape.live(driver.world)
    return steps


def next_acts(shape: Shape, journal_format: JournalFormat) -> dict[Boundary, str]:
    """What the next driver does first after a death at each boundary of an undisturbed life."""
    with tempfile.TemporaryDirectory() as scratch:
        images = _in_child(lambda: _deaths(shape, journal_format, Path(scratch)))
        acts = {
            image: _in_child(partial(_next_act, shape, journal_format, image))
            for image in dict.fromkeys(images.values())
        }
    return {boundary: acts[image] for boundary, image in images.items()}


def _deaths(shape: Shape, journal_format: JournalFormat, scratch: Path) -> dict[Boundary, Path]:
    """Where that lies which a death at each boundary leaves; equal images lie in one place."""
    subject, root = ShapeSubject(shape, journal_format), scratch / "scenario"
    images: dict[Boundary, Path] = {}

    def put_aside() -> Path:
        image = scratch / subject.remains(root).image_digest()
        if not image.exists():
            copy_image(root, image)
        return image

    def reach(name: str, occurrence: int) -> None:
        status = send_copy_to_death(Kill.SIGKILL)
        assert os.waitstatus_to_exitcode(status) == Kill.SIGKILL.returncode
        # Not in this process: to close a file of SQLite's would drop its locks (fcntl(2)).
        images[name, occurrence] = _in_child(put_aside)

    root.mkdir()
    subject.lay_out(root)
    with subject.driving(root, 1, reach) as driver:
        shape.live(driver.world)
    return images


def _next_act(shape: Shape, journal_format: JournalFormat, root: Path) -> str:
    """Drive as far as the first commit, and tell of that."""
    found: list[Stored] = []
    said: list[str] = []

    def tell(engine: Engine, records: Sequence[Record]) -> None:
        said.extend(_settled(found, engine.journal))
        if records:
            said.append(_commit(_programs(engine.journal), records))
        raise _FirstCommit

    subject = ShapeSubject(shape, journal_format, _telling(tell))
    # A driver says on stderr what it cuts off; here that goes into a table.
    with redirect_stderr(StringIO()), suppress(_FirstCommit), subject.driving(root, 2) as driver:
        journal = driver.stores[0]
        stored = map(journal.load, _programs(journal))
        found += [each for each in stored if each.save_missing or each.uncommitted]
        shape.live(driver.world)
    return "; ".join(said) or NOTHING_LEFT


def _in_child(work: Callable[[], Made]) -> Made:
    """What `work` returns, or raises, in a process of its own."""
    with closing(Crew().run([lambda _: work()])) as messages:
        (made,) = [message.content for message in messages if message.done]
    return cast(Made, made)


# -- a table for each shape ------------------------------------------------------------------


def rows(shape: Shape) -> Iterator[tuple[str, str, str, str]]:
    """A step of the driver a row; equal rows, such as those of three listeners, are one."""
    sqlite, json = (next_acts(shape, each) for each in JournalFormat)
    places: dict[tuple[str, str, str], list[str]] = {}
    for step in steps_of(shape):
        names = [name for name, _ in step.boundaries]
        appended = names.index("append:after") if "append:after" in names else len(names)
        saved = names.index("save:after") if "save:after" in names else len(names)
        before, unsaved = step.boundaries[:appended], step.boundaries[appended:saved]
        due = dict.fromkeys(
            [*(sqlite[place] for place in step.boundaries), *(json[place] for place in before)]
        )
        between = dict.fromkeys(json[place] for place in unsaved)
        row = (step.label or "nothing", "; or ".join(due), "; or ".join(between))
        first, last = (
            f"`{name}#{occurrence}`"
            for name, occurrence in (step.boundaries[0], step.boundaries[-1])
        )
        places.setdefault(row, []).append(first if first == last else f"{first} to {last}")
    for (label, due_text, between_text), where in places.items():
        yield label, "<br>".join(where), due_text, between_text
