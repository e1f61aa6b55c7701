"""What a recording has come to so far, and one call's view of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from resumeproof.crash.syscalls import arguments, operations
from resumeproof.crash.syscalls.descriptors import Description, Slot, Tracee
from resumeproof.crash.syscalls.operations import Call, Operation, Process, Turn
from resumeproof.crash.syscalls.parse import RawCall
from resumeproof.crash.syscalls.places import Folder, Place, Places
from resumeproof.crash.syscalls.stack import source_of
from resumeproof.crash.syscalls.tree import ROOT


@dataclass(eq=False)
class History:
    """Calls, processes and the tree as they are after the events that were read.

    `borrowed` are the indices of those calls whose bytes no line of the trace showed, such as what
    a splice(2) took from a pipe. `linkable` are files without a name that may still get one.
    """

    places: Places
    domains: Sequence[str]
    next_inode: int
    calls: list[Call] = field(default_factory=list)
    processes: list[Process] = field(default_factory=list)
    tracees: dict[int, Tracee] = field(default_factory=dict)
    turns: list[Turn] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)
    not_covered: dict[str, None] = field(default_factory=dict)
    outside: dict[str, None] = field(default_factory=dict)
    borrowed: list[int] = field(default_factory=list)
    linkable: set[int] = field(default_factory=set)
    stdout_name: str | None = None

    def new_inode(self) -> int:
        """A number for a file that was not there before."""
        number, self.next_inode = self.next_inode, self.next_inode + 1
        return number

    def take_turn(self, tracee: Tracee, call: RawCall, ordinal: int | None) -> None:
        """Note that a call, the latest, keeps its place in the order."""
        occurrence = tracee.occurrences[call.name]
        failed = call.returned is None
        self.turns.append(Turn(tracee.index, call.name, occurrence, ordinal, failed))
        if call.number is not None:
            self.numbers[call.name] = call.number

    def uncovered(self, what: str) -> None:
        """Note something that a recording cannot hold."""
        self.not_covered.setdefault(what)

    def wrote_outside(self, path: str | None) -> None:
        """Note that a file outside of the directory was changed; a device or a process is none."""
        if path is None or (path.startswith("/dev/") and not path.startswith("/dev/shm/")):
            return
        if not path.startswith(("/proc/", "/sys/")):
            self.outside.setdefault(path)

    def domain_of(self, path: str | None) -> int:
        """The failure domain that a path is in: the innermost."""
        fitting = [
            (len(root), index)
            for index, root in enumerate(self.domains)
            if not root or (path or "") == root or (path or "").startswith(f"{root}/")
        ]
        return max(fitting, default=(0, 0))[1]

    def described(self, name: str) -> Description:
        """A description of what the kernel calls by this name, of which nobody saw the opening."""
        if name == self.stdout_name:
            return Description(stdout=True, offset=None)
        if not name.startswith("/"):
            return Description(offset=None)
        number = self.number_named(name)
        if number is not None:
            return Description(number=number, offset=None)
        return Description(outside=name, offset=None)

    def number_named(self, path: str) -> int | None:
        """What the tree has at an absolute path without symbolic links."""
        root = self.places.root
        if path == root:
            return ROOT
        if not path.startswith(f"{root}/"):
            return None
        place = self.places.resolve(ROOT, path.removeprefix(f"{root}/"), follow=False)
        return None if place is None else self.places.number_at(place)


@dataclass(eq=False)
class Step:
    """One call that has taken effect, in the light of what was before it."""

    history: History
    tracee: Tracee
    call: RawCall

    @cached_property
    def parts(self) -> list[str]:
        """The arguments, as strace spells them."""
        return arguments.split(self.call.arguments)

    @property
    def places(self) -> Places:
        return self.history.places

    @property
    def returned(self) -> int:
        value = self.call.returned
        assert value is not None, "a failed call has no effect"
        return value

    def argument(self, position: int) -> str:
        """An argument's text; empty where there are not so many."""
        return self.parts[position] if position < len(self.parts) else ""

    def integer(self, position: int) -> int | None:
        return arguments.integer(self.argument(position))

    def flags(self, position: int) -> frozenset[str]:
        return arguments.flags(self.argument(position))

    def description(self, position: int) -> Description:
        """What the descriptor in this argument refers to."""
        said = arguments.descriptor(self.argument(position))
        if said is None:
            return Description(offset=None)
        slot = self.tracee.slots.get(said.number)
        if said.refers_to is None or said.deleted:
            return Description(offset=None) if slot is None else slot.description
        if slot is None or not self._fits(slot.description, said.refers_to):
            slot = Slot(self.history.described(said.refers_to))
            self.tracee.slots[said.number] = slot
        if slot.description.stdout:
            self.history.stdout_name = said.refers_to
        return slot.description

    def _fits(self, description: Description, name: str) -> bool:
        """Whether a description may well be of what the kernel calls by this name.

        A rename that is under way has moved it already for the kernel, and not yet for us.
        """
        if description.stdout or not name.startswith("/"):
            known = description.number is not None or description.outside is not None
            return not known and not (description.stdout and name.startswith("/"))
        number = self.history.number_named(name)
        return number is None or number == description.number

    def folder(self, position: int) -> Folder | None:
        """The directory that a relative path starts from; None if the descriptor is of none."""
        said = arguments.descriptor(self.argument(position))
        if said is not None and said.number == arguments.CURRENT_DIRECTORY:
            return self.tracee.surroundings.folder
        description = self.description(position)
        return description.outside if description.number is None else description.number

    def place(self, folder: int | None, path: int, *, follow: bool = True) -> Place | None:
        """Where the path in argument `path` leads, from the directory in argument `folder`."""
        named = arguments.path(self.argument(path))
        base = self.tracee.surroundings.folder if folder is None else self.folder(folder)
        if named is None or (base is None and not named.startswith("/")):
            return None
        return self.places.resolve(ROOT if base is None else base, named, follow=follow)

    def did(self, operation: Operation, path: str | None) -> None:
        """Carry an operation out and record it; `path` says which failure domain it was in."""
        self.places.apply(operation)
        calls = self.history.calls
        calls.append(
            Call(
                ordinal=len(calls) + 1,
                process=self.tracee.index,
                name=self.call.name,
                occurrence=self.tracee.occurrences[self.call.name],
                operation=operation,
                domain=self.history.domain_of(path),
                source=source_of(self.call.frames),
            )
        )

    def did_to_file(self, number: int, operation: Operation) -> None:
        """The same for what changes a file: where nobody can see it any more, it is not recorded.

        A file that has lost its last name is gone with the process.
        """
        path = self.places.path_of(number)
        if path is None and number not in self.history.linkable:
            if not isinstance(operation, operations.Sync | operations.SyncRange):
                self.places.apply(operation)
            return
        self.did(operation, path)
