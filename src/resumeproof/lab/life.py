"""One life of the lab's child process: `python -m resumeproof.lab.life SPECIFICATION`.

The specification is one JSON object. It fixes what a real driver takes from the world, so that
the same specification gives the same bytes: a clock (start, step) and a seed for ids and jitter;
either may be null, and then the real ones are used. With a crash point, the life dies there.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self

from resumeproof.crash.calls import CountedCalls, Strike, dying
from resumeproof.crash.faults import CrashingJournal, crashing_tool
from resumeproof.crash.kill import Kill, die, hold_until_killed
from resumeproof.crash.plan import CrashPoint
from resumeproof.domain.instant import parse_instant
from resumeproof.errors import Exit, ResumeproofError
from resumeproof.runtime.clock import Clock, SteppedClock, SystemClock
from resumeproof.runtime.identity import Identity, RandomIdentity, SeededIdentity
from resumeproof.runtime.session import Site, Wrap, resume
from resumeproof.stores.protocols import Journal, OpenJournal, Tool
from resumeproof.stores.sqlite_ledger import SqliteLedger


@dataclass(frozen=True)
class LifeSpecification:
    """`crash_point` None: this life is left alone. `supervised`: it holds still to be killed."""

    journal: str
    ledger: str
    workflow_id: str
    clock_start: str | None = None
    clock_step_seconds: float = 0.0
    seed: str | None = None
    crash_point: str | None = None
    kill: str = Kill.EXIT86
    supervised: bool = False

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Self:
        specification: Mapping[str, Any] = json.loads(text)
        return cls(**specification)

    def clock(self) -> Clock:
        if self.clock_start is None:
            return SystemClock()
        return SteppedClock(parse_instant(self.clock_start), self.clock_step_seconds)

    def identity(self) -> Identity:
        return RandomIdentity() if self.seed is None else SeededIdentity(self.seed)

    def site(self) -> Site:
        return Site(
            journal=Path(self.journal),
            ledger=Path(self.ledger),
            clock=self.clock(),
            identity=self.identity(),
        )


def trapped(point: CrashPoint, death: Callable[[], None]) -> Wrap:
    """Both stores wrapped so that whoever drives them dies by `death` at `point`."""
    return watched(CountedCalls(Strike(point, dying(death))))


def watched(counted: CountedCalls) -> Wrap:
    """Both stores wrapped so that the calls of whoever drives them are counted."""
    return lambda journal, ledger: (
        CrashingJournal(journal, counted),
        crashing_tool(ledger, counted),
    )


def _wrapped(specification: LifeSpecification) -> Wrap:
    """Tell what durability is in force, and put the trap round both stores if one is planned."""

    def wrap(journal: OpenJournal, ledger: SqliteLedger) -> tuple[Journal, Tool]:
        in_force = {
            "journal": asdict(journal.durability),
            "ledger": asdict(ledger.database.durability),
        }
        # Flushed, since this process may never get to its end.
        print(json.dumps({"durability": in_force}), flush=True)
        if specification.crash_point is None:
            return journal, ledger
        death = (
            hold_until_killed
            if specification.supervised
            else partial(die, Kill(specification.kill))
        )
        return trapped(CrashPoint.parse(specification.crash_point), death)(journal, ledger)

    return wrap


def live(specification: LifeSpecification) -> int:
    """Resume the workflow; return the exit status of an ordinary end."""
    try:
        workflow = resume(specification.site(), specification.workflow_id, _wrapped(specification))
    except ResumeproofError as error:
        print(json.dumps({"error": error.code, "message": str(error)}))
        return int(error.exit)
    print(json.dumps({"status": workflow.status}))
    return int(Exit.DONE)


if __name__ == "__main__":
    sys.exit(live(LifeSpecification.from_json(sys.argv[1])))
