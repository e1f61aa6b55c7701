"""Calls that change permissions, and what else is known of a file besides its names and bytes."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from typing import Final

from resumeproof.crash.syscalls import arguments
from resumeproof.crash.syscalls.history import Step
from resumeproof.crash.syscalls.operations import ChangeMode

# linux/posix_acl.h, linux/posix_acl_xattr.h
_LIST_HEADER: Final = struct.Struct("<I")
_LIST_ENTRY: Final = struct.Struct("<HHI")
_LIST_VERSION: Final = 2
_SHIFTS: Final = {0x01: 6, 0x04: 3, 0x20: 0}  # ACL_USER_OBJ, ACL_GROUP_OBJ, ACL_OTHER


def change_mode(step: Step) -> None:
    folder, path = (None, 0) if step.call.name == "chmod" else (0, 1)
    follow = "AT_SYMLINK_NOFOLLOW" not in step.flags(3)
    place = step.place(folder, path, follow=follow)
    if place is None:
        return
    number = step.places.number_at(place)
    if number is not None:
        _changed(step, number, arguments.permissions(step.argument(path + 1)))
    elif isinstance(place.folder, str):
        step.history.wrote_outside(step.places.outside_path(place))


def change_mode_opened(step: Step) -> None:
    description = step.description(0)
    if description.number is None:
        step.history.wrote_outside(description.outside)
    else:
        _changed(step, description.number, arguments.permissions(step.argument(1)))


def _changed(step: Step, number: int, bits: int) -> None:
    path = step.places.path_of(number)
    if step.places.tree.nodes[number].is_directory:
        if path is not None:
            step.did(ChangeMode(path, bits), path)
    else:
        step.did_to_file(number, ChangeMode(path or "", bits, number))


_BY_DESCRIPTOR: Final = frozenset({"fsetxattr", "fremovexattr", "fchown"})


def change_owner(step: Step) -> None:
    """Owners are in no recording. Programs that run as root give away what is theirs already."""
    first = 2 if step.call.name == "fchownat" else 1
    wanted = step.integer(first), step.integer(first + 1)
    own = os.geteuid(), os.getegid()
    if any(id_ not in (-1, mine) for id_, mine in zip(wanted, own, strict=True)):
        _not_covered(step, _subject(step))


def set_attribute(step: Step) -> None:
    """Extended attributes are in no recording, but for a list that says what a mode can say.

    It is how `cp` and `sed -i` set a mode, acl(5).
    """
    number, value = _subject(step), arguments.data(step.argument(2))
    named = arguments.path(step.argument(1))
    mode = _mode_of_list(value) if named == "system.posix_acl_access" and value else None
    if mode is None or number is None:
        _not_covered(step, number)
    else:
        special = step.places.tree.nodes[number].mode & 0o7000
        _changed(step, number, special | mode)


def remove_attribute(step: Step) -> None:
    _not_covered(step, _subject(step))


def _mode_of_list(value: bytes) -> int | None:
    """The mode that an access control list stands for; None if it says more."""
    entries = value[_LIST_HEADER.size :]
    if len(entries) != len(_SHIFTS) * _LIST_ENTRY.size:
        return None
    if _LIST_HEADER.unpack_from(value) != (_LIST_VERSION,):
        return None
    found: dict[int, int] = {tag: bits for tag, bits, _ in _LIST_ENTRY.iter_unpack(entries)}
    if found.keys() != _SHIFTS.keys():
        return None
    return sum(bits << _SHIFTS[tag] for tag, bits in found.items())


def _subject(step: Step) -> int | None:
    """What the call is about, if it is in the directory."""
    if step.call.name in _BY_DESCRIPTOR:
        return step.description(0).number
    folder, path = (0, 1) if step.call.name == "fchownat" else (None, 0)
    place = step.place(folder, path, follow=not step.call.name.startswith("l"))
    return None if place is None else step.places.number_at(place)


def _not_covered(step: Step, number: int | None) -> None:
    path = None if number is None else step.places.path_of(number)
    if path is not None:
        step.history.uncovered(f"{step.call.name} of {path or 'the directory'}")


PERMISSIONS: Final[dict[str, Callable[[Step], None]]] = {
    "chmod": change_mode,
    "fchmodat": change_mode,
    "fchmodat2": change_mode,
    "fchmod": change_mode_opened,
    "setxattr": set_attribute,
    "lsetxattr": set_attribute,
    "fsetxattr": set_attribute,
    "removexattr": remove_attribute,
    "lremovexattr": remove_attribute,
    "fremovexattr": remove_attribute,
    "chown": change_owner,
    "lchown": change_owner,
    "fchown": change_owner,
    "fchownat": change_owner,
}
"""What each of these calls means, by its name."""
