"""What a driver and a reader do, in a store of many workflows and in one of a hundred.

Whatever is measured has been looked at just before: how long a disk takes to find what nobody has
read for long is the disk's affair.
"""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Final

from benchmark.measure import Act, Finding, Note, compare
from benchmark.population import OUT_OF_REACH, populate, site_in, workflow_ids
from resumeproof.domain.status import Status
from resumeproof.errors import Exit, ToolUnreachable
from resumeproof.evidence.order import entries_of
from resumeproof.evidence.timeline import render
from resumeproof.runtime.driver import drive
from resumeproof.runtime.engine import Engine
from resumeproof.runtime.session import driving
from resumeproof.stores.sqlite_journal import SqliteJournal
from resumeproof.stores.sqlite_ledger import SqliteLedger

TARGET: Final = 1.5
FEW: Final = 100
MANY: Final = 1_000_000
MANY_QUICK: Final = 10_000

_PROGRAM: Final = Path(sys.executable).with_name("resumeproof")
_SEED: Final = 14  # the same workflows are chosen in each run

Pairs = Iterator[tuple[Act, Act]]


class _Store:
    """Two stores of so many workflows, and those of them that are still to be used."""

    def __init__(self, directory: Path, count: int) -> None:
        directory.mkdir()
        self.site = site_in(directory)
        populate(self.site, count)
        self._left = {
            status: _shuffled(workflow_ids(status, count))
            for status in (Status.APPROVED, Status.COMPLETED)
        }

    def take(self, status: Status) -> str:
        """A workflow that was not taken before, as it was made."""
        workflow_id = self._left[status].pop()
        with (
            SqliteJournal.open_reader(self.site.journal) as journal,
            SqliteLedger.open_reader(self.site.ledger) as ledger,
        ):
            ledger.registration(workflow_id)
            entries_of(journal.load(workflow_id).records, ledger)
        return workflow_id

    @property
    def size_bytes(self) -> int:
        return self.site.journal.stat().st_size + self.site.ledger.stat().st_size

    def command(self, *arguments: str, exit_status: int = 0) -> None:
        """Run a `resumeproof` command on the stores."""
        stores = ("--journal", self.site.journal, "--ledger", self.site.ledger)
        ended = subprocess.run(
            [_PROGRAM, *arguments, *stores], stdin=subprocess.DEVNULL, capture_output=True
        )
        if ended.returncode != exit_status:
            raise subprocess.CalledProcessError(ended.returncode, ended.args, stderr=ended.stderr)


def _shuffled(ids: list[str]) -> list[str]:
    random.Random(_SEED).shuffle(ids)
    return ids


def section(directory: Path, *, quick: bool) -> Iterator[Finding]:
    """Measure stores below `directory`, as large as a million workflows make them."""
    stores = []
    for count in (MANY_QUICK if quick else MANY, FEW):
        started = perf_counter()
        stores.append(_Store(directory / str(count), count))
        size_mb, seconds = stores[-1].size_bytes / 1e6, perf_counter() - started
        yield Note(f"{count:,} workflows", f"{size_mb:,.1f} MB, made in {seconds:.0f} s")
    repeats = 6 if quick else 12
    with driving(stores[0].site) as many, driving(stores[1].site) as few:
        for name, pairs in _in_process(stores, (many, few), repeats).items():
            yield compare(name, f"at {FEW}", pairs, target=TARGET)
    for name, pairs in _commands(stores, repeats).items():
        yield compare(name, f"at {FEW}", pairs, target=TARGET)


def _in_process(
    stores: list[_Store], engines: tuple[Engine, Engine], repeats: int
) -> dict[str, Pairs]:
    """What is done with both stores open. Those that are claimed are resumed afterwards."""
    claimed = [[store.take(Status.APPROVED) for _ in range(repeats)] for store in stores]
    looked_at = [[store.take(Status.COMPLETED) for _ in range(repeats)] for store in stores]

    def each(act: Callable[[Engine, str], object], ids: list[list[str]]) -> Pairs:
        for pair in zip(*ids, strict=True):
            many, few = (partial(act, *chosen) for chosen in zip(engines, pair, strict=True))
            yield many, few

    return {
        "claim": each(claim, claimed),
        "resume": each(drive, claimed),
        "timeline": each(timeline, looked_at),
    }


def claim(engine: Engine, workflow_id: str) -> None:
    with suppress(ToolUnreachable):
        drive(replace(engine, tool=OUT_OF_REACH), workflow_id)


def timeline(engine: Engine, workflow_id: str) -> str:
    assert isinstance(engine.tool, SqliteLedger)
    entries = entries_of(engine.journal.load(workflow_id).records, engine.tool)
    return render(entries)


def _commands(stores: list[_Store], repeats: int) -> dict[str, Pairs]:
    """Whole processes, which open and close both stores."""

    def each(act: Callable[[_Store], Act]) -> Pairs:
        for _ in range(repeats):
            many, few = map(act, stores)
            yield many, few

    return {
        "resumeproof resume": each(_resume),
        "resumeproof resume, after a death": each(_resume_after_death),
        "resumeproof timeline": each(_show_timeline),
        "resumeproof list --status unknown": each(_list_unknown),
    }


def _resume(store: _Store) -> Act:
    return partial(store.command, "resume", "--workflow", store.take(Status.APPROVED))


def _resume_after_death(store: _Store) -> Act:
    resume = ("resume", "--workflow", store.take(Status.APPROVED))
    store.command(*resume, "--crash-at", "tool:after", exit_status=Exit.CRASHED)
    return partial(store.command, *resume)


def _show_timeline(store: _Store) -> Act:
    return partial(store.command, "timeline", "--workflow", store.take(Status.COMPLETED))


def _list_unknown(store: _Store) -> Act:
    act = partial(store.command, "list", "--status", Status.UNKNOWN)
    act()
    return act
