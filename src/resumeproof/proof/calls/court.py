"""Workers side by side, each with a place of its own and lives of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from resumeproof.crash.forked import LifeHost
from resumeproof.proof.agent import AgentSubject, prepare_host
from resumeproof.proof.calls.worker import CallWorker
from resumeproof.proof.crew import Crew, Report, Task
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
        jobs = min(self.jobs, len(items))
        outcomes: dict[int, Any] = {}
        tasks = [self._task(number, jobs, items, work) for number in range(jobs)]
        # An exception keeps its frames, and so a generator, alive: workers go before their files.
        with closing(Crew().run(tasks)) as messages:
            for message in messages:
                if not message.done:
                    index, outcome = message.content
                    outcomes[index] = outcome
                    done(items[index], outcome)
        return [outcomes[index] for index in range(len(items))]

    def _task(
        self,
        number: int,
        jobs: int,
        items: Sequence[Item],
        work: Callable[[CallWorker, Item], Outcome],
    ) -> Task:
        def task(report: Report) -> object:
            if self.awaits:
                prepare_host()
            with LifeHost(self.subject.body, private=[report.descriptor]) as host:
                place = self.place(number)
                worker = CallWorker(self.subject, self.settings, self.ignored, host, place)
                for index in range(number, len(items), jobs):
                    report((index, work(worker, items[index])))
            return None

        return task
