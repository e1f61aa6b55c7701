"""Calls that change names."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from resumeproof.crash.syscalls import arguments
from resumeproof.crash.syscalls.history import Step
from resumeproof.crash.syscalls.operations import (
    Link,
    MakeDirectory,
    Operation,
    RemoveDirectory,
    Rename,
    SymbolicLink,
    Unlink,
)
from resumeproof.crash.syscalls.places import Place

_At = tuple[int | None, int]
"""Which arguments say where: the descriptor of a directory, if any, and the path."""

_OPENED: Final = re.compile(r"(?:/proc/self/fd|/dev/fd)/(\d+)")


def _recorded(step: Step, place: Place | None, of: Callable[[str], Operation]) -> None:
    """Record what happened to a place; outside of the directory only that something did."""
    if place is None:
        return
    path = step.places.path_at(place)
    if path is not None:
        step.did(of(path), path)
    elif isinstance(place.folder, str):
        step.history.wrote_outside(step.places.outside_path(place))


def _taken_away(step: Step, place: Place | None, of: Callable[[str], Operation]) -> None:
    """The same for a name that goes away; a special file's is in no recording."""
    inside = place is not None and isinstance(place.folder, int)
    if place is None or not inside or step.places.number_at(place) is not None:
        _recorded(step, place, of)


def rename(step: Step) -> None:
    source_at: _At = (None, 0)
    target_at: _At = (None, 1)
    flags = frozenset[str]()
    if step.call.name != "rename":
        source_at, target_at, flags = (0, 1), (2, 3), step.flags(4)
    source = step.place(*source_at, follow=False)
    target = step.place(*target_at, follow=False)
    if source is None or target is None:
        return
    came, went = step.places.path_at(source), step.places.path_at(target)
    for place in (source, target):
        if isinstance(place.folder, str):
            step.history.wrote_outside(step.places.outside_path(place))
    if "RENAME_WHITEOUT" in flags:
        step.history.uncovered(f"a rename of {came} that leaves a whiteout")
    elif came is None and went is None:
        return
    elif "RENAME_EXCHANGE" in flags:
        if came is None or went is None:
            step.history.uncovered(f"an exchange of {came or went} with what was outside")
        else:
            step.did(Rename(came, went, exchanges=True), went)
    elif came is None:
        _arrived(step, target, went)
    elif step.places.number_at(source) is not None:
        step.did(Rename(came, went), came if went is None else went)


def _arrived(step: Step, target: Place, path: str | None) -> None:
    """What came in from outside has to be read from what is there at the end."""
    assert path is not None
    inode = step.history.new_inode()
    step.history.borrowed.append(len(step.history.calls))
    step.did(Rename(None, path, inode=inode, arrived=b""), path)


def link(step: Step) -> None:
    source_at: _At = (None, 0)
    target_at: _At = (None, 1)
    flags = frozenset[str]()
    if step.call.name == "linkat":
        source_at, target_at, flags = (0, 1), (2, 3), step.flags(4)
    target = step.place(*target_at, follow=False)
    number = _linked(step, source_at, flags)
    if target is None:
        return
    path = step.places.path_at(target)
    if number is None and path is not None:
        step.history.uncovered(f"a hard link of {path} to a file outside")
    elif number is not None and isinstance(target.folder, str):
        step.history.uncovered(
            f"a hard link of {step.places.path_of(number)} outside of the directory"
        )
    elif number is not None:
        _recorded(step, target, lambda path: Link(number, path))


def _linked(step: Step, at: _At, flags: frozenset[str]) -> int | None:
    folder, path = at
    named = arguments.path(step.argument(path)) or ""
    if not named and folder is not None:
        return step.description(folder).number
    opened = _OPENED.fullmatch(named)
    if opened is not None:
        slot = step.tracee.slots.get(int(opened[1]))
        return None if slot is None else slot.description.number
    place = step.place(folder, path, follow="AT_SYMLINK_FOLLOW" in flags)
    return None if place is None else step.places.number_at(place)


def symbolic_link(step: Step) -> None:
    points_to = arguments.path(step.argument(0)) or ""
    at: _At = (1, 2) if step.call.name == "symlinkat" else (None, 1)
    place = step.place(*at, follow=False)
    _recorded(step, place, lambda path: SymbolicLink(path, points_to))


def unlink(step: Step) -> None:
    at: _At = (0, 1) if step.call.name == "unlinkat" else (None, 0)
    place = step.place(*at, follow=False)
    removes = "AT_REMOVEDIR" in step.flags(2) or step.call.name == "rmdir"
    _taken_away(step, place, RemoveDirectory if removes else Unlink)


def make_directory(step: Step) -> None:
    folder, path = (0, 1) if step.call.name == "mkdirat" else (None, 0)
    mode = arguments.permissions(step.argument(path + 1)) & 0o1777
    bits = mode & ~step.tracee.surroundings.mask
    place = step.place(folder, path, follow=False)
    _recorded(step, place, lambda path: MakeDirectory(path, bits))


NAMES: Final[dict[str, Callable[[Step], None]]] = {
    "rename": rename,
    "renameat": rename,
    "renameat2": rename,
    "link": link,
    "linkat": link,
    "symlink": symbolic_link,
    "symlinkat": symbolic_link,
    "unlink": unlink,
    "unlinkat": unlink,
    "rmdir": unlink,
    "mkdir": make_directory,
    "mkdirat": make_directory,
}
"""What each of these calls means, by its name."""
