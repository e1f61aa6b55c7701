"""Calls that open files, and make them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from resumeproof.crash.syscalls import arguments
from resumeproof.crash.syscalls.contents import SYNCHRONOUS, truncated
from resumeproof.crash.syscalls.descriptors import Description, Slot
from resumeproof.crash.syscalls.history import Step
from resumeproof.crash.syscalls.operations import Create
from resumeproof.crash.syscalls.places import Place

_MAGIC: Final = ("/proc/", "/dev/fd/", "/dev/std")


def open_file(step: Step) -> None:
    match step.call.name:
        case "creat":
            folder, path, mode = None, 0, step.argument(1)
            flags = frozenset({"O_WRONLY", "O_CREAT", "O_TRUNC"})
        case "open":
            folder, path, flags, mode = None, 0, step.flags(1), step.argument(2)
        case "openat2":
            folder, path, mode = 0, 1, arguments.field(step.argument(2), "mode")
            flags = arguments.flags(arguments.field(step.argument(2), "flags"))
        case _:
            folder, path, flags, mode = 0, 1, step.flags(2), step.argument(3)
    description = _opened(step, folder, path, flags, mode)
    description.appends = "O_APPEND" in flags
    description.synchronous = bool(flags & SYNCHRONOUS)
    step.tracee.slots[step.returned] = Slot(description, "O_CLOEXEC" in flags)


def _opened(
    step: Step, folder: int | None, path: int, flags: frozenset[str], mode: str
) -> Description:
    said = arguments.descriptor(step.call.result or "")
    named = said.refers_to if said is not None else None
    asked = arguments.path(step.argument(path)) or ""
    if "O_TMPFILE" in flags:
        return _nameless(step, folder, path, mode)
    follow = "O_NOFOLLOW" not in flags and not {"O_CREAT", "O_EXCL"} <= flags
    place = None if asked.startswith(_MAGIC) else step.place(folder, path, follow=follow)
    if place is None or (isinstance(place.folder, str) and named is not None):
        # Magic links, and whatever we cannot follow: the kernel has.
        description = step.history.described(named or "")
        description.offset = 0
        if description.outside is not None and flags & {"O_CREAT", "O_TRUNC"}:
            step.history.wrote_outside(description.outside)
        if description.number is not None and "O_TRUNC" in flags:
            truncated(step, description.number, 0)
        return description
    number = step.places.number_at(place)
    if number is None:
        return _created(step, place, mode) if "O_CREAT" in flags else Description(offset=None)
    if "O_TRUNC" in flags and not step.places.tree.nodes[number].is_directory:
        truncated(step, number, 0)
    return Description(number=number)


def _created(step: Step, place: Place, mode: str) -> Description:
    path = step.places.path_at(place)
    if path is None:
        return Description(outside=step.places.outside_path(place))
    inode = step.history.new_inode()
    bits = arguments.permissions(mode) & ~step.tracee.surroundings.mask
    step.did(Create(inode, path, bits), path)
    return Description(number=inode)


def _nameless(step: Step, folder: int | None, path: int, mode: str) -> Description:
    place = step.place(folder, path)
    if place is None or isinstance(place.folder, str):
        return Description()
    inode = step.history.new_inode()
    step.history.linkable.add(inode)
    bits = arguments.permissions(mode) & ~step.tracee.surroundings.mask
    step.did(Create(inode, None, bits), step.places.path_at(place))
    return Description(number=inode)


def make_node(step: Step) -> None:
    folder, path = (0, 1) if step.call.name == "mknodat" else (None, 0)
    place = step.place(folder, path, follow=False)
    if place is None:
        return
    inside = step.places.path_at(place)
    kind = step.argument(path + 1)
    if inside is None:
        if isinstance(place.folder, str):
            step.history.wrote_outside(step.places.outside_path(place))
    elif kind.startswith("S_IF") and not kind.startswith("S_IFREG"):
        step.history.uncovered(f"a special file: {inside}")
    else:
        _created(step, place, kind)


OPENING: Final[dict[str, Callable[[Step], None]]] = {
    "open": open_file,
    "openat": open_file,
    "openat2": open_file,
    "creat": open_file,
    "mknod": make_node,
    "mknodat": make_node,
}
"""What each of these calls means, by its name."""
