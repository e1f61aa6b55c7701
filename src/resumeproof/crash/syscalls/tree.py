"""A directory in memory: what a recording's calls do to it, one after the other.

A clone is cheap, since files are shared until one side writes to them, and so is a digest, since
only what changed is hashed again. Symbolic links are never followed: paths are those of the calls.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from resumeproof.crash.syscalls import operations as op
from resumeproof.crash.syscalls.file import FileBytes
from resumeproof.errors import RecordingContradicted

ROOT: Final = -1


@dataclass(frozen=True, slots=True)
class Node:
    """What a name stands for: a file's bytes, a directory (neither), or a link's target."""

    mode: int
    content: FileBytes | None = None
    points_to: str | None = None

    @property
    def is_directory(self) -> bool:
        return self.content is None and self.points_to is None


Name = tuple[int, str]
"""An entry: the number of the directory that it stands in, and its text there."""


class Tree:
    """Files, directories and symbolic links, told by number; files bear their recorded inodes.

    `names` maps each entry to the number of what it stands for.
    """

    def __init__(self, mode: int = 0o755) -> None:
        self.nodes: dict[int, Node] = {ROOT: Node(mode)}
        self.names: dict[Name, int] = {}
        self._next = ROOT - 1
        self._owned: set[int] = set()

    @classmethod
    def read(cls, directory: Path, inodes: Mapping[str, int]) -> Tree:
        """Read a directory; `inodes` numbers its files, as a recording's `initial_inodes` do."""
        tree = cls(stat.S_IMODE(directory.stat().st_mode))
        for folder, folders, files in os.walk(directory):
            inside = Path(folder).relative_to(directory).as_posix()
            prefix = "" if inside == "." else inside + "/"
            for name in sorted([*folders, *files]):
                tree._take(Path(folder, name), prefix + name, inodes)
        return tree

    def clone(self) -> Tree:
        """Return a tree of the same content; from now on neither sees what the other is given."""
        other = Tree()
        other.nodes, other.names = self.nodes.copy(), self.names.copy()
        other._next = self._next
        self._owned.clear()
        return other

    def apply(self, operation: op.Operation) -> None:
        """Do to this tree what the call did; a sync and a print do nothing.

        Raises `RecordingContradicted` for a path that leads nowhere.
        """
        match operation:
            case op.Write(inode, _, offset, data):
                self.bytes_of(inode, operation.path).write(offset, data)
            case op.Truncate(inode, path, size):
                self.bytes_of(inode, path).resize(size)
            case op.Allocate():
                self._allocate(operation)
            case op.ChangeMode(path, mode, inode):
                number = self.number(path) if inode is None else inode
                self.nodes[number] = replace(self.nodes[number], mode=mode)
            case op.Sync() | op.SyncRange() | op.SyncDirectory() | op.SyncAll() | op.Print():
                pass
            case _:
                self.rename(self.entries(operation))

    def entries(self, operation: op.Operation) -> dict[Name, int | None]:
        """Return what the call makes of which names: the number behind each, None for none.

        A file, directory or link that the call made is added, without a name.
        """
        match operation:
            case op.Create(inode, path, mode):
                self._add(Node(mode, FileBytes()), inode)
                return {} if path is None else {self.entry(path): inode}
            case op.Link(inode, path):
                return {self.entry(path): inode}
            case op.SymbolicLink(path, points_to):
                return {self.entry(path): self._add(Node(0o777, points_to=points_to))}
            case op.MakeDirectory(path, mode):
                return {self.entry(path): self._add(Node(mode))}
            case op.Unlink(path) | op.RemoveDirectory(path):
                self.number(path)
                return {self.entry(path): None}
            case op.Rename():
                return self._renamed(operation)
            case _:
                return {}

    def rename(self, entries: Mapping[Name, int | None]) -> None:
        """Let each name stand for what `entries` says."""
        for name, number in entries.items():
            if number is None:
                self.names.pop(name, None)
            else:
                self.names[name] = number

    def number(self, path: str) -> int:
        """Return the number of what the path stands for."""
        number = ROOT
        for name in path.split("/") if path else ():
            found = self.names.get((number, name))
            if found is None:
                raise RecordingContradicted(path=path, reason="there is nothing of that name")
            number = found
        return number

    def entry(self, path: str) -> Name:
        """Return the directory's number and the last name of a path, which need not exist."""
        folder, _, name = path.rpartition("/")
        return self.number(folder), name

    def bytes_of(self, inode: int, path: str) -> FileBytes:
        """Return a file's bytes, to be changed."""
        node = self.nodes.get(inode)
        if node is None or node.content is None:
            raise RecordingContradicted(path=path, reason=f"no file has the number {inode}")
        if inode in self._owned:
            return node.content
        content = node.content.copy()
        self.nodes[inode] = replace(node, content=content)
        self._owned.add(inode)
        return content

    def walk(self) -> Iterator[tuple[str, int, Node]]:
        """Yield path, number and node of all that has a name, parents first, in order of names."""
        inside: dict[int, list[tuple[str, int]]] = {}
        for (folder, name), number in self.names.items():
            inside.setdefault(folder, []).append((name, number))
        pending = [("", ROOT)]
        while pending:
            path, number = pending.pop()
            yield path, number, self.nodes[number]
            prefix = f"{path}/" if path else ""
            below = sorted(inside.get(number, ()), reverse=True)
            pending += [(prefix + name, child) for name, child in below]

    def digest(self) -> str:
        """Return the SHA-256 of all paths with kind, mode, bytes, target and hard links."""
        whole = hashlib.sha256()
        first: dict[int, str] = {}
        for path, number, node in self.walk():
            linked = first.setdefault(number, path)
            content = node.content.digest() if node.content is not None else b""
            line = f"{path}\0{linked}\0{node.mode:o}\0{node.points_to or ''}\0"
            whole.update(os.fsencode(line) + content)
        return whole.hexdigest()

    def write_to(self, directory: Path) -> None:
        """Write all of it into an empty directory, which is made if it is missing."""
        directory.mkdir(exist_ok=True)
        first: dict[int, Path] = {}
        modes = []
        for path, number, node in self.walk():
            target = directory / path
            if number in first:
                os.link(first[number], target, follow_symlinks=False)
                continue
            first[number] = target
            if node.points_to is not None:
                target.symlink_to(node.points_to)
                continue
            if node.content is not None:
                with open(target, "xb") as out:
                    node.content.write_to(out.fileno())
            elif path:
                target.mkdir()
            modes.append((target, node.mode))
        for target, mode in reversed(modes):  # what may not be written to is filled by then
            target.chmod(mode)

    def _take(self, source: Path, path: str, inodes: Mapping[str, int]) -> None:
        status = source.lstat()
        mode = stat.S_IMODE(status.st_mode)
        if stat.S_ISLNK(status.st_mode):
            number = self._add(Node(0o777, points_to=str(source.readlink())))
        elif stat.S_ISDIR(status.st_mode):
            number = self._add(Node(mode))
        elif not stat.S_ISREG(status.st_mode):
            return  # a socket or a pipe holds nothing
        else:
            number = inodes[path]
            if number not in self.nodes:
                self._add(Node(mode, FileBytes(source.read_bytes())), number)
        self.names[self.entry(path)] = number

    def _add(self, node: Node, number: int | None = None) -> int:
        if number is None:
            number = self._next
            self._next -= 1
        self.nodes[number] = node
        if node.content is not None:
            self._owned.add(number)
        return number

    def _allocate(self, operation: op.Allocate) -> None:
        content = self.bytes_of(operation.inode, operation.path)
        if operation.zeroes:
            content.zero(operation.offset, operation.length)
        if not operation.keeps_size:
            content.size = max(content.size, operation.offset + operation.length)

    def _renamed(self, operation: op.Rename) -> dict[Name, int | None]:
        source, target = operation.source, operation.target
        if source is None:
            if target is None or operation.inode is None:
                raise RecordingContradicted(path=target or "", reason="a rename of nothing")
            node = Node(operation.mode, FileBytes(operation.arrived or b""))
            return {self.entry(target): self._add(node, operation.inode)}
        moved = self.number(source)
        if target is None:
            return {self.entry(source): None}
        if operation.exchanges:
            return {self.entry(source): self.number(target), self.entry(target): moved}
        if self.names.get(self.entry(target)) == moved:
            return {}  # two names of one file: rename(2) does nothing
        return {self.entry(source): None, self.entry(target): moved}
