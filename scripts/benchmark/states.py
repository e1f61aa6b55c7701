"""What it costs to rebuild one state of a program, tell it from others, and judge it in process."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from statistics import median

from benchmark.measure import Act, Bound, Finding, Note, compare, seconds_of
from resumeproof.proof.commands.command import Function, Program
from resumeproof.proof.commands.exploring import Explorer
from resumeproof.proof.commands.images import Image
from resumeproof.proof.commands.settings import Settings
from resumeproof.proof.progress import Silence

TARGET = 1.5
STATES_PER_SECOND = 500
DATABASE = "numbers.sqlite3"

PROGRAM = """
import sqlite3, sys
connection = sqlite3.connect("numbers.sqlite3", isolation_level=None)
connection.execute("PRAGMA journal_mode=WAL")
connection.execute("PRAGMA synchronous=FULL")
connection.execute("CREATE TABLE numbers (number INTEGER PRIMARY KEY) STRICT")
for number in range(int(sys.argv[1])):
    connection.execute("INSERT INTO numbers VALUES (?)", [number])
    print(number, flush=True)
connection.close()
"""


def whole(directory: Path, printed: str) -> None:
    """What the check asks, and the floor as well."""
    path = directory / DATABASE
    if path.exists():
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def floor_of(image: Image, place: Path) -> Act:
    """Copy a directory, hash it, open the database and check it: what nobody can do without."""
    source, copy = place / "source", place / "copy"

    def prepare() -> None:
        for each in (source, copy):
            shutil.rmtree(each, ignore_errors=True)
        image.tree.write_to(source)

    def act() -> None:
        shutil.copytree(source, copy)
        digest = hashlib.sha256()
        for path in sorted(copy.iterdir()):
            digest.update(path.read_bytes())
        whole(copy, "")
        shutil.rmtree(copy)

    prepare()
    return act


def section(directory: Path, *, quick: bool) -> Iterator[Finding]:
    # A program of some 2,000 durable calls.
    commits, every = (40, 5) if quick else (400, 20)
    settings = Settings(
        Program((sys.executable, "-c", PROGRAM, str(commits))),
        resume=None,
        check=Function("whole", whole, ()),
        compares=False,
    )
    with Explorer(settings, 1, Silence()) as explorer:
        explored = explorer.enumerated()
        images, trial = explored.images.images, explored.baseline.trial
        site = explorer.court.site()
        chosen = images[::every]
        place = site.scene.directory.parent / "floor"
        place.mkdir()

        def pairs() -> Iterator[tuple[Act, Act]]:
            for image in chosen:
                yield partial(site.judge, image, trial), floor_of(image, place)

        yield Note("durable calls", f"{len(explored.baseline.recorded.recording.calls):,}")
        yield compare(
            "a state: rebuild, tell apart, judge",
            "copy, hash, open, integrity_check",
            pairs(),
            target=TARGET,
        )
        seconds = median(seconds_of(partial(site.judge, image, trial)) for image in chosen)
        origins = sum(state.origins for state in explored.images.states)
        # Places to crash that leave the same bytes are judged once.
        yield Bound(
            "a place to crash, one core",
            1e6 * seconds * len(images) / origins,
            1e6 / STATES_PER_SECOND,
            "us",
        )
