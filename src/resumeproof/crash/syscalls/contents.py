"""Calls that change or sync what is in a file."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Final

from resumeproof.crash.syscalls import arguments
from resumeproof.crash.syscalls.descriptors import Description
from resumeproof.crash.syscalls.history import Step
from resumeproof.crash.syscalls.operations import (
    Allocate,
    Print,
    Sync,
    SyncAll,
    SyncDirectory,
    SyncRange,
    Truncate,
    Write,
)

SYNCHRONOUS: Final = frozenset({"O_SYNC", "O_DSYNC", "RWF_SYNC", "RWF_DSYNC"})


# -- writing -----------------------------------------------------------------------------------


def write(step: Step) -> None:
    _wrote(step, 0, arguments.data(step.argument(1)), None)


def write_vector(step: Step) -> None:
    _wrote(step, 0, arguments.vector(step.argument(1)), None)


def write_at(step: Step) -> None:
    _wrote(step, 0, arguments.data(step.argument(1)), step.integer(3))


def write_vector_at(step: Step) -> None:
    flags = step.flags(4)
    offset = step.integer(3)
    _wrote(
        step,
        0,
        arguments.vector(step.argument(1)),
        None if offset == -1 else offset,
        appends="RWF_APPEND" in flags,
        synchronous=bool(flags & SYNCHRONOUS),
    )


def _wrote(
    step: Step,
    position: int,
    data: bytes | None,
    offset: int | None,
    *,
    appends: bool = False,
    synchronous: bool = False,
) -> None:
    """Take up that `step.returned` bytes went to a descriptor; `offset` None: to its own."""
    description, length = step.description(position), step.returned
    if length == 0:
        return
    if description.stdout:
        if data is None:
            step.history.uncovered(f"what {step.call.name} put into the standard output")
        else:
            step.did(Print(data[:length]), None)
        return
    if description.number is None:
        step.history.wrote_outside(description.outside)
        return
    content = step.places.tree.nodes[description.number].content
    if content is None:
        return
    start = offset if offset is not None else description.offset
    if description.appends or appends:
        start = content.size
    if start is None:
        path = step.places.path_of(description.number)
        step.history.uncovered(f"a write to {path} through a descriptor of unknown offset")
        return
    if offset is None:
        description.offset = start + length
    if data is None:
        step.history.borrowed.append(len(step.history.calls))
    written = bytes(length) if data is None else data[:length]
    path = step.places.path_of(description.number) or ""
    step.did_to_file(
        description.number,
        Write(description.number, path, start, written, description.synchronous or synchronous),
    )


# -- copying within the kernel -----------------------------------------------------------------


def copy_range(step: Step) -> None:
    """copy_file_range(2) and splice(2): from argument 0 at 1 to argument 2 at 3."""
    data = _taken(step, 0, 1)
    _wrote(step, 2, data, step.integer(3))


def send_file(step: Step) -> None:
    """sendfile(2): from argument 1 at 2 to argument 0."""
    data = _taken(step, 1, 2)
    _wrote(step, 0, data, None)


def clone_range(step: Step, source: Description) -> None:
    """The ioctl FICLONE: all of the source becomes the file's content."""
    target = step.description(0)
    content = _content_of(step, source)
    if target.number is None:
        step.history.wrote_outside(target.outside)
    elif content is None:
        step.history.uncovered(
            f"a clone of an unknown file to {step.places.path_of(target.number)}"
        )
    elif content:
        path = step.places.path_of(target.number) or ""
        step.did_to_file(target.number, Write(target.number, path, 0, content))


def _taken(step: Step, position: int, offset_position: int) -> bytes | None:
    """The bytes that a call took from a descriptor; None where nothing shows them."""
    source, length = step.description(position), step.returned
    explicit = step.integer(offset_position)
    start = source.offset if explicit is None else explicit
    if explicit is None and source.offset is not None:
        source.offset += length
    content = _content_of(step, source)
    if content is None or start is None or len(content) < start + length:
        return None
    return content[start : start + length]


def _content_of(step: Step, source: Description) -> bytes | None:
    if source.number is not None:
        content = step.places.tree.nodes[source.number].content
        return None if content is None else content.read(0, content.size)
    path = source.outside
    if path is None or path in step.history.outside or not os.path.isfile(path):  # noqa: PTH113
        return None
    with open(path, "rb") as file:
        return file.read()


# -- size, space and syncs ---------------------------------------------------------------------


def truncate(step: Step) -> None:
    size = step.integer(1)
    place = step.place(None, 0)
    if place is None or size is None:
        return
    number = step.places.number_at(place)
    if number is not None:
        truncated(step, number, size)
    elif isinstance(place.folder, str):
        step.history.wrote_outside(step.places.outside_path(place))


def truncate_opened(step: Step) -> None:
    description, size = step.description(0), step.integer(1)
    if description.number is not None and size is not None:
        truncated(step, description.number, size)
    else:
        step.history.wrote_outside(description.outside)


def truncated(step: Step, number: int, size: int) -> None:
    path = step.places.path_of(number) or ""
    step.did_to_file(number, Truncate(number, path, size))


def allocate(step: Step) -> None:
    description, flags = step.description(0), step.flags(1)
    offset, length = step.integer(2), step.integer(3)
    if description.number is None or offset is None or length is None:
        step.history.wrote_outside(description.outside)
        return
    path = step.places.path_of(description.number) or ""
    if flags & {"FALLOC_FL_COLLAPSE_RANGE", "FALLOC_FL_INSERT_RANGE"}:
        step.history.uncovered(f"a range of {path} taken out or put in by fallocate")
        return
    zeroes = bool(flags & {"FALLOC_FL_PUNCH_HOLE", "FALLOC_FL_ZERO_RANGE"})
    keeps_size = "FALLOC_FL_KEEP_SIZE" in flags
    step.did_to_file(
        description.number,
        Allocate(description.number, path, offset, length, keeps_size, zeroes),
    )


def sync_file(step: Step) -> None:
    number = step.description(0).number
    if number is None:
        return
    path = step.places.path_of(number) or ""
    if step.places.tree.nodes[number].is_directory:
        step.did(SyncDirectory(path), path)
    else:
        step.did_to_file(number, Sync(number, path, step.call.name == "fdatasync"))


def sync_range(step: Step) -> None:
    """Only what waits for the writing to end says anything, sync_file_range(2)."""
    number, flags = step.description(0).number, step.flags(3)
    offset, length = step.integer(1), step.integer(2)
    waits = {"SYNC_FILE_RANGE_WRITE", "SYNC_FILE_RANGE_WAIT_AFTER"} <= flags
    if number is None or offset is None or length is None or not waits:
        return
    content = step.places.tree.nodes[number].content
    if content is not None:
        path = step.places.path_of(number) or ""
        # A length of 0 means up to the end.
        reach = length or max(content.size - offset, 0)
        step.did_to_file(number, SyncRange(number, path, offset, reach))


def sync_all(step: Step) -> None:
    if step.call.name == "sync" or step.description(0).number is not None:
        step.did(SyncAll(), None)


def seek(step: Step) -> None:
    step.description(0).offset = step.returned


def read(step: Step) -> None:
    description = step.description(0)
    if description.offset is not None:
        description.offset += step.returned


def map_memory(step: Step) -> None:
    """A shared mapping is written to without any call. SQLite rebuilds what its `-shm` held."""
    if "PROT_WRITE" not in step.flags(2) or not {"MAP_SHARED", "MAP_SHARED_VALIDATE"} & step.flags(
        3
    ):
        return
    description = step.description(4)
    if description.number is None:
        return
    path = step.places.path_of(description.number)
    if path is not None and not path.endswith("-shm"):
        step.history.uncovered(f"a writable shared mapping of {path}")


CONTENTS: Final[dict[str, Callable[[Step], None]]] = {
    "write": write,
    "writev": write_vector,
    "pwrite64": write_at,
    "pwritev": write_vector_at,
    "pwritev2": write_vector_at,
    "copy_file_range": copy_range,
    "splice": copy_range,
    "sendfile": send_file,
    "truncate": truncate,
    "ftruncate": truncate_opened,
    "fallocate": allocate,
    "fsync": sync_file,
    "fdatasync": sync_file,
    "sync_file_range": sync_range,
    "syncfs": sync_all,
    "sync": sync_all,
    "lseek": seek,
    "read": read,
    "readv": read,
    "mmap": map_memory,
}
"""What each of these calls means, by its name."""
