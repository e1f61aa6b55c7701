"""What a process has open, and where it stands: what a call's numbers and relative paths mean.

A descriptor refers to an open file description, which bears the offset and is shared by all its
copies, in all processes (open(2), "Open file descriptions").
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from resumeproof.crash.syscalls.places import Folder
from resumeproof.crash.syscalls.tree import ROOT


@dataclass(eq=False, slots=True)
class Description:
    """An open file description.

    Exactly one of these says what it is of: `number` for what is in the tree, a file or a
    directory; `outside`, an absolute path; `stdout`; or none of them: a pipe, a socket and the
    like. `offset` is None where nobody can know it.
    """

    number: int | None = None
    outside: str | None = None
    stdout: bool = False
    offset: int | None = 0
    appends: bool = False
    synchronous: bool = False


STDOUT: Final = 1


@dataclass(slots=True)
class Slot:
    """A descriptor of one process."""

    description: Description
    closes_on_exec: bool = False


@dataclass(eq=False, slots=True)
class Surroundings:
    """What threads share under CLONE_FS: the working directory and the file mode mask."""

    folder: Folder = ROOT
    mask: int = 0o022

    def copy(self) -> Surroundings:
        return Surroundings(self.folder, self.mask)


@dataclass(eq=False, slots=True)
class Tracee:
    """A process or a thread: whatever has a number of its own and makes calls.

    `index` is its place among the recording's processes; `occurrences` counts its calls by name.
    """

    index: int
    slots: dict[int, Slot] = field(default_factory=dict)
    surroundings: Surroundings = field(default_factory=Surroundings)
    occurrences: dict[str, int] = field(default_factory=dict)

    def born(
        self, index: int, *, shares_descriptors: bool = False, shares_surroundings: bool = False
    ) -> Tracee:
        """Make a child as clone(2) does."""
        return Tracee(
            index=index,
            slots=self.slots if shares_descriptors else self._copied_slots(),
            surroundings=(self.surroundings if shares_surroundings else self.surroundings.copy()),
        )

    def _copied_slots(self) -> dict[int, Slot]:
        return {
            number: Slot(slot.description, slot.closes_on_exec)
            for number, slot in self.slots.items()
        }

    def unshare_descriptors(self) -> None:
        """Have a table of its own from now on."""
        self.slots = self._copied_slots()

    def executes(self) -> None:
        """Close what an execve(2) closes."""
        self.slots = {
            number: slot for number, slot in self._copied_slots().items() if not slot.closes_on_exec
        }

    def count(self, name: str) -> None:
        """Count a call that has begun."""
        self.occurrences[name] = self.occurrences.get(name, 0) + 1
