"""A durable step through the real kernel, against a bare loop that sends the same.

A step is a claim, an effect and an acknowledgement: three commits in two databases. The floor is
recorded from the kernel, so that it cannot fall behind it: the same statements with the same
parameters, sent by nothing but `sqlite3` to copies of the same two files.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any, Final, Literal, Self, cast

from benchmark.measure import Act, Count, Finding, Note, compare, seconds_of
from benchmark.population import UNKNOWN_COUNT, populate, site_in, workflow_ids
from resumeproof.domain.status import Status
from resumeproof.runtime.driver import drive
from resumeproof.runtime.session import driving
from resumeproof.stores.protocols import Journal, OpenJournal, Tool
from resumeproof.stores.sqlite import Database
from resumeproof.stores.sqlite_journal import SqliteJournal
from resumeproof.stores.sqlite_ledger import SqliteLedger

TARGET: Final = 1.3
SYNCS_PER_STEP: Final = 3

_SYNC_REPEATS: Final = 100
_TRACED_STEPS: Final = (10, 40)

StoreName = Literal["journal", "ledger"]
Statement = tuple[StoreName, str, Any]
Step = list[Statement]


def section(directory: Path, *, quick: bool) -> Iterator[Finding]:
    """Measure steps in stores below `directory`."""
    steps = 50 if quick else 300
    workflows = UNKNOWN_COUNT + 2 * steps
    template = directory / "template"
    template.mkdir()
    populate(site_in(template), workflows)
    ids = workflow_ids(Status.APPROVED, workflows)
    yield Note("fdatasync of a 4 KiB append, median", f"{_sync_seconds(directory) * 1e6:,.0f} us")
    yield Count("syncs per step", _syncs_per_step(template, directory), SYNCS_PER_STEP)
    recorded = _recorded(_copied(template, directory / "recorded"), ids)
    measured = site_in(_copied(template, directory / "measured"))
    with driving(measured) as engine, _Floor(_copied(template, directory / "floor")) as floor:
        pairs: list[tuple[Act, Act]] = [
            (partial(drive, engine, workflow_id), partial(floor.run, step))
            for workflow_id, step in zip(ids, recorded, strict=True)
        ]
        yield compare("a durable step", "three bare commits", pairs, target=TARGET)


def _copied(template: Path, directory: Path) -> Path:
    shutil.copytree(template, directory)
    return directory


# -- the floor -------------------------------------------------------------------------------


class _Recorder:
    """A connection that keeps what is sent through it."""

    def __init__(self, store: StoreName, connection: sqlite3.Connection, sent: Step) -> None:
        self._store = store
        self._connection = connection
        self._sent = sent

    def execute(self, sql: str, parameters: Any = ()) -> sqlite3.Cursor:
        self._sent.append((self._store, sql, parameters))
        return self._connection.execute(sql, parameters)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


def _recorded(directory: Path, ids: list[str]) -> list[Step]:
    """What the kernel sends for each workflow."""
    sent: Step = []

    def record(journal: OpenJournal, ledger: SqliteLedger) -> tuple[Journal, Tool]:
        assert isinstance(journal, SqliteJournal)
        stores: tuple[tuple[StoreName, Database], ...] = (
            ("journal", journal.database),
            ("ledger", ledger.database),
        )
        for name, database in stores:
            recorder = _Recorder(name, database.connection, sent)
            database._connection = cast("sqlite3.Connection", recorder)
        return journal, ledger

    steps = []
    with driving(site_in(directory), record) as engine:
        for workflow_id in ids:
            sent.clear()
            drive(engine, workflow_id)
            steps.append(list(sent))
    return steps


class _Floor:
    """Both stores through bare `sqlite3`, with the journal mode and pragmas of a writer."""

    def __init__(self, directory: Path) -> None:
        site = site_in(directory)
        self._connections = {"journal": _bare(site.journal), "ledger": _bare(site.ledger)}

    def run(self, step: Step) -> None:
        for store, sql, parameters in step:
            self._connections[store].execute(sql, parameters).fetchall()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for connection in self._connections.values():
            connection.close()


def _bare(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    for pragma in (
        "journal_mode=WAL",
        "synchronous=FULL",
        "foreign_keys=ON",
        "trusted_schema=OFF",
        "recursive_triggers=ON",
    ):
        connection.execute(f"PRAGMA {pragma}").fetchall()
    return connection


# -- syncs -----------------------------------------------------------------------------------


def _sync_seconds(directory: Path) -> float:
    """The median time that the disk takes to make an appended block durable."""
    descriptor = os.open(directory / "sync", os.O_CREAT | os.O_WRONLY)
    try:

        def append() -> float:
            os.write(descriptor, bytes(4096))
            return seconds_of(partial(_fdatasync, descriptor))

        return median(append() for _ in range(_SYNC_REPEATS))
    finally:
        os.close(descriptor)


_fdatasync: Callable[[int], None] = getattr(os, "fdatasync", os.fsync)


def _syncs_per_step(template: Path, directory: Path) -> float | None:
    """Syncs that each further step adds, counted from outside; None without strace.

    Two runs of different length are compared, so that what opening and closing sync drops out;
    both end before the first checkpoint.
    """
    strace = shutil.which("strace")
    if strace is None:
        return None
    few, many = (
        _syncs(strace, _copied(template, directory / f"traced-{steps}"), steps)
        for steps in _TRACED_STEPS
    )
    return (many - few) / (_TRACED_STEPS[1] - _TRACED_STEPS[0])


def _syncs(strace: str, directory: Path, steps: int) -> int:
    log = directory / "strace"
    traced = (sys.executable, "-m", "benchmark.steps", directory, str(steps))
    subprocess.run(
        (strace, "-f", "-qq", "-e", "trace=fsync,fdatasync", "-o", log, *traced), check=True
    )
    return len(log.read_text().splitlines())


def _drive_some(directory: Path, steps: int) -> None:
    site = site_in(directory)
    with SqliteJournal.open_reader(site.journal) as journal:
        ids = [row.row["id"] for row in islice(journal.rows(Status.APPROVED), steps)]
    with driving(site) as engine:
        for workflow_id in ids:
            drive(engine, workflow_id)


if __name__ == "__main__":
    _drive_some(Path(sys.argv[1]), int(sys.argv[2]))
