"""A recording with the directory it began in, held against what the program really left."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from resumeproof.crash.syscalls.operations import Print, Recording
from resumeproof.crash.syscalls.recorder import record
from resumeproof.crash.syscalls.tree import Node, Tree
from resumeproof.errors import RecordingContradicted
from resumeproof.proof.commands.command import Command, Scene

RECORDING_PATIENCE: Final = 10
"""A program that is looked at at each call may take so many times as long as it takes alone."""

_SHARED_MEMORY: Final = "-shm"
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
        return printed_by(self.recording, len(self.recording.calls))


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
    shutil.rmtree(origin, ignore_errors=True)
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
        shutil.rmtree(origin, ignore_errors=True)
    end = start.clone()
    try:
        for call in recording.calls:
            end.apply(call.operation)
    except RecordingContradicted as error:
        return Recorded(recording, start, end, str(error))
    return Recorded(recording, start, end, _unaccounted(end, tree_of(scene.directory)))


def tree_of(directory: Path) -> Tree:
    """A directory as it lies, its files numbered by their inodes."""
    inodes = {
        path.relative_to(directory).as_posix(): path.stat().st_ino
        for path in directory.rglob("*")
        if path.is_file() and not path.is_symlink()
    }
    return Tree.read(directory, inodes)


def printed_by(recording: Recording, calls: int) -> bytes:
    """What a program had printed after so many of its calls."""
    return b"".join(
        call.operation.data for call in recording.calls[:calls] if isinstance(call.operation, Print)
    )


def same_entries(one: Tree, other: Tree) -> bool:
    """Whether two trees hold the same, but for what SQLite keeps in shared memory."""
    return next(_differing(one, other), None) is None


def _unaccounted(rebuilt: Tree, found: Tree) -> str | None:
    names = list(_differing(rebuilt, found))
    if not names:
        return None
    named = ", ".join(names[:_NAMED_AT_MOST]) + (", ..." if len(names) > _NAMED_AT_MOST else "")
    return f"the recorded calls do not account for what the program left: {named}"


def _differing(one: Tree, other: Tree) -> Iterator[str]:
    entries, others = _entries(one), _entries(other)
    for path in sorted(entries.keys() | others.keys()):
        if entries.get(path) != others.get(path):
            yield path or "."


def _entries(tree: Tree) -> dict[str, tuple[object, ...]]:
    return {path: _described(path, node) for path, _, node in tree.walk()}


def _described(path: str, node: Node) -> tuple[object, ...]:
    content = node.content
    if content is None:
        return node.mode if path else 0, node.points_to
    if path.endswith(_SHARED_MEMORY):
        return (node.mode, content.size)
    return node.mode, content.size, content.digest()
