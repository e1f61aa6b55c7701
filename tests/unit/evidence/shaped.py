"""A shape that came to its end on a journal of either format, and the evidence of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from resumeproof.crash.plan import CrashPoint
from resumeproof.domain.inspection import Stored, fold
from resumeproof.domain.observation import Observation, ScenarioRun
from resumeproof.domain.record import GENESIS, Draft, Record, chain
from resumeproof.domain.status import Event
from resumeproof.evidence.contents import Contents, read_contents
from resumeproof.evidence.receipt import ScenarioEvidence, write_evidence
from resumeproof.lab.life import trapped
from resumeproof.proof.shapes.shape import Shape
from resumeproof.proof.shapes.subject import JOURNAL_NAME, LEDGER_NAME, START, ShapeSubject
from resumeproof.proof.shapes.world import World
from resumeproof.runtime.clock import SteppedClock
from resumeproof.runtime.identity import SeededIdentity
from resumeproof.runtime.session import Site, driving, unwrapped
from resumeproof.stores.journals import open_journal
from resumeproof.stores.protocols import JournalFormat
from resumeproof.stores.sqlite_ledger import SqliteLedger
from tests.unit.evidence.scene import WAL, Died, a_life, die


@dataclass(frozen=True)
class Shaped:
    """A directory in which a shape was driven."""

    directory: Path

    @property
    def journal(self) -> Path:
        return self.directory / JOURNAL_NAME

    @property
    def ledger(self) -> Path:
        return self.directory / LEDGER_NAME

    def contents(self) -> Contents:
        with (
            open_journal(self.journal) as journal,
            SqliteLedger.open_reader(self.ledger) as ledger,
        ):
            return read_contents(journal, ledger)

    def write(self, journal_format: JournalFormat, *deaths: str) -> None:
        """Write the receipt file and the picture: all workflows were driven by the same lives."""
        lives = [a_life(number, death) for number, death in enumerate(deaths, start=1)]
        run = ScenarioRun(
            subject="shape",
            plan=";".join(deaths) or "baseline",
            kill="exit86",
            lives=(*lives, a_life(len(deaths) + 1)),
            observation=_NOBODY_LOOKED,
            invalid=None,
            unreached=None,
        )
        mode = "json" if journal_format is JournalFormat.JSON else "wal"
        durability = {"journal": {**WAL, "journal_mode": mode}, "ledger": WAL}
        write_evidence(
            self.directory,
            journal=self.journal,
            ledger=self.ledger,
            scenarios=[
                ScenarioEvidence(str(stored.row["id"]), run, durability)
                for stored in self.contents().workflows
            ],
        )


_NOBODY_LOOKED = Observation("", None, 0, 0, 0, 0, 0, 0)


def driven(shape: Shape, journal_format: JournalFormat, directory: Path, *deaths: str) -> Shaped:
    """Drive a shape to its end, in one life or in several, and write the evidence of it."""
    ShapeSubject(shape, journal_format).lay_out(directory)
    for number, death in enumerate((*deaths, None), start=1):
        clock = SteppedClock(START + number * timedelta(minutes=1), 0.001)
        site = _site(shape, directory, number, clock)
        wrap = unwrapped if death is None else trapped(CrashPoint.parse(death), die)
        with suppress(Died), driving(site, wrap) as engine:
            shape.live(World(engine, clock, shape.contract))
    shaped = Shaped(directory)
    shaped.write(journal_format, *deaths)
    return shaped


def _site(shape: Shape, directory: Path, life: int, clock: SteppedClock) -> Site:
    return Site(
        journal=directory / JOURNAL_NAME,
        ledger=directory / LEDGER_NAME,
        clock=clock,
        identity=SeededIdentity(f"{shape.name}:{life}"),
        programs={program.name: program for program in shape.programs},
    )


Change = Callable[[dict[str, Any]], Any]


def forged(contents: Contents, workflow_id: str, event: Event, change: Change) -> Contents:
    """The same with the facts of a workflow's last such record changed, all chained anew."""
    return replace(
        contents,
        workflows=tuple(
            _forged(stored, event, change) if stored.row["id"] == workflow_id else stored
            for stored in contents.workflows
        ),
    )


def _forged(stored: Stored, event: Event, change: Change) -> Stored:
    (*_, last) = (record.sequence for record in stored.records if record.event == event)
    records: list[Record] = []
    previous = GENESIS
    for record in stored.records:
        # A copy: what a record tells is shared by whoever reads it.
        facts = json.loads(record.facts_text)
        if record.sequence == last:
            change(facts)
        draft = Draft(Event(record.event), facts)
        records.append(
            chain(
                record.workflow_id,
                sequence=record.sequence,
                previous=previous,
                at=record.at,
                draft=draft,
            )
        )
        previous = records[-1].hash
    row: Mapping[str, Any] = fold(str(stored.row["id"]), records).sound().row()
    return replace(stored, records=tuple(records), row=row)
