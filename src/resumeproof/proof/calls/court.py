"""Workers side by side, each with a place of its own and lives of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from resumeproof.crash.forked import LifeHost
from resumeproof.proof.agent import AgentSubject, prepare_host
from resumeproof.proof.calls.worker import CallWorker
from resumeproof.proof.crew import Report
from resumeproof.proof.dealing import deal
from resumeproof.proof.share import Settings

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")


@dataclass
class Court:
    """At most `jobs` workers below `base`. The agent is recorded in the place of the first.

    `awaits`: its steps are async.
    """

    subject: AgentSubject
    settings: Settings
    ignored: Sequence[str]
    jobs: int
    base: Path
    awaits: bool = False

    def place(self, number: int = 0) -> Path:
        """The directory of one worker."""
        return self.base / f"worker-{number}"

    def each(
        self,
        items: Sequence[Item],
        work: Callable[[CallWorker, Item], Outcome],
        done: Callable[[Item, Outcome], None] = lambda item, outcome: None,
    ) -> list[Outcome]:
        """What `work` makes of each item, in their order; it is called in a worker.

        `done` is called here as they come. Outcomes must be picklable.
        """
        return deal(items, self.jobs, self._worker, work, done)

    @contextmanager
    def _worker(self, number: int, report: Report) -> Iterator[CallWorker]:
        if self.awaits:
            prepare_host()
        with LifeHost(self.subject.body, private=[report.descriptor]) as host:
            yield CallWorker(self.subject, self.settings, self.ignored, host, self.place(number))
