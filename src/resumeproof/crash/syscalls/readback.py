"""Holds a recording against what the program left behind, and takes from there what none showed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from resumeproof.crash.syscalls.copying import number_files
from resumeproof.crash.syscalls.history import History
from resumeproof.crash.syscalls.operations import (
    Allocate,
    Call,
    Operation,
    Rename,
    Truncate,
    Write,
)
from resumeproof.crash.syscalls.tree import Tree

_REBUILT_BY_SQLITE: Final = "-shm"


def fill_in(history: History, directory: Path) -> None:
    """Put in the bytes that no line of the trace showed, out of the files as they are at the end.

    Where a later call has changed them since, nobody knows them.
    """
    for index in history.borrowed:
        if index >= len(history.calls):
            continue
        call = history.calls[index]
        filled = _filled(history, index, directory)
        if filled is None:
            history.uncovered(f"the bytes that {call.name} brought to {_path(call.operation)}")
        else:
            history.calls[index] = replace(call, operation=filled)


def _path(operation: Operation) -> str | None:
    match operation:
        case Write(path=path) | Rename(target=path):
            return path
        case _:
            return None


def _filled(history: History, index: int, directory: Path) -> Operation | None:
    operation = history.calls[index].operation
    later = history.calls[index + 1 :]
    if isinstance(operation, Rename):
        assert operation.inode is not None
        place = history.places.path_of(operation.inode)
        if place is None or any(_changes(call, operation.inode, 0, None) for call in later):
            return None
        file = directory / place
        if not file.is_file():
            return None
        return replace(operation, arrived=file.read_bytes(), mode=file.stat().st_mode & 0o7777)
    assert isinstance(operation, Write)
    start, end = operation.offset, operation.offset + len(operation.data)
    place = history.places.path_of(operation.inode)
    if place is None or any(_changes(call, operation.inode, start, end) for call in later):
        return None
    with open(directory / place, "rb") as held:
        held.seek(start)
        data = held.read(end - start)
    return replace(operation, data=data) if len(data) == end - start else None


def _changes(call: Call, inode: int, start: int, end: int | None) -> bool:
    """Whether a call touches a range of a file."""
    match call.operation:
        case Write(number, _, offset, data):
            reach = offset + len(data)
        case Allocate(number, _, offset, length):
            reach = offset + length
        case Truncate(number, _, size):
            return number == inode and (end is None or size < end)
        case _:
            return False
    return number == inode and reach > start and (end is None or offset < end)


def differences(rebuilt: Tree, directory: Path) -> Iterator[str]:
    """The paths at which a rebuilt tree is not what is in the directory.

    What SQLite keeps in its shared memory is left out: it is rebuilt from the log.
    """
    real = Tree.read(directory, number_files(directory))
    ours, theirs = _described(rebuilt), _described(real)
    for path in sorted(ours.keys() | theirs.keys()):
        if ours.get(path) != theirs.get(path):
            yield path or "the directory itself"


def _described(tree: Tree) -> dict[str, tuple[int, bytes | None, str | None, str]]:
    first: dict[int, str] = {}
    described = {}
    for path, number, node in tree.walk():
        content = node.content
        apart = content is None or path.endswith(_REBUILT_BY_SQLITE)
        data = None if content is None or apart else content.digest()
        described[path] = (node.mode, data, node.points_to, first.setdefault(number, path))
    return described
