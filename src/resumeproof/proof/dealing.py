"""Items dealt to workers side by side, and what they make of them, in the items' order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing
from typing import Any, TypeVar

from resumeproof.proof.crew import Crew, Report, Task

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")
Worker = TypeVar("Worker")


def deal(
    items: Sequence[Item],
    jobs: int,
    worker_of: Callable[[int, Report], AbstractContextManager[Worker]],
    work: Callable[[Worker, Item], Outcome],
    done: Callable[[Item, Outcome], None] = lambda item, outcome: None,
) -> list[Outcome]:
    """What `work` makes of each item, in their order; it is called in one of `jobs` workers.

    `worker_of` is entered once in each worker's process, with its number from 0. `done` is called
    here as they come. Outcomes must be picklable. Raises what `Crew.run` raises.
    """
    if not items:
        return []
    jobs = min(jobs, len(items))

    def task_of(number: int) -> Task:
        def task(report: Report) -> object:
            with worker_of(number, report) as worker:
                for index in range(number, len(items), jobs):
                    report((index, work(worker, items[index])))
            return None

        return task

    outcomes: dict[int, Any] = {}
    tasks = [task_of(number) for number in range(jobs)]
    # An exception keeps its frames, and so a generator, alive: workers go before their files.
    with closing(Crew().run(tasks)) as messages:
        for message in messages:
            if not message.done:
                index, outcome = message.content
                outcomes[index] = outcome
                done(items[index], outcome)
    return [outcomes[index] for index in range(len(items))]
