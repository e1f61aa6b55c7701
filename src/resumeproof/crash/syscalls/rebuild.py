"""The recorded directory as it was at any moment of the recording."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from resumeproof.crash.syscalls.file import PAGE_BYTES
from resumeproof.crash.syscalls.operations import Operation, Recording, Write
from resumeproof.crash.syscalls.tree import Tree


def page_cuts(operation: Operation) -> Iterator[int]:
    """After how many bytes a kill may have torn a write: at each page boundary within it.

    The kernel copies a write into its cache page by page, and a kill comes between two of them.
    """
    if isinstance(operation, Write):
        first = PAGE_BYTES - operation.offset % PAGE_BYTES
        yield from range(first, len(operation.data), PAGE_BYTES)


class Rebuilder:
    """Holds the recorded directory as it was after one call; quickest when asked in order.

        rebuilder = Rebuilder(recording, origin)
        for call in recording.calls:
            rebuilder.go_to(call.ordinal)
            rebuilder.digest(), rebuilder.write_to(somewhere)

    `origin` is the directory as the recording found it. `tree` is the state, to look at: what
    changes it is done to a clone.
    """

    def __init__(self, recording: Recording, origin: Path) -> None:
        self._recording = recording
        self._start = Tree.read(origin, recording.initial_inodes)
        self._whole = self._start.clone()
        self._ordinal = 0
        self.tree = self._whole

    def go_to(self, ordinal: int, *, cut: int | None = None) -> None:
        """Take the state after call `ordinal`; 0 is the start.

        With `cut`, that call, a write, has put only its first `cut` bytes into the file.
        """
        whole = ordinal if cut is None else ordinal - 1
        if whole < self._ordinal:
            self._whole, self._ordinal = self._start.clone(), 0
        for call in self._recording.calls[self._ordinal : whole]:
            self._whole.apply(call.operation)
        self._ordinal = whole
        self.tree = self._whole
        if cut is not None:
            write = self._recording.calls[ordinal - 1].operation
            assert isinstance(write, Write), "only a write is torn"
            self.tree = self._whole.clone()
            self.tree.apply(replace(write, data=write.data[:cut]))

    def digest(self) -> str:
        """A digest of all names, kinds, permissions, links and bytes of the present state."""
        return self.tree.digest()

    def write_to(self, directory: Path) -> None:
        """Write the present state into an empty directory, which is made if it is missing."""
        self.tree.write_to(directory)
