"""A durable step through the real kernel, against a bare loop that sends the same.

A step is a claim, an effect and an acknowledgement: three commits in two databases. It is measured
in the middle of workflows of many steps; what it costs to take up a workflow, which is read and
folded first, is told beside it. The floor is recorded from the kernel, so that it cannot fall
behind it: the same statements with the same parameters, sent by nothing but `sqlite3` to copies of
the same two files. It makes the same bytes out of the same values, too: the JSON text of a record
by `json`, the hashes of records and receipts by `hashlib`.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any, Final, cast

from benchmark.bare_stores import BareStores, Step, StoreName, made_anew
from benchmark.measure import Act, Count, Finding, Note, Ratio, compare, seconds_of
from benchmark.population import ACTION, UNKNOWN_COUNT, populate, site_in, workflow_ids
from resumeproof.domain.command import Call, Command, Finish, Node, Program, State
from resumeproof.domain.contract import ToolContract
from resumeproof.domain.status import Status
from resumeproof.runtime.creation import Terms
from resumeproof.runtime.driver import drive
from resumeproof.runtime.engine import Engine
from resumeproof.runtime.kernel import tick
from resumeproof.runtime.operations import hold
from resumeproof.runtime.programs import PROGRAMS
from resumeproof.runtime.session import Site, create_workflow, driving
from resumeproof.stores.protocols import Journal, OpenJournal, Tool
from resumeproof.stores.sqlite import Database
from resumeproof.stores.sqlite_journal import SqliteJournal
from resumeproof.stores.sqlite_ledger import SqliteLedger

TARGET: Final = 1.3
SYNCS_PER_STEP: Final = 3
STEPS_PER_WORKFLOW: Final = 50

_SYNC_REPEATS: Final = 100
_TRACED_STEPS: Final = (10, 40)


def section(directory: Path, *, quick: bool) -> Iterator[Finding]:
    """Measure steps in stores below `directory`."""
    steps = 50 if quick else 300
    population = UNKNOWN_COUNT + 2 * steps
    template = directory / "template"
    template.mkdir()
    populate(site_in(template), population)
    ids = workflow_ids(Status.APPROVED, population)
    long_ids = [_create_long(_site(template)) for _ in range(steps // STEPS_PER_WORKFLOW)]
    yield Note("fdatasync of a 4 KiB append, median", f"{_sync_seconds(directory) * 1e6:,.0f} us")
    yield Count("syncs per step", _syncs_per_step(template, directory), SYNCS_PER_STEP)
    for name, acts in (("long", partial(_steps, long_ids)), ("whole", partial(_whole, ids))):
        recorded = _recorded(_copied(template, directory / f"{name}-recorded"), acts)
        bare = list(map(made_anew, recorded))
        measured = _site(_copied(template, directory / f"{name}-measured"))
        with (
            driving(measured) as engine,
            BareStores(_copied(template, directory / f"{name}-floor")) as floor,
        ):
            pairs = zip(acts(engine), (partial(floor.run, step) for step in bare), strict=True)
            ratio = compare("a durable step", "three bare commits", pairs, target=TARGET)
        yield ratio if name == "long" else _taken_up(ratio)


def _taken_up(ratio: Ratio) -> Note:
    return Note(
        "a workflow of one step, read, folded and driven to its end",
        f"{ratio.measured_seconds * 1e3:.3f} ms, {ratio.value:.2f} x its bare statements",
    )


# -- workflows of many steps -----------------------------------------------------------------


def _node(number: int) -> Node:
    following = f"step{number + 1}"

    def call(state: State) -> Command:
        return Call(state.action, f"{state.key}-{number}", following, needs_approval=False)

    return call


def _finish(state: State) -> Command:
    return Finish({})


_NODES: Final[dict[str, Node]] = {
    **{f"step{number}": _node(number) for number in range(1, STEPS_PER_WORKFLOW + 1)},
    f"step{STEPS_PER_WORKFLOW + 1}": _finish,
}
_LONG: Final = Program("long", 1, "step1", _NODES)


def _site(directory: Path) -> Site:
    return replace(site_in(directory), programs={**PROGRAMS, _LONG.name: _LONG})


def _create_long(site: Site) -> str:
    contract = ToolContract(ACTION.tool, idempotent=True)
    key = site.identity.new_id("key")
    return create_workflow(
        site,
        program=_LONG,
        action=ACTION,
        contract=contract,
        fail_before=0,
        terms=lambda ledger_id: Terms(ledger_id, contract, key),
    ).id


def _steps(workflow_ids: list[str], engine: Engine) -> Iterator[Act]:
    """Each step of these workflows, by a driver that holds them already."""
    for workflow_id in workflow_ids:
        held = hold(engine.journal, workflow_id, engine.programs)

        def step() -> None:
            nonlocal held
            held = tick(held, engine)

        while not held.settled:
            yield step


def _whole(workflow_ids: list[str], engine: Engine) -> Iterator[Act]:
    return (partial(drive, engine, workflow_id) for workflow_id in workflow_ids)


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


def _recorded(directory: Path, acts: Callable[[Engine], Iterator[Act]]) -> list[Step]:
    """What the kernel sends for each act."""
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
    with driving(_site(directory), record) as engine:
        for act in acts(engine):
            # What was sent between two acts, to take up the next workflow, is no part of a step.
            sent.clear()
            act()
            steps.append(list(sent))
    return steps


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
