"""Where the lives of a proof come from, and who sees to the workers that order them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from resumeproof.crash.forked import BoundaryNotice, ForkedLife, LifeHost
from resumeproof.proof.crew import Crew, Message, Report, Task
from resumeproof.proof.living import LivingSubject, Order


class Host(Protocol):
    """Runs lives, one at a time, and sees each to its end."""

    def run(
        self,
        order: Order,
        *,
        timeout_seconds: float,
        at_boundary: Callable[[BoundaryNotice], None] | None = None,
    ) -> ForkedLife: ...


class Workers(Protocol):
    """Runs tasks, and yields what they say until all are done."""

    def run(self, tasks: Sequence[Task]) -> Generator[Message, None, None]: ...


@dataclass(frozen=True)
class Lives:
    """One isolation. `traced`: its lives can stand at a boundary while a copy of them is killed."""

    host: Callable[[LivingSubject, Report], AbstractContextManager[Host]]
    workers: Callable[[], Workers]
    traced: bool


FORKED = Lives(
    host=lambda subject, report: LifeHost(subject.body, private=[report.descriptor]),
    workers=Crew,
    traced=True,
)
