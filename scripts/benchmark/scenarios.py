"""A scenario - a life killed, one resumed, its end re-read if it is new - against its bare forks.

The floor is as many lives with nothing round them: see `benchmark.bare_lives`.
"""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

from benchmark.bare_lives import Appending, bare, forked
from benchmark.measure import Act, Bound, Finding, Note, Ratio, compare, seconds_of
from resumeproof.crash.adoption import own_children
from resumeproof.crash.kill import Kill
from resumeproof.domain.contract import Lookup, ToolContract
from resumeproof.domain.verdict import Finding as Violation
from resumeproof.proof.agent import AgentSubject
from resumeproof.proof.context import EFFECT_AFTER, EFFECT_BEFORE
from resumeproof.proof.explore import MEMORY_DIRECTORY, prove
from resumeproof.proof.progress import Silence
from resumeproof.proof.share import Settings

TARGET: Final = 1.3
EFFECTS: Final = 100

LONG_EFFECTS: Final = 1_000
LONG_EFFECTS_QUICK: Final = 300
LONG_TARGET: Final = 1 / 60 / 2.6e-3
"""60 scenarios a second where two forks with a kill take 2.6 ms."""

MANY_DEPTH: Final = 3
MANY_EFFECTS: Final = 20
MANY_EFFECTS_QUICK: Final = 9
WINDOW: Final = 1_000
WINDOW_QUICK: Final = 150
SLOWER_TARGET: Final = 1.15
GROWTH_TARGET_BYTES: Final = 1_000
"""What a scenario may leave in memory: its entry in the report, and the digests of its image."""

HEAVY_BYTES: Final = 200_000_000

_CONTRACT: Final = ToolContract("bench", lookup=Lookup.CONSISTENT)


def section(directory: Path, *, quick: bool) -> Iterator[Finding]:
    """Measure on a memory file system where there is one, as proofs do."""
    repeats = 3 if quick else 7
    yield Note("two forks with a kill, median", f"{_two_forks_seconds() * 1e3:.2f} ms")
    with tempfile.TemporaryDirectory(dir=_memory(directory)) as scratch:
        yield from _against_floor(Path(scratch), "", repeats)
        ballast = _ballast()
        yield Note("the same, from a heavy process", f"{_two_forks_seconds() * 1e3:.2f} ms")
        yield from _against_floor(Path(scratch), f", {HEAVY_BYTES // 10**6} MB", repeats)
        del ballast
    yield from _long(LONG_EFFECTS_QUICK if quick else LONG_EFFECTS)
    yield from _many(quick=quick)


def _memory(otherwise: Path) -> Path:
    return MEMORY_DIRECTORY if MEMORY_DIRECTORY.is_dir() else otherwise


def _ballast() -> list[str]:
    """Small objects, as imports leave them."""
    return [f"{number:>100}" for number in range(HEAVY_BYTES // 160)]


def _two_forks_seconds() -> float:
    def act() -> None:
        os.waitpid(forked(lambda: os.kill(os.getpid(), signal.SIGKILL)), 0)
        os.waitpid(forked(lambda: None), 0)

    return median(seconds_of(act) for _ in range(200))


# -- against the floor -----------------------------------------------------------------------


def _against_floor(scratch: Path, suffix: str, repeats: int) -> Iterator[Finding]:
    subject = AgentSubject(Appending, tuple(range(EFFECTS)), _CONTRACT)
    scenarios = 2 * EFFECTS
    for jobs in (1, 2):
        proof: Act = partial(_proved, subject, jobs)
        floor: Act = partial(bare, subject, jobs, scratch)
        name = f"a scenario, {jobs} core{'s'[: jobs - 1]}{suffix}"
        whole = compare(name, "bare lives", [(proof, floor)] * repeats, target=TARGET)
        yield replace(
            whole,
            measured_seconds=whole.measured_seconds / scenarios,
            floor_seconds=whole.floor_seconds / scenarios,
        )
        yield Note("scenarios per second", f"{scenarios / whole.measured_seconds:,.0f}")


def _settings(depth: int = 1) -> Settings:
    return Settings("run", Kill.SIGKILL, (EFFECT_BEFORE, EFFECT_AFTER), depth, 60.0, depth == 1)


def _proved(subject: AgentSubject, jobs: int) -> None:
    report = prove(subject, _settings(), jobs=jobs, progress=Silence())
    resumed = report.certificate.resumed if report.certificate.adds_up else None
    found = (report.passed, report.shared_prefixes, resumed)
    assert found == (True, True, 2 * len(subject.inputs)), str(report)


# -- long agents -----------------------------------------------------------------------------


def _long(effects: int) -> Iterator[Finding]:
    """All deaths of a long agent, by what two forks with a kill take: before, meanwhile, after."""
    subject = AgentSubject(Appending, tuple(range(effects)), _CONTRACT)
    scenarios = 2 * effects
    before = _two_forks_seconds()
    seconds = seconds_of(partial(_proved, subject, 2))
    floor = (before + _two_forks_seconds()) / 2
    yield Ratio(
        f"a scenario of {effects:,} effects, 2 cores",
        seconds / scenarios,
        "two forks with a kill",
        floor,
        LONG_TARGET,
        1,
    )
    yield Note("scenarios per second", f"{scenarios / seconds:,.0f}")


# -- many scenarios --------------------------------------------------------------------------


def _many(*, quick: bool) -> Iterator[Finding]:
    """One proof of many scenarios: do the last cost what the first did?"""
    effects, window = (MANY_EFFECTS_QUICK, WINDOW_QUICK) if quick else (MANY_EFFECTS, WINDOW)
    subject = AgentSubject(Appending, tuple(range(effects)), _CONTRACT)
    readings = _Readings(window)
    report = prove(subject, _settings(MANY_DEPTH), jobs=1, progress=readings)
    assert (report.passed, report.certificate.adds_up) == (True, True), str(report)
    first, *_, last_but_one, last = readings.taken
    second = readings.taken[1]
    yield Note("scenarios in one proof", f"{report.certificate.judged:,}")
    yield Ratio(
        f"a scenario, the last {window:,} of them",
        (last.at - last_but_one.at) / window,
        f"the first {window:,}",
        (second.at - first.at) / window,
        SLOWER_TARGET,
        1,
    )
    scenarios = window * (len(readings.taken) - 2)
    for name, grown in (
        ("the worker", last.workers_bytes - second.workers_bytes),
        ("the process that proves", last.own_bytes - second.own_bytes),
    ):
        yield Bound(f"growth of {name}, a scenario", grown / scenarios, GROWTH_TARGET_BYTES, "B")


class _Reading(NamedTuple):
    at: float
    own_bytes: int
    workers_bytes: int


class _Readings:
    """Hears of each scenario that is judged, and takes a reading after so many of them."""

    def __init__(self, window: int) -> None:
        self._window = window
        self._judged = 0
        self.taken: list[_Reading] = []

    def start(self, expected: int) -> None:
        self.taken.append(self._read())

    def advance(self, findings: Sequence[Violation]) -> None:
        self._judged += 1
        if self._judged % self._window == 0:
            self.taken.append(self._read())

    def _read(self) -> _Reading:
        own, *workers = (_private_bytes(pid) for pid in (os.getpid(), *own_children()))
        return _Reading(time.perf_counter(), own, sum(workers))


def _private_bytes(pid: int) -> int:
    """What a process shares with none: what its parent left it does not count."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    sizes = {
        name: int(size.split()[0]) for name, _, size in (line.partition(":") for line in lines)
    }
    return 1024 * (sizes["Private_Dirty"] + sizes["Private_Clean"])
