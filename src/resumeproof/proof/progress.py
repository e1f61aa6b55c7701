"""How a long proof tells of itself: nothing, or a bar on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from resumeproof.domain.verdict import Finding


class Progress(Protocol):
    """Told when work starts, and of each scenario that is done."""

    def start(self, expected: int) -> None:
        """So many scenarios are expected, at least; what was told before does not count."""
        ...

    def advance(self, findings: Sequence[Finding]) -> None:
        """One more scenario is done, and this is what it shows."""
        ...


class Silence:
    """Tells nothing."""

    def start(self, expected: int) -> None:
        pass

    def advance(self, findings: Sequence[Finding]) -> None:
        pass
