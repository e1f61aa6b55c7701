"""Claim, resume and timeline do as much work among ten thousand workflows as among a hundred.

Work is counted and never timed: what SQLite's virtual machine carries out, and the bytes that the
process reads. `scripts/bench` measures the same by the clock, up to a million workflows.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmark.growth import claim, timeline
from benchmark.population import UNKNOWN_COUNT, populate, site_in, workflow_ids
from resumeproof.crash.kill import CRASH_STATUS
from resumeproof.domain.inspection import inspect
from resumeproof.domain.status import Status
from resumeproof.lab.life import LifeSpecification
from resumeproof.runtime.driver import drive
from resumeproof.runtime.engine import Engine
from resumeproof.runtime.session import Site, driving, resume
from resumeproof.stores.sqlite_journal import SqliteJournal
from resumeproof.stores.sqlite_ledger import SqliteLedger

FEW, MANY = 100, 10_000
BYTES_TARGET = 1.5
"""A B-tree of more levels is read, and nothing else."""

IO = Path("/proc/self/io")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Site]:
    """Stores of each size, at rest."""
    made = {count: site_in(tmp_path_factory.mktemp(f"of-{count}")) for count in (FEW, MANY)}
    for count, site in made.items():
        populate(site, count)
    return made


def approved(count: int, place: int) -> str:
    """An approved workflow that no other test drives."""
    return workflow_ids(Status.APPROVED, count)[place]


def test_a_copied_workflow_is_as_sound_as_a_driven_one(sites: dict[int, Site]) -> None:
    site = sites[FEW]
    with (
        SqliteJournal.open_reader(site.journal) as journal,
        SqliteLedger.open_reader(site.ledger) as ledger,
    ):
        rows = [row.row["id"] for row in journal.rows()]
        damage = {inspect(journal.load(workflow_id)).damage for workflow_id in rows}
        damage |= {effect.damage for effect in ledger.effects()}
    assert (damage, len(rows)) == ({None}, FEW)


# -- what SQLite does ------------------------------------------------------------------------


def instructions(engine: Engine, act: Callable[[], object]) -> int:
    """How many instructions SQLite carries out in both stores during `act`."""
    assert isinstance(engine.journal, SqliteJournal)
    assert isinstance(engine.tool, SqliteLedger)
    counted = 0

    def count() -> int:
        nonlocal counted
        counted += 1
        return 0

    connections = [store.database.connection for store in (engine.journal, engine.tool)]
    for connection in connections:
        connection.set_progress_handler(count, 1)
    act()
    for connection in connections:
        connection.set_progress_handler(None, 1)
    return counted


def work(site: Site, workflow_id: str, completed_id: str) -> dict[str, int]:
    """What each operation costs, in instructions."""
    with driving(site) as engine:
        acts: dict[str, Callable[[], object]] = {
            "claim": lambda: claim(engine, workflow_id),
            "resume": lambda: drive(engine, workflow_id),
            "timeline": lambda: timeline(engine, completed_id),
            "list": lambda: list(engine.journal.rows(Status.UNKNOWN)),
        }
        return {name: instructions(engine, act) for name, act in acts.items()}


def test_many_workflows_cost_sqlite_no_more_than_few(sites: dict[int, Site]) -> None:
    few, many = (
        work(site, approved(count, 0), workflow_ids(Status.COMPLETED, count)[-1])
        for count, site in sites.items()
    )
    assert many == few


def test_whatever_reads_all_workflows_is_seen_to(sites: dict[int, Site]) -> None:
    counted = []
    for site in sites.values():
        with driving(site) as engine:
            counted.append(instructions(engine, lambda: list(engine.journal.rows())))
    few, many = counted
    assert many > few * MANY / FEW / 2


def test_all_unknown_workflows_are_listed_among_many(sites: dict[int, Site]) -> None:
    with SqliteJournal.open_reader(sites[MANY].journal) as journal:
        found = [row.row["id"] for row in journal.rows(Status.UNKNOWN)]
    assert (found, len(found)) == (workflow_ids(Status.UNKNOWN, MANY), UNKNOWN_COUNT)


# -- what the process reads ------------------------------------------------------------------


def bytes_read(act: Callable[[], object]) -> int:
    """How many bytes this process reads during `act`, from wherever (proc(5), rchar)."""
    before = _rchar()
    act()
    return _rchar() - before


def _rchar() -> int:
    found = re.search(r"^rchar: (\d+)", IO.read_text(), re.MULTILINE)
    assert found is not None
    return int(found[1])


def die_after_the_call(site: Site, workflow_id: str) -> None:
    specification = LifeSpecification(
        str(site.journal), str(site.ledger), workflow_id, crash_point="tool:after#1"
    )
    died = subprocess.run(
        [sys.executable, "-m", "resumeproof.lab.life", specification.to_json()],
        stdin=subprocess.DEVNULL,
        capture_output=True,
    )
    assert died.returncode == CRASH_STATUS, died.stderr


@pytest.mark.skipif(not IO.exists(), reason="needs /proc/self/io to count what is read")
@pytest.mark.parametrize(
    ("place", "before"),
    [(1, lambda *_: None), (2, die_after_the_call)],
    ids=["at rest", "after a death"],
)
def test_a_resume_reads_as_much_among_many_workflows_as_among_few(
    sites: dict[int, Site], place: int, before: Callable[[Site, str], None]
) -> None:
    resume(sites[FEW], workflow_ids(Status.COMPLETED, FEW)[0])  # what is imported is read once
    read, ended = [], []
    for count, site in sites.items():
        workflow_id = approved(count, place)
        before(site, workflow_id)
        read.append(
            bytes_read(lambda s=site, w=workflow_id: ended.append(resume(s, w).status))  # type: ignore[misc]
        )
    few, many = read
    assert (ended, many <= few * BYTES_TARGET) == ([Status.COMPLETED] * 2, True), read
