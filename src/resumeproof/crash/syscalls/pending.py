"""What is on the disk, and what is pending: made by the program, and not yet promised by a sync.

`Disk` follows the calls of a recording and keeps two trees, the one that the program sees and the
one that surely is on the disk. Their difference is a sequence of pending changes, of which a power
cut keeps some. The rules are those of device.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeGuard

from resumeproof.crash.syscalls import operations as op
from resumeproof.crash.syscalls.device import POSIX
from resumeproof.crash.syscalls.file import FileBytes
from resumeproof.crash.syscalls.states import UNCHANGING
from resumeproof.crash.syscalls.tree import Name, Node, Tree


class LossKind(StrEnum):
    """What a power cut made of a pending change; the value is its letter in a plan."""

    GONE = "l"  # all of it is lost
    HOLLOW = "z"  # the file has its new size, and zeros instead of the data
    HEAD = "h"  # a write of which only what lies before `at` is kept
    TAIL = "t"  # a write of which only what lies behind `at` is kept


@dataclass(frozen=True, slots=True, order=True)
class Loss:
    """What was lost of one call. `at` is an offset in the file, for a torn write."""

    ordinal: int
    kind: LossKind = LossKind.GONE
    at: int = 0


@dataclass(frozen=True, slots=True)
class Pending:
    """A change that may be lost.

    `node` is the file whose bytes or permissions change, `names` the entries that do. `image` is
    what a write left in all sectors that it touches, from `start` on. `grows`: a write extended
    its file. `needs` are the pending changes (ordinals) without which this one is not on the disk
    either. `kept`: surely on the disk, and here only since an earlier change of the file is not.
    """

    call: op.Call
    node: int | None = None
    names: dict[Name, int | None] | None = None
    start: int = 0
    image: bytes = b""
    grows: bool = False
    needs: frozenset[int] = frozenset()
    kept: bool = False

    @property
    def ordinal(self) -> int:
        return self.call.ordinal

    @property
    def has_data(self) -> bool:
        """Whether it changes a file's bytes or its size."""
        return self.node is not None and not isinstance(self.call.operation, op.ChangeMode)

    @property
    def end(self) -> int:
        """Where a write ends."""
        write = self.call.operation
        assert isinstance(write, op.Write)
        return write.offset + len(write.data)

    def put(self, tree: Tree, loss: Loss | None, sizes: dict[int, int]) -> None:
        """Do to the tree what the disk kept of it; all of it, if there is no loss.

        `sizes` are those of the files put to so far; their sectors may reach behind that.
        """
        if loss is not None and loss.kind is LossKind.GONE:
            return
        operation = self.call.operation
        match operation:
            case op.Write(inode, path):
                content = tree.bytes_of(inode, path)
                sizes.setdefault(inode, content.size)
                self._put_write(content, loss, sizes)
            case op.Truncate(inode, path, size):
                tree.bytes_of(inode, path).resize(size)
                sizes[inode] = size
            case op.Allocate(inode, path):
                sizes.setdefault(inode, tree.bytes_of(inode, path).size)
                tree.apply(operation)
                if not operation.keeps_size:
                    sizes[inode] = max(sizes[inode], operation.offset + operation.length)
            case op.ChangeMode(_, mode):
                assert self.node is not None, "permissions are those of something"
                tree.nodes[self.node] = replace(tree.nodes[self.node], mode=mode)
            case _:
                tree.rename(self.names or {})

    def _put_write(self, content: FileBytes, loss: Loss | None, sizes: dict[int, int]) -> None:
        start, image, end = self.start, self.image, self.end
        if loss is not None and loss.kind is LossKind.HEAD:
            end, image = loss.at, image[: loss.at - start]
        elif loss is not None and loss.kind is LossKind.TAIL:
            start, image = loss.at, image[loss.at - start :]
        if loss is None or loss.kind is not LossKind.HOLLOW:
            content.write(start, image)
        assert self.node is not None, "a write is to a file"
        sizes[self.node] = max(sizes[self.node], end)


def put_all(tree: Tree, pending: Iterable[Pending], losses: Iterable[Loss] = ()) -> None:
    """Do to the tree what the disk kept of all of these."""
    lost = {loss.ordinal: loss for loss in losses}
    sizes: dict[int, int] = {}
    for one in pending:
        one.put(tree, lost.get(one.ordinal), sizes)
    for inode, size in sizes.items():
        # What the last sector holds behind the end stays unseen, whatever becomes of the file.
        tree.bytes_of(inode, "").resize(size)


def tears(one: Pending, every: int = POSIX.sector_bytes) -> list[Loss]:
    """Return how a change can be torn: a write, at the boundaries that lie inside of it."""
    write = one.call.operation
    if not isinstance(write, op.Write):
        return []
    first = (write.offset // every + 1) * every
    return [
        Loss(one.ordinal, kind, at)
        for at in range(first, write.offset + len(write.data), every)
        for kind in (LossKind.HEAD, LossKind.TAIL)
    ]


def is_synchronous(operation: op.Operation) -> TypeGuard[op.Write]:
    """Return whether it is a write that is on the disk when it returns."""
    return isinstance(operation, op.Write) and operation.synchronous and operation.data != b""


class Disk:
    """The program's view and the disk's, call by call. `loses` says which calls' disk has a cut.

    What the calls of other disks do is there at once: those keep their power.
    """

    def __init__(self, origin: Tree, loses: Callable[[op.Call], bool]) -> None:
        self.seen = origin.clone()
        self.kept = origin.clone()
        self.pending: list[Pending] = []
        self._loses = loses

    def make(self, call: op.Call) -> None:
        """Let the program make a call, which has not returned: it promises nothing yet."""
        if not isinstance(call.operation, (*UNCHANGING, op.Print)):
            self.pending += self._changes(call)

    def end(self, call: op.Call) -> None:
        """Let the call that was made last return."""
        settled = self.settled_by(call)
        if settled:
            self._settle(settled)
        elif is_synchronous(call.operation):
            self._keep(call.operation)

    def settled_by(self, call: op.Call) -> set[int]:
        """Return the ordinals of the pending changes that are kept once the call has returned."""
        if not self._loses(call) and not isinstance(call.operation, op.SyncAll):
            return {one.ordinal for one in self.pending[-1:] if one.ordinal == call.ordinal}
        match call.operation:
            case op.Sync(inode, _, data_only):
                chosen = [
                    one
                    for one in self.pending
                    if one.node == inode and (one.has_data or not data_only)
                ]
            case op.SyncDirectory(path):
                folder = self.seen.number(path)
                chosen = [
                    one
                    for one in self.pending
                    if one.node == folder or any(name[0] == folder for name in one.names or ())
                ]
            case op.SyncAll():
                one_disk = call.name == "syncfs"
                chosen = [
                    one for one in self.pending if not one_disk or one.call.domain == call.domain
                ]
            case _:
                chosen = []
        return self._with_needs(chosen)

    def _with_needs(self, chosen: Iterable[Pending]) -> set[int]:
        by_ordinal = {one.ordinal: one for one in self.pending}
        found: set[int] = set()
        waiting = [one.ordinal for one in chosen]
        while waiting:
            ordinal = waiting.pop()
            if ordinal not in found:
                found.add(ordinal)
                waiting += by_ordinal[ordinal].needs
        return found

    def _settle(self, ordinals: set[int]) -> None:
        put_all(self.kept, [one for one in self.pending if one.ordinal in ordinals])
        rest = [one for one in self.pending if one.ordinal not in ordinals]
        self.pending = [replace(one, needs=one.needs - ordinals) for one in rest]

    def _keep(self, write: op.Write) -> None:
        """After a synchronous write: it is on the disk, and so are the truncations before it."""
        changes = [one for one in self.pending if one.node == write.inode and one.has_data]
        last = changes[-1].ordinal
        kept = {
            one.ordinal
            for one in changes
            if one.kept or one.ordinal == last or not isinstance(one.call.operation, op.Write)
        }
        if len(kept) == len(changes):
            self._settle(kept)
            return
        # An earlier write may still be lost, and must not come over this one later.
        self.pending = [
            replace(one, kept=True) if one.ordinal in kept else one for one in self.pending
        ]

    def _changes(self, call: op.Call) -> list[Pending]:
        """Let the program see what the call did, and return it as a change, if it did anything."""
        operation = call.operation
        match operation:
            case op.Write(data=b""):
                return []
            case op.Write(inode, path, offset, data):
                before = self.seen.bytes_of(inode, path).size
                self.seen.apply(operation)
                content, sector = self.seen.bytes_of(inode, path), POSIX.sector_bytes
                start = offset // sector * sector
                stop = -(-(offset + len(data)) // sector) * sector
                image = content.read(start, stop - start).ljust(stop - start, b"\0")
                grows = offset + len(data) > before
                return [Pending(call, inode, start=start, image=image, grows=grows)]
            case op.Truncate(inode) | op.Allocate(inode):
                self.seen.apply(operation)
                return [Pending(call, inode)]
            case op.ChangeMode(path):
                number = self.seen.number(path)
                self.seen.apply(operation)
                return [Pending(call, number)]
            case _:
                names = self.seen.entries(operation)
                self._add_nodes(operation, names)
                self.seen.rename(names)
                return [Pending(call, names=names, needs=self._last_of(names))] if names else []

    def _add_nodes(self, operation: op.Operation, names: dict[Name, int | None]) -> None:
        """A new file, directory or link exists on the disk before its first name does."""
        numbers = [operation.inode] if isinstance(operation, op.Create) else names.values()
        for number in numbers:
            if number is not None and number not in self.kept.nodes:
                node = self.seen.nodes[number]
                content = None if node.content is None else FileBytes()
                if isinstance(operation, op.Rename) and node.content is not None:
                    content = node.content.copy()
                self.kept.nodes[number] = Node(node.mode, content, node.points_to)

    def _last_of(self, names: dict[Name, int | None]) -> frozenset[int]:
        """Return the latest pending change of each of the names."""
        latest: dict[Name, int] = {}
        for one in self.pending:
            for name in one.names or ():
                if name in names:
                    latest[name] = one.ordinal
        return frozenset(latest.values())
