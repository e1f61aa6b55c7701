"""What a durable system call did to a directory: the words that a recording is written in.

Paths are relative to the recorded directory, with `/` between names; `""` is the directory itself.
Bytes that are no UTF-8 are kept as lone surrogates (`os.fsdecode`). A file is told by a number of
its own, its inode, since it may be renamed, linked or unlinked while it is written to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Create:
    """A new, empty regular file at a name where there was none.

    `path` None: a file without a name (O_TMPFILE), which a `Link` may give one later.
    """

    inode: int
    path: str | None
    mode: int


@dataclass(frozen=True, slots=True)
class Write:
    """Bytes put into a file. `synchronous`: O_SYNC or O_DSYNC, on the disk at its return."""

    inode: int
    path: str
    offset: int
    data: bytes
    synchronous: bool = False


@dataclass(frozen=True, slots=True)
class Truncate:
    """A file cut, or extended with zeros, to `size` bytes; by ftruncate or by O_TRUNC."""

    inode: int
    path: str
    size: int


@dataclass(frozen=True, slots=True)
class Allocate:
    """A range filled with zeros by fallocate(2).

    `keeps_size`: the file does not grow. `zeroes`: what was in the range is gone (a punched hole,
    FALLOC_FL_ZERO_RANGE); otherwise only what lies behind the file's end is new.
    """

    inode: int
    path: str
    offset: int
    length: int
    keeps_size: bool = False
    zeroes: bool = False


@dataclass(frozen=True, slots=True)
class Rename:
    """A name moved, and what was at the target replaced; or both exchanged.

    A side that lies outside of the directory is None: what comes in from there is `arrived`, the
    bytes of a regular file, under `inode`.
    """

    source: str | None
    target: str | None
    exchanges: bool = False
    inode: int | None = None
    arrived: bytes | None = None
    mode: int = 0o644


@dataclass(frozen=True, slots=True)
class Link:
    """A second name for a file."""

    inode: int
    path: str


@dataclass(frozen=True, slots=True)
class SymbolicLink:
    """A symbolic link, and where it points to."""

    path: str
    points_to: str


@dataclass(frozen=True, slots=True)
class Unlink:
    """A name taken away."""

    path: str


@dataclass(frozen=True, slots=True)
class MakeDirectory:
    """A new, empty directory."""

    path: str
    mode: int


@dataclass(frozen=True, slots=True)
class RemoveDirectory:
    """An empty directory taken away."""

    path: str


@dataclass(frozen=True, slots=True)
class ChangeMode:
    """Permission bits. `inode` is a regular file's number, None for a directory."""

    path: str
    mode: int
    inode: int | None = None


@dataclass(frozen=True, slots=True)
class Sync:
    """fsync or fdatasync of a file: what it holds is on the disk when the call returns."""

    inode: int
    path: str
    data_only: bool = False


@dataclass(frozen=True, slots=True)
class SyncRange:
    """sync_file_range: no promise at all about metadata, so about what lies behind the old end."""

    inode: int
    path: str
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class SyncDirectory:
    """fsync of a directory: its names are on the disk when the call returns."""

    path: str


@dataclass(frozen=True, slots=True)
class SyncAll:
    """sync or syncfs: everything is on the disk when the call returns."""


@dataclass(frozen=True, slots=True)
class Print:
    """Bytes written to the standard output: whoever read them takes them for a promise."""

    data: bytes


Operation = (
    Create
    | Write
    | Truncate
    | Allocate
    | Rename
    | Link
    | SymbolicLink
    | Unlink
    | MakeDirectory
    | RemoveDirectory
    | ChangeMode
    | Sync
    | SyncRange
    | SyncDirectory
    | SyncAll
    | Print
)


@dataclass(frozen=True, slots=True)
class Call:
    """One durable system call. `ordinal` counts those of all processes, from 1.

    `process` is an index into the recording's processes; `occurrence` counts the calls of this
    `name` in that process, those that touched nothing durable included (as strace's `when=` does).
    `domain` is an index into the recording's failure domains. `source`
    is the line of the program that called, where it is known.
    """

    ordinal: int
    process: int
    name: str
    occurrence: int
    operation: Operation
    domain: int = 0
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """A call that keeps its place among the others when the program is run again.

    Besides the durable calls, whose `ordinal` it has, these are such as may end otherwise in
    another order: those that open a file or take a lock, and those that `failed`.
    """

    process: int
    name: str
    occurrence: int
    ordinal: int | None = None
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Process:
    """A process or a thread of the recorded tree: whatever makes its calls one after another.

    `parent` is an index, None for the first; siblings stand in the order of their birth.
    """

    pid: int
    parent: int | None
    command_line: tuple[str, ...]
    thread: bool = False


@dataclass(frozen=True)
class Recording:
    """One run of a program without a crash.

    `initial_inodes` numbers the files that were there from the start, by path; two paths with one
    number are hard links. `domains` are the roots of the failure domains, relative to the recorded
    directory; the first, `""`, is the directory itself. `not_covered` says what the program did
    that a recording cannot hold, such as a writable shared mapping; `outside` which paths outside
    of the directory it wrote to. `turns` are the calls whose order counts, and `numbers` what this
    machine's kernel calls them. `left_running` are the command lines of processes that outlived the
    first.
    """

    calls: Sequence[Call]
    processes: Sequence[Process]
    initial_inodes: dict[str, int]
    returncode: int
    domains: Sequence[str] = ("",)
    not_covered: Sequence[str] = field(default_factory=tuple)
    outside: Sequence[str] = field(default_factory=tuple)
    turns: Sequence[Turn] = field(default_factory=tuple)
    numbers: dict[str, int] = field(default_factory=dict)
    left_running: Sequence[str] = field(default_factory=tuple)
