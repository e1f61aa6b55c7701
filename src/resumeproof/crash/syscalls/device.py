"""The device model: what a disk may have kept when its power went. Named in every report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from resumeproof.crash.syscalls.file import PAGE_BYTES


@dataclass(frozen=True, slots=True)
class DeviceModel:
    """`rules` say in words what pending.py, cut.py and power.py do, with the same figures."""

    name: str
    sector_bytes: int
    page_bytes: int
    shared_memory: str
    rules: tuple[str, ...]


_SECTOR_BYTES: Final = 512
_SHARED_MEMORY: Final = "-shm"

POSIX: Final = DeviceModel(
    name="posix",
    sector_bytes=_SECTOR_BYTES,
    page_bytes=PAGE_BYTES,
    shared_memory=_SHARED_MEMORY,
    rules=(
        (
            "Nothing is promised but what fsync(2), fdatasync(2), sync(2), syncfs(2), O_SYNC and "
            "O_DSYNC promise; whatever else was done since may be on the disk or not, in any order."
        ),
        (
            f"A sector of {_SECTOR_BYTES} bytes is written whole, and holds what the file held "
            "there after one of the writes to it: a later write brings the earlier ones along."
        ),
        (
            f"At most one write is torn: its head or its tail is kept, up to a boundary of "
            f"{PAGE_BYTES} or {_SECTOR_BYTES} bytes of the file."
        ),
        (
            "A file's size is metadata: a file can have been extended without its data, and reads "
            "zeros there; a truncation is kept or lost apart from the writes after it."
        ),
        (
            "fsync and fdatasync of a file keep its bytes and its size, fsync its permissions too; "
            "neither keeps its name (ext4, XFS and btrfs often keep that of a new file as well)."
        ),
        (
            "A name is on the disk once its directory was synced. Changes of names come in any "
            "order, also in one directory, except that changes of the same name keep theirs."
        ),
        (
            "A rename is atomic, also between directories, and is kept by a sync of either. "
            "It says nothing about the bytes of the file that it renames."
        ),
        (
            "A write by O_SYNC or O_DSYNC is kept when it returns, with the truncations before it; "
            "until then it may be kept, lost or torn."
        ),
        "sync_file_range promises nothing: it flushes neither metadata nor the disk's cache.",
        "A file renamed into the directory from outside arrives with its bytes on the disk.",
        (
            f"What a file named *{_SHARED_MEMORY} holds is not varied: it is the shared memory of "
            "SQLite, made anew by whoever opens the database first after a power cut."
        ),
    ),
)
