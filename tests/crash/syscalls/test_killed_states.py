"""What is rebuilt is what a real kill leaves."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Container, Iterator
from pathlib import Path
from typing import Final, Literal

import pytest

from resumeproof.crash.syscalls.copying import copy_tree
from resumeproof.crash.syscalls.killing import kill_at
from resumeproof.crash.syscalls.operations import Recording
from resumeproof.crash.syscalls.rebuild import Rebuilder, page_cuts
from tests.crash.syscalls.programs import (
    REPEATABLE,
    SECONDS,
    compiled,
    needs_strace,
    python,
    shell,
    site_in,
    snapshot,
)

pytestmark = needs_strace

PARTS: Final = 4  # of all states of a program, since one test must not take too long
EVERY: Final = {"c": 1, "python": 3, "shell": 3, "processes": 3}
"""One of how many states of each program the gate compares; the first makes every call there is."""
PROGRAMS: Final[dict[str, Callable[[Path], list[str]]]] = {
    "c": lambda base: compiled("every_call.c", base),
    "python": lambda _: python("notes.py"),
    "shell": lambda _: shell("backup.sh"),
    "processes": lambda _: python("workers.py"),
}

When = Literal["before", "after"]


def kill_points(recording: Recording, both: bool) -> Iterator[tuple[int, When, int | None]]:
    """Before and after each call, or in turn the one and the other; and torn wherever it can be."""
    for call in recording.calls:
        if both or call.ordinal % 2:
            yield call.ordinal, "before", None
        for cut in page_cuts(call.operation):
            yield call.ordinal, "after", cut
        if both or not call.ordinal % 2:
            yield call.ordinal, "after", None


def test_the_programs_make_two_hundred_durable_calls(directory: Path) -> None:
    calls = 0
    for name, program in PROGRAMS.items():
        base = directory / name
        base.mkdir()
        recording = site_in(base).record(program(base))
        assert (recording.returncode, recording.not_covered) == (0, ()), name
        calls += len(recording.calls)
    assert calls >= 200


@pytest.mark.parametrize(("name", "every"), EVERY.items(), ids=EVERY)
def test_rebuilt_is_what_a_kill_leaves(name: str, every: int, directory: Path) -> None:
    compare(name, range(0, 1_000, every), directory, both=False)


@pytest.mark.campaign
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("name", PROGRAMS)
def test_all_that_is_rebuilt_is_what_a_kill_leaves(name: str, part: int, directory: Path) -> None:
    compare(name, range(part, 1_000, PARTS), directory, both=True)


def compare(name: str, numbers: Container[int], directory: Path, *, both: bool) -> None:
    """Kill a program at those of its states that have one of these numbers."""
    argv = PROGRAMS[name](directory)
    site = site_in(directory)
    recording = site.record(argv)
    rebuilder = Rebuilder(recording, site.origin)
    points = list(kill_points(recording, both=both))
    for ordinal, when, cut in (point for number, point in enumerate(points) if number in numbers):
        shutil.rmtree(site.directory)
        copy_tree(site.origin, site.directory)
        killed = kill_at(
            argv,
            directory=site.directory,
            recording=recording,
            ordinal=ordinal,
            when=when,
            cut=cut,
            env=REPEATABLE,
            timeout_seconds=SECONDS,
        )
        rebuilder.go_to(ordinal - (when == "before"), cut=cut)
        rebuilt = directory / "rebuilt"
        rebuilder.write_to(rebuilt)
        left = snapshot(site.directory)
        expected = (None, (), snapshot(rebuilt))
        assert (killed.unconfirmed, killed.life.orphans, left) == expected, (ordinal, when, cut)
        shutil.rmtree(rebuilt)


def test_a_program_that_takes_another_course_is_no_confirmation(directory: Path) -> None:
    site = site_in(directory)
    script = directory / "script"
    script.write_text("echo one > a; echo two > b; echo three > c\n")
    argv = ["/bin/sh", str(script)]
    recording = site.record(argv)
    script.write_text("echo one > a\n")
    killed = kill_at(
        argv, directory=site.directory, recording=recording, ordinal=6, timeout_seconds=SECONDS
    )
    assert killed.unconfirmed == "it ended without coming to this call"


def test_a_call_about_another_file_is_no_confirmation(directory: Path) -> None:
    site = site_in(directory)
    script = directory / "script"
    script.write_text("echo one > a; echo two > b\n")
    argv = ["/bin/sh", str(script)]
    recording = site.record(argv)
    script.write_text("echo one > a; echo two >> a\n")
    killed = kill_at(
        argv, directory=site.directory, recording=recording, ordinal=4, timeout_seconds=SECONDS
    )
    assert killed.unconfirmed == f"it was about another file than {site.directory / 'b'}"
