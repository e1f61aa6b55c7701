"""Keeps what a scenario's lives left, for a look.

For each life, from the first:

    <keep>/life-1/scenario/      the scenario's directory as the first life left it
    <keep>/life-1/output.txt     what that life printed
    <keep>/life-1/ending.txt     how it ended
"""

from __future__ import annotations

from pathlib import Path

from resumeproof.crash.forked import ForkedLife
from resumeproof.crash.plan import CrashPoint
from resumeproof.crash.syscalls.tree import Tree
from resumeproof.errors import StoreUnavailable
from resumeproof.proof.image import copy_image

SCENARIO_NAME = "scenario"
OUTPUT_NAME = "output.txt"
ENDING_NAME = "ending.txt"


def keep_life(keep: Path, number: int, root: Path, life: ForkedLife) -> None:
    """Copy what the life numbered `number` left. Raises `StoreUnavailable`."""
    place = keep / f"life-{number}"
    try:
        place.mkdir(parents=True)
        copy_image(root, place / SCENARIO_NAME)
        (place / OUTPUT_NAME).write_text(life.output, encoding="utf-8", errors="replace")
        (place / ENDING_NAME).write_text(_ending(life), encoding="utf-8")
    except OSError as error:
        cause = error.strerror or str(error)
        raise StoreUnavailable("directory", str(place), cause) from error


def keep_rebuilt(keep: Path, number: int, tree: Tree, point: CrashPoint) -> None:
    """Write what the life numbered `number` would have left. Raises `StoreUnavailable`."""
    place = keep / f"life-{number}"
    try:
        place.mkdir(parents=True)
        tree.write_to(place / SCENARIO_NAME)
        (place / ENDING_NAME).write_text(f"rebuilt as a kill leaves it at {point}\n")
    except OSError as error:
        cause = error.strerror or str(error)
        raise StoreUnavailable("directory", str(place), cause) from error


def _ending(life: ForkedLife) -> str:
    """How a life ended, in one line."""
    ending = "it did not end in time, and was killed: " if life.timed_out else ""
    ending += life.exit.text
    if life.witness is not None:
        name, occurrence = life.witness
        ending += f", at {name}#{occurrence}"
    return f"{ending}\n"
