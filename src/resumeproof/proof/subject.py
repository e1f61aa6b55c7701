"""What can be proved: something that is opened in a directory, lives, dies, and is looked at."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from resumeproof.crash.kill import Kill
from resumeproof.crash.plan import CrashPoint
from resumeproof.domain.observation import Observation


@dataclass(frozen=True)
class Death:
    """How one life is to die. `supervised`: it holds still, and is killed from outside."""

    point: CrashPoint
    kill: Kill
    supervised: bool


class Subject(Protocol):
    """One subject in one scenario."""

    @property
    def name(self) -> str: ...

    def open(self, directory: Path) -> None:
        """Lay out what the first life will find."""
        ...

    def argv(self, directory: Path, life: int, death: Death | None) -> list[str]:
        """The command of the `life`-th life (from 1), which dies as `death` says."""
        ...

    def observe(self, directory: Path) -> Observation:
        """What the stores say now; reads only."""
        ...
