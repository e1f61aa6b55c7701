"""Where a path leads: into the recorded directory, or to somewhere else."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Final

from resumeproof.crash.syscalls.operations import Operation
from resumeproof.crash.syscalls.tree import ROOT, Name, Tree

_LINKS: Final = 40  # as many as the kernel follows, path_resolution(7)

Folder = int | str
"""A directory: its number in the tree, or an absolute path outside of it."""


@dataclass(frozen=True, slots=True)
class Place:
    """A name in a directory. An empty name is the directory itself."""

    folder: Folder
    name: str


class Places:
    """The tree of the recorded directory at the present moment, and the paths that lead there."""

    def __init__(self, root: str, tree: Tree) -> None:
        self.root = root
        self.tree = tree
        self._entries: dict[int, dict[Name, None]] = {}
        self._links_outside: dict[str, str | None] = {}
        for name, number in tree.names.items():
            self._entries.setdefault(number, {})[name] = None

    def apply(self, operation: Operation) -> None:
        """Carry an operation out in the tree."""
        changes = self.tree.entries(operation)
        if not changes:
            self.tree.apply(operation)
            return
        for name, number in changes.items():
            before = self.tree.names.get(name)
            if before is not None:
                self._entries[before].pop(name, None)
            if number is not None:
                self._entries.setdefault(number, {})[name] = None
        self.tree.rename(changes)

    def path_of(self, number: int) -> str | None:
        """The path of a file or a directory of the tree; None if it has lost its last name."""
        parts: list[str] = []
        while number != ROOT:
            entry = next(iter(self._entries.get(number, ())), None)
            if entry is None:
                return None
            number, name = entry
            parts.append(name)
        return "/".join(reversed(parts))

    def path_at(self, place: Place) -> str | None:
        """The path of a place in the tree; None for one outside, or in a removed directory."""
        if isinstance(place.folder, str):
            return None
        folder = self.path_of(place.folder)
        if folder is None:
            return None
        return "/".join(part for part in (folder, place.name) if part)

    def number_at(self, place: Place) -> int | None:
        """What the tree has at a place; None for nothing, and outside of it."""
        if isinstance(place.folder, str):
            return None
        if not place.name:
            return place.folder
        return self.tree.names.get((place.folder, place.name))

    def resolve(self, base: Folder, path: str, *, follow: bool = True) -> Place | None:
        """Walk a path. `follow` a symbolic link that is its last part; None if it leads nowhere."""
        here: Folder = base
        if path.startswith(f"{self.root}/"):
            # No link leads to the root, so that nobody need walk there.
            here, path = ROOT, path[len(self.root) :]
        elif path.startswith("/"):
            here = self._enter("/")
        parts = path.split("/")[::-1]
        links = 0
        while parts:
            part = parts.pop()
            if part in ("", "."):
                continue
            if part == "..":
                above = self._above(here)
                if above is None:
                    return None
                here = above
                continue
            last = not any(name not in ("", ".") for name in parts)
            pointed = self._link_at(here, part)
            if pointed is not None and (not last or follow or "" in parts):
                links += 1
                if links > _LINKS:
                    return None
                parts += pointed.split("/")[::-1]
                if pointed.startswith("/"):
                    here = self._enter("/")
                continue
            if last:
                return self._last(here, part)
            below = self._below(here, part)
            if below is None:
                return None
            here = below
        return Place(here, "")

    def _last(self, here: Folder, name: str) -> Place:
        if isinstance(here, str) and isinstance(self._below(here, name), int):
            return Place(ROOT, "")
        return Place(here, name)

    def outside_path(self, place: Place) -> str:
        """The absolute path of a place that is not in the tree."""
        assert isinstance(place.folder, str)
        return os.path.join(place.folder, place.name) if place.name else place.folder  # noqa: PTH118

    def _enter(self, path: str) -> Folder:
        return ROOT if path == self.root else path

    def _above(self, here: Folder) -> Folder | None:
        if isinstance(here, str):
            return self._enter(os.path.dirname(here))  # noqa: PTH120
        if here == ROOT:
            return os.path.dirname(self.root)  # noqa: PTH120
        entry = next(iter(self._entries.get(here, ())), None)
        return None if entry is None else entry[0]

    def _below(self, here: Folder, name: str) -> Folder | None:
        if isinstance(here, str):
            return self._enter(os.path.join(here, name))  # noqa: PTH118
        number = self.tree.names.get((here, name))
        return number if number is not None and self.tree.nodes[number].is_directory else None

    def _link_at(self, here: Folder, name: str) -> str | None:
        if isinstance(here, str):
            return self._link_outside(os.path.join(here, name))  # noqa: PTH118
        number = self.tree.names.get((here, name))
        return None if number is None else self.tree.nodes[number].points_to

    def _link_outside(self, path: str) -> str | None:
        if path not in self._links_outside:
            # Those of /proc are magic: they lead to an open file, not along a path.
            is_link = not path.startswith("/proc/") and os.path.islink(path)  # noqa: PTH114
            self._links_outside[path] = os.readlink(path) if is_link else None  # noqa: PTH115
        return self._links_outside[path]
