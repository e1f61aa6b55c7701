"""What the supervisor is told: which program, and the call at which all of it dies."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class KillPlan:
    """One run of a program up to its death.

    `schedule` has an entry for each recorded call up to the last, in their order: process, number
    of the call, occurrence. Its last entry is where the program dies: `before` that call or after
    it. `parents` has each recorded process's parent. `size_limit` is what the file may grow to in
    that call, a write, and `returns` what the call must then return. `file` is what it must be
    about, and `descriptor_argument` which of its arguments has that open.
    """

    program: str
    argv: Sequence[str]
    env: Mapping[str, str]
    schedule: Sequence[tuple[int, int, int]]
    parents: Sequence[int | None]
    before: bool
    timeout_seconds: float
    size_limit: int | None = None
    returns: int | None = None
    descriptor_argument: int | None = None
    file: str | None = None

    def write(self, path: Path) -> None:
        """Write it where the supervisor reads it."""
        path.write_text(json.dumps(dataclasses.asdict(self)), encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> KillPlan:
        """Read what `write` wrote."""
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        schedule = [(process, number, count) for process, number, count in found.pop("schedule")]
        return cls(schedule=schedule, **found)

    @property
    def target(self) -> int:
        """The ordinal of the call at which the program dies."""
        return len(self.schedule)

    def ordinals(self) -> dict[tuple[int, int, int], int]:
        """The ordinal of each recorded call."""
        return {key: ordinal for ordinal, key in enumerate(self.schedule, start=1)}

    def children(self) -> dict[int, list[int]]:
        """The recorded children of each process, in the order of their birth."""
        children: dict[int, list[int]] = {}
        for child, parent in enumerate(self.parents):
            if parent is not None:
                children.setdefault(parent, []).append(child)
        return children
