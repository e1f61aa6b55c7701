"""Says in words why a crash left what it left: which sync or rename is missing, since which call.

state.json: replaced by rename without fsync of the new file; after a power cut it can be empty
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from resumeproof.crash.syscalls import operations as op
from resumeproof.crash.syscalls.file import FileBytes
from resumeproof.crash.syscalls.pending import Loss, LossKind
from resumeproof.crash.syscalls.power import PowerState
from resumeproof.crash.syscalls.tree import Node, Tree
from resumeproof.errors import RecordingContradicted

_LOOKED_AT_BYTES: Final = 16 << 20


class Fault(StrEnum):
    """What is wrong with how a file is written; `FAULT_WORDS` has it in words."""

    RENAMED_UNSYNCED = "renamed_unsynced"
    LINKED_UNSYNCED = "linked_unsynced"
    NAME_UNSYNCED = "name_unsynced"
    REMOVAL_UNSYNCED = "removal_unsynced"
    TRUNCATED = "truncated"
    OVERWRITTEN = "overwritten"
    APPENDED = "appended"
    TORN = "torn"
    MODE_UNSYNCED = "mode_unsynced"


FAULT_WORDS: Final = {
    Fault.RENAMED_UNSYNCED: "replaced by rename without fsync of the new file",
    Fault.LINKED_UNSYNCED: "given its name without fsync of the file",
    Fault.NAME_UNSYNCED: "named without fsync of its directory",
    Fault.REMOVAL_UNSYNCED: "removed without fsync of its directory",
    Fault.TRUNCATED: "truncated and rewritten in place",
    Fault.OVERWRITTEN: "overwritten in place",
    Fault.APPENDED: "appended to without fsync",
    Fault.TORN: "written by a call that a power cut can tear",
    Fault.MODE_UNSYNCED: "given other permissions without fsync",
}


@dataclass(frozen=True, slots=True)
class Cause:
    """Why one file is not what it should be.

    `outcome` is what it can be after the crash; `call` is the first call that matters, made by
    `command_line` where that says something; `synced_by` the call that syncs it, later than the
    crash.
    """

    path: str
    fault: Fault
    outcome: str
    call: op.Call
    command_line: tuple[str, ...]
    synced_by: op.Call | None

    def __str__(self) -> str:
        return (
            f"{self.path or '.'}: {FAULT_WORDS[self.fault]}; after a power cut it can be "
            f"{self.outcome} (since {told(self.call, self.command_line)}; {self._sync})"
        )

    @property
    def _sync(self) -> str:
        if self.synced_by is None:
            return "no later call syncs it"
        return f"synced only by call {self.synced_by.ordinal}, {self.synced_by.name}"


def told(call: op.Call, command_line: tuple[str, ...]) -> str:
    """Return a call in words: its number, its name, and if given who made it and from where."""
    where = f" at {call.source}" if call.source else ""
    by = f" by `{shlex.join(command_line)}`" if command_line else ""
    return f"call {call.ordinal}, {call.name}{by}{where}"


def made_by(call: op.Call, recording: op.Recording) -> tuple[str, ...]:
    """Return the command line that made a call; nothing where all calls were made by one alone."""
    makers = {recording.processes[each.process].command_line for each in recording.calls}
    return recording.processes[call.process].command_line if len(makers) > 1 else ()


def causes_of_loss(
    recording: op.Recording, origin: Tree, state: PowerState, left: Tree
) -> list[Cause]:
    """Return why the state, whose directory is `left`, is not what the program had made.

    One cause for each file and fault, in the order of the calls.
    """
    story = _Story(recording, origin, state, left)
    causes: dict[tuple[str, Fault], Cause] = {}
    for loss in state.losses:
        cause = story.cause(loss)
        causes.setdefault((cause.path, cause.fault), cause)
    return list(causes.values())


class _Story:
    def __init__(
        self, recording: op.Recording, origin: Tree, state: PowerState, left: Tree
    ) -> None:
        self._recording = recording
        self._origin = origin
        self._state = state
        self._left = left
        self._seen = self._replayed(state.ordinal)

    def cause(self, loss: Loss) -> Cause:
        call = self._recording.calls[loss.ordinal - 1]
        match call.operation:
            case op.Write() | op.Truncate() | op.Allocate():
                return self._of_bytes(call, call.operation, loss)
            case op.ChangeMode(path):
                fault = Fault.MODE_UNSYNCED
            case op.Unlink(path) | op.RemoveDirectory(path) | op.Rename(str(path), None):
                fault = Fault.REMOVAL_UNSYNCED
            case (
                op.Create(_, str(path))
                | op.Link(_, path)
                | op.SymbolicLink(path)
                | op.MakeDirectory(path)
                | op.Rename(_, str(path))
            ):
                fault = Fault.NAME_UNSYNCED
            case _:
                raise AssertionError(f"{call.operation} is never lost")
        outcome = self._found(path, self._replayed(call.ordinal - 1))
        return self._cause(path, fault, outcome, call, self._name_synced(call, path))

    def _of_bytes(
        self, call: op.Call, operation: op.Write | op.Truncate | op.Allocate, loss: Loss
    ) -> Cause:
        before = self._replayed(call.ordinal - 1)
        inode = operation.inode
        path = _path_of(self._seen, inode) or operation.path
        fault = self._renamed(path, operation.path, call)
        if fault is None and loss.kind in (LossKind.HEAD, LossKind.TAIL):
            fault = Fault.TORN
        elif fault is None and self._truncated(inode, call):
            fault = Fault.TRUNCATED
        elif fault is None:
            old = before.nodes[inode].content
            assert old is not None, "bytes are put into files only"
            appends = not isinstance(operation, op.Truncate) and operation.offset >= old.size
            fault = Fault.APPENDED if appends else Fault.OVERWRITTEN
        return self._cause(path, fault, self._found(path, before), call, self._synced(inode, call))

    def _cause(
        self, path: str, fault: Fault, outcome: str, call: op.Call, synced_by: op.Call | None
    ) -> Cause:
        return Cause(path, fault, outcome, call, made_by(call, self._recording), synced_by)

    def _renamed(self, path: str, written_as: str, call: op.Call) -> Fault | None:
        """Whether what a call wrote to came to its present name later, and how."""
        for later in self._between(call):
            match later.operation:
                case op.Rename(_, target) if target == path != written_as:
                    return Fault.RENAMED_UNSYNCED
                case op.Link(_, target) if target == path != written_as:
                    return Fault.LINKED_UNSYNCED
        return None

    def _truncated(self, inode: int, call: op.Call) -> bool:
        """Whether the file had been cut since it was last synced, or is by this call."""
        for earlier in reversed(self._recording.calls[: call.ordinal]):
            match earlier.operation:
                case op.Truncate(number) if number == inode:
                    return True
                case op.Sync(number) if number == inode:
                    return False
                case op.SyncAll():
                    return False
        return False

    def _between(self, call: op.Call) -> Iterator[op.Call]:
        yield from self._recording.calls[call.ordinal : self._state.ordinal]

    def _synced(self, inode: int, call: op.Call) -> op.Call | None:
        for later in self._recording.calls[call.ordinal :]:
            match later.operation:
                case op.Sync(number) if number == inode:
                    return later
                case op.SyncAll():
                    return later
        return None

    def _name_synced(self, call: op.Call, path: str) -> op.Call | None:
        folder = path.rpartition("/")[0]
        for later in self._recording.calls[call.ordinal :]:
            match later.operation:
                case op.SyncDirectory(synced) if synced == folder:
                    return later
                case op.SyncAll():
                    return later
        return None

    def _found(self, path: str, before: Tree) -> str:
        """Return what is at the path after the crash; `before`: before the call that was lost."""
        found, wanted = _node(self._left, path), _node(self._seen, path)
        if found is None:
            return "missing"
        if wanted is None:
            return "back"
        if found.content is None or wanted.content is None:
            return "what it was before"
        old = _node(before, path)
        return _bytes_found(found.content, wanted.content, old.content if old else None)

    def _replayed(self, ordinal: int) -> Tree:
        tree = self._origin.clone()
        for call in self._recording.calls[:ordinal]:
            tree.apply(call.operation)
        return tree


def _bytes_found(found: FileBytes, wanted: FileBytes, old: FileBytes | None) -> str:
    if found.digest() == wanted.digest():
        return "without its new permissions"
    if found.size == 0:
        return "empty"
    if old is not None and found.digest() == old.digest():
        return "what it was before"
    data = found.read(0, _LOOKED_AT_BYTES)
    if not data.strip(b"\0"):
        return "full of zeros"
    new = wanted.read(0, _LOOKED_AT_BYTES)
    if new.startswith(data):
        return "cut short"
    if data.startswith(new):
        return "new with other bytes behind"
    return "partly new and partly old or zeros"


def _node(tree: Tree, path: str) -> Node | None:
    try:
        return tree.nodes[tree.number(path)]
    except RecordingContradicted:
        return None


def _path_of(tree: Tree, inode: int) -> str | None:
    return next((path for path, number, _ in tree.walk() if number == inode), None)
