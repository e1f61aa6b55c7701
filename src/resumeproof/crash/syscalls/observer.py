"""Watches a run, and tells what it has seen of the directory that it found.

What is not sure to be unseen counts as seen. A run that goes by what it read, and reads the same,
does the same; so the states that agree in what was seen need no runs of their own. The idea is that
of lazy exploration: Gorjiara, Xu and Demsky, "Jaaru: Efficiently Model Checking Persistent Memory
Programs" (2021).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Set
from pathlib import Path
from typing import Final

from resumeproof.crash.syscalls import operations as op
from resumeproof.crash.syscalls.descriptors import Description, Surroundings
from resumeproof.crash.syscalls.history import History, Step
from resumeproof.crash.syscalls.interpret import KNOWN_CALLS, interpret
from resumeproof.crash.syscalls.observation import (
    Observation,
    SawBytes,
    SawName,
    SawNames,
    SawSize,
    Sight,
    Span,
    Spans,
)
from resumeproof.crash.syscalls.parse import read_births, read_events
from resumeproof.crash.syscalls.places import Folder, Places
from resumeproof.crash.syscalls.tree import ROOT, Tree
from resumeproof.crash.syscalls.turns import PATHS

_END: Final = sys.maxsize


class WatchedPlaces(Places):
    """Notes each name that somebody looks up in the tree."""

    def __init__(self, root: str, tree: Tree, sights: dict[Sight, None]) -> None:
        super().__init__(root, tree)
        self._sights = sights

    def _link_at(self, here: Folder, name: str) -> str | None:
        if isinstance(here, int):
            self._sights.setdefault(SawName((here, name)))
        return super()._link_at(here, name)

    def _above(self, here: Folder) -> Folder | None:
        above = super()._above(here)
        if isinstance(here, int) and here != ROOT:
            for name in self._entries.get(here, ()):
                self._sights.setdefault(SawName(name))
        return above


class Observer:
    """Gathers what a run sees. `varied` are the numbers of the files of which that matters."""

    def __init__(self, root: Path, tree: Tree, varied: Set[int]) -> None:
        self._sights: dict[Sight, None] = {}
        self._varied = varied
        self._read: dict[int, Spans] = {}
        self._written: dict[int, Spans] = {}
        self._sized: set[int] = set()
        self._asked: set[str] = set()
        self._taken_up = 0
        self.history = History(
            places=WatchedPlaces(str(root), tree.clone(), self._sights),
            domains=("",),
            next_inode=max(tree.nodes, default=0) + 1,
        )

    def look(self, step: Step) -> None:
        """Take up a call that has ended, failed or not, before what it changed."""
        for call in self.history.calls[self._taken_up :]:
            self._changed(call.operation)
            self._asked.clear()
        self._taken_up = len(self.history.calls)
        name = step.call.name
        if name in _ASKING:
            # Many programs ask the same again and again.
            if step.call.arguments in self._asked:
                return
            self._asked.add(step.call.arguments)
        for folder, path in _PATHS.get(name, ()):
            step.place(folder, path)
        sees = _SEES.get(name)
        if sees is not None and step.call.returned is not None:
            sees(self, step)

    def observation(self) -> Observation:
        """All that was seen."""
        return Observation(tuple(self._sights), opaque=bool(self.history.not_covered))

    def _changed(self, operation: op.Operation) -> None:
        match operation:
            case op.Write(number, _, offset, data):
                self._overwritten(number, (offset, offset + len(data)))
            case op.Truncate(number, _, size):
                self._overwritten(number, (size, _END))
                self._sized.add(number)
            case op.Allocate(number, _, offset, length, _, True):
                self._overwritten(number, (offset, offset + length))
            case _:
                pass

    def _overwritten(self, number: int, span: Span) -> None:
        if number in self._varied:
            self._written.setdefault(number, Spans()).add(span)

    def bytes_of(self, step: Step, description: Description, span: Span) -> None:
        """Bytes of a file were read."""
        number = description.number
        if number is None or number not in self._varied or span[0] >= span[1]:
            return
        # While a read is under way, nobody knows whether a write came first.
        written = Spans() if step.call.overlapped else self._written.get(number, Spans())
        read = self._read.setdefault(number, Spans())
        for own in written.missing(span):
            for new in list(read.missing(own)):
                read.add(new)
                self._sights.setdefault(SawBytes(number, new))

    def size_of(self, number: int | None) -> None:
        """A file's size was asked for, or its end was come to."""
        if number is not None and number in self._varied and number not in self._sized:
            self._sights.setdefault(SawSize(number))

    def all_of(self, step: Step, description: Description) -> None:
        """A file was read whole, for all that is known."""
        number = description.number
        content = None if number is None else step.places.tree.nodes[number].content
        if content is not None:
            self.size_of(number)
            self.bytes_of(step, description, (0, content.size))

    def listed(self, description: Description) -> None:
        """A directory's entries were read."""
        if description.number is not None:
            self._sights.setdefault(SawNames(description.number))


def observation_of(
    trace: Path, root: Path, tree: Tree, varied: Set[int], surroundings: Surroundings
) -> Observation:
    """What a run saw that is over, by its trace. `tree` is what it found at `root`."""
    observer = Observer(root, tree, varied)
    with open(trace, encoding="ascii", errors="replace") as lines:
        births = read_births(lines)
        lines.seek(0)
        events = read_events(lines)
        interpret(
            events, births, observer.history, surroundings, printing=False, look=observer.look
        )
    return observer.observation()


# -- what each call sees -----------------------------------------------------------------------


def _read(observer: Observer, step: Step) -> None:
    description = step.description(0)
    wanted = step.integer(2) if step.call.name == "read" else None
    _read_from(observer, step, description.offset, wanted)


def _read_at(observer: Observer, step: Step) -> None:
    _read_from(observer, step, step.integer(3), step.integer(2))


def _read_from(observer: Observer, step: Step, start: int | None, wanted: int | None) -> None:
    description = step.description(0)
    if start is None:
        observer.all_of(step, description)
        return
    observer.bytes_of(step, description, (start, start + step.returned))
    if wanted is None or step.returned < wanted:
        observer.size_of(description.number)


def _read_all(observer: Observer, step: Step) -> None:
    observer.all_of(step, step.description(0))


def _read_second(observer: Observer, step: Step) -> None:
    observer.all_of(step, step.description(1))


def _map(observer: Observer, step: Step) -> None:
    observer.all_of(step, step.description(4))


def _clone(observer: Observer, step: Step) -> None:
    if "CLONE" in step.argument(1):
        observer.all_of(step, step.description(2))


def _execute(observer: Observer, step: Step) -> None:
    place = step.place(*_PATHS[step.call.name][0])
    number = None if place is None else step.places.number_at(place)
    observer.all_of(step, Description(number=number))


def _seek(observer: Observer, step: Step) -> None:
    match step.argument(2):
        case "SEEK_SET" | "SEEK_CUR":
            pass
        case "SEEK_END":
            observer.size_of(step.description(0).number)
        case _:
            observer.all_of(step, step.description(0))


def _stat_opened(observer: Observer, step: Step) -> None:
    observer.size_of(step.description(0).number)


def _stat(observer: Observer, step: Step) -> None:
    folder, path = _PATHS[step.call.name][0]
    if folder is not None and step.argument(path) in ('""', "NULL"):
        _stat_opened(observer, step)
        return
    for follow in (True, False):
        place = step.place(folder, path, follow=follow)
        observer.size_of(None if place is None else step.places.number_at(place))


def _list(observer: Observer, step: Step) -> None:
    observer.listed(step.description(0))


def _append(observer: Observer, step: Step) -> None:
    description = step.description(0)
    if description.appends or "RWF_APPEND" in step.call.arguments:
        observer.size_of(description.number)


_SEES: Final[dict[str, Callable[[Observer, Step], None]]] = {
    "read": _read,
    "readv": _read,
    "pread64": _read_at,
    "preadv": _read_all,
    "preadv2": _read_all,
    "copy_file_range": _read_all,
    "splice": _read_all,
    "sendfile": _read_second,
    "mmap": _map,
    "ioctl": _clone,
    "execve": _execute,
    "execveat": _execute,
    "lseek": _seek,
    "fstat": _stat_opened,
    "stat": _stat,
    "lstat": _stat,
    "newfstatat": _stat,
    "statx": _stat,
    "getdents": _list,
    "getdents64": _list,
    "write": _append,
    "writev": _append,
    "pwrite64": _append,
    "pwritev": _append,
    "pwritev2": _append,
}

_ASKING: Final = frozenset({"stat", "lstat", "newfstatat", "statx"})

_FIRST: Final = ((None, 0),)
_AT: Final = ((0, 1),)
_PATHS: Final = PATHS | {
    **dict.fromkeys(("stat", "lstat", "access", "readlink", "chdir", "execve"), _FIRST),
    **dict.fromkeys(("truncate", "chmod", "chown", "lchown", "utime", "utimes"), _FIRST),
    **dict.fromkeys(("newfstatat", "statx", "faccessat", "faccessat2", "readlinkat"), _AT),
    **dict.fromkeys(("execveat", "fchmodat", "fchmodat2", "fchownat", "utimensat"), _AT),
}
"""Where the paths of a call stand: the directory's argument, if there is one, and the path's."""

WATCHED_CALLS: Final = KNOWN_CALLS | _SEES.keys() | _PATHS.keys()
"""The names of all calls that mean anything here."""
