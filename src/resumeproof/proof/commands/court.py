"""Workers side by side, each with a place of its own where states are laid out and judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from resumeproof.proof.commands.command import Command, Ended
from resumeproof.proof.commands.site import Site
from resumeproof.proof.dealing import deal

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")


@dataclass(frozen=True, slots=True)
class Court:
    """At most `jobs` workers below `base`. The program is recorded in the place of the first."""

    base: Path
    jobs: int

    def site(self, number: int = 0) -> Site:
        """The place of one worker."""
        return Site(self.base / f"worker-{number}")

    def run(self, command: Command, timeout_seconds: float) -> Ended:
        """Run something in the place of the first worker, as it lies there, and in a worker."""

        def work(site: Site, command: Command) -> Ended:
            return command.run(site.scene, timeout_seconds)

        (ended,) = self.each([command], work)
        return ended

    def each(
        self,
        items: Sequence[Item],
        work: Callable[[Site, Item], Outcome],
        done: Callable[[Item, Outcome], None] = lambda item, outcome: None,
    ) -> list[Outcome]:
        """What `work` made of each item, in their order; it is called in a worker.

        `done` is called here as they come. Outcomes must be picklable.
        """
        return deal(items, self.jobs, lambda number, _: nullcontext(self.site(number)), work, done)
