"""A recording with the directory it began in, held against what the program really left."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from resumeproof.crash.clearing import clear_away
from resumeproof.crash.syscalls.copying import number_files
from resumeproof.crash.syscalls.operations import Recording
from resumeproof.crash.syscalls.readback import differences
from resumeproof.crash.syscalls.recorder import record
from resumeproof.crash.syscalls.states import Output
from resumeproof.crash.syscalls.tree import Tree
from resumeproof.errors import RecordingContradicted
from resumeproof.proof.commands.command import Command, Scene

RECORDING_PATIENCE: Final = 10
"""A program that is looked at at each call may take so many times as long as it takes alone."""

_NAMED_AT_MOST: Final = 3


@dataclass(frozen=True, slots=True)
class Recorded:
    """One run of a program in a scene: what it did, and the directory it began in.

    `problem` says what the calls do not account for; then no state can be rebuilt with certainty.
    """

    recording: Recording
    start: Tree
    end: Tree
    problem: str | None

    @property
    def printed(self) -> bytes:
        """All that it printed."""
        return Output(self.recording).by(len(self.recording.calls))


@dataclass(frozen=True, slots=True)
class Run:
    """A recorded life that can be killed: of which command, and what it found and had printed."""

    command: Command
    recorded: Recorded
    printed: bytes = b""


def record_in(
    scene: Scene,
    command: Command,
    origin: Path,
    *,
    timeout_seconds: float,
    domains: Sequence[str] = ("",),
    stack: bool = False,
) -> Recorded:
    """Record a command in a scene; the copy at `origin` that this makes is gone again."""
    clear_away(origin)
    try:
        recording = record(
            command.words(scene.directory),
            directory=scene.directory,
            origin=origin,
            domains=domains,
            env=os.environ | scene.environment(),
            timeout_seconds=timeout_seconds * RECORDING_PATIENCE,
            stack=stack,
        )
        start = Tree.read(origin, recording.initial_inodes)
    finally:
        clear_away(origin)
    return accounted(recording, start, scene.directory)


def accounted(recording: Recording, start: Tree, directory: Path) -> Recorded:
    """A recording held against what was really left in the directory."""
    end = start.clone()
    try:
        for call in recording.calls:
            end.apply(call.operation)
    except RecordingContradicted as error:
        return Recorded(recording, start, end, str(error))
    return Recorded(recording, start, end, _unaccounted(end, directory))


def tree_of(directory: Path) -> Tree:
    """A directory as it lies."""
    return Tree.read(directory, number_files(directory))


def _unaccounted(rebuilt: Tree, directory: Path) -> str | None:
    names = list(differences(rebuilt, directory))
    if not names:
        return None
    named = ", ".join(names[:_NAMED_AT_MOST]) + (", ..." if len(names) > _NAMED_AT_MOST else "")
    return f"the recorded calls do not account for what the program left: {named}"
