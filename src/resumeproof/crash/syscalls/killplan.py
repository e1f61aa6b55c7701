"""What the supervisor is told: which program, and the call at which all of it dies."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class KillPlan:
    """One run of a program up to its death; or that of a `process` which waits to be traced.

    `schedule` has an entry for each call that keeps its turn, in their order: process, number of
    the call, occurrence, and whether it failed. `target` is the place among them, from 1, of the
    call at which the program dies: `before` that call or after it. `parents` has each recorded
    process's parent. `size_limit` is what the file may grow to in that call, a write, and `returns`
    what the call must then return. `file` is what it must be about, and `descriptor_argument` which
    of its arguments has that open.
    """

    schedule: Sequence[tuple[int, int, int, bool]]
    target: int
    parents: Sequence[int | None]
    before: bool
    timeout_seconds: float
    program: str = ""
    argv: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    process: int | None = None
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
        schedule = [(*turn,) for turn in found.pop("schedule")]
        return cls(schedule=schedule, **found)

    def turns(self) -> dict[tuple[int, int, int], int]:
        """The place in the schedule of each call: of this process, number and occurrence."""
        return {(p, n, o): turn for turn, (p, n, o, _) in enumerate(self.schedule, start=1)}

    def fails(self, turn: int) -> bool:
        """Whether the call at this place failed when it was recorded."""
        return self.schedule[turn - 1][3]

    def children(self) -> dict[int, list[int]]:
        """The recorded children of each process, in the order of their birth."""
        children: dict[int, list[int]] = {}
        for child, parent in enumerate(self.parents):
            if parent is not None:
                children.setdefault(parent, []).append(child)
        return children
