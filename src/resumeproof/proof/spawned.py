"""Lives in interpreters of their own, for subjects that cannot live under fork, and without it.

The subject is named, `module:factory`, and each life imports it anew. Orders and outcomes are
those of forked lives; a life cannot be traced, so each scenario is carried out from its beginning.
"""

from __future__ import annotations

import importlib
import os
import pickle
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from resumeproof.crash.forked import BoundaryNotice, ForkedLife
from resumeproof.crash.process import Life, run_life
from resumeproof.errors import UsageRefused
from resumeproof.proof.agent import AgentSubject
from resumeproof.proof.context import Context
from resumeproof.proof.crew import Crew, Message, Report, Task
from resumeproof.proof.lives import Host, Lives
from resumeproof.proof.living import LivingSubject, Order
from resumeproof.proof.payload import pack

OUTCOME_NAME = "outcome"
SPECIFICATION_NAME = "specification"


@dataclass(frozen=True)
class NamedFactory:
    """A factory by its name, `module:factory`, where `factory` may have dots; imported when called.

    Raises `UsageRefused` for a text of another shape, and what the import raises.
    """

    name: str

    def __post_init__(self) -> None:
        module, colon, attribute = self.name.partition(":")
        words = [*module.split("."), *attribute.split(".")]
        if not colon or not all(word.isidentifier() for word in words):
            raise UsageRefused(
                reason=f"{self.name!r} names no factory: it is written module:factory"
            )

    def __call__(self, context: Context) -> Any:
        module, _, attribute = self.name.partition(":")
        found: Any = importlib.import_module(module)
        for name in attribute.split("."):
            found = getattr(found, name)
        return found(context)


@dataclass(frozen=True)
class SpawnedAgent(AgentSubject):
    """An agent whose factory and inputs can be pickled.

    Raises `PayloadRefused` for an input that cannot.
    """

    def __post_init__(self) -> None:
        for number, item in enumerate(self.inputs):
            pack(item, f"inputs[{number}]")


class SpawnHost:
    """Starts an interpreter for each life of a subject that can be pickled; sees it to its end."""

    def __init__(self, subject: LivingSubject) -> None:
        self._subject = subject

    def run(
        self,
        order: Order,
        *,
        timeout_seconds: float,
        at_boundary: Callable[[BoundaryNotice], None] | None = None,
    ) -> ForkedLife:
        """Start a life that carries out `order`; return it when it is dead."""
        # Beside the scenario, where it is removed with it, even if this worker is killed.
        with TemporaryDirectory(prefix="life-", dir=order.root.parent) as name:
            place = Path(name)
            # Where modules are found comes first: without it the rest cannot be read.
            specification = pickle.dumps(sys.path) + pickle.dumps((self._subject, order))
            (place / SPECIFICATION_NAME).write_bytes(specification)
            life = run_life(
                [sys.executable, "-m", "resumeproof.proof.spawned_life", name],
                timeout_seconds=timeout_seconds,
            )
            outcome = place / OUTCOME_NAME
            brought = pickle.loads(outcome.read_bytes()) if outcome.exists() else None
        return ForkedLife(
            exit=life.exit,
            witness=_witness(life),
            outcome=brought,
            ended=brought is not None,
            output=life.stdout + life.stderr,
            timed_out=life.timed_out,
            orphans=life.orphans,
        )


def _witness(life: Life) -> tuple[str, int] | None:
    """The one word that the dying process itself left; a second one makes it worthless."""
    if len(life.witnesses) != 1:
        return None
    (witness,) = life.witnesses
    # On Windows a virtual environment's python.exe is a launcher, and its child is the program.
    if sys.platform != "win32" and witness.pid != life.pid:
        return None
    return witness.boundary, witness.ordinal


class Alone:
    """Does one task after the other in this process, where there is no fork to make workers."""

    def run(self, tasks: Sequence[Task]) -> Generator[Message, None, None]:
        for number, task in enumerate(tasks):
            heard = _Heard()
            result = task(heard)
            for content in heard.said:
                yield Message(number, False, content)
            yield Message(number, True, result)


class _Heard(Report):
    def __init__(self) -> None:
        super().__init__(descriptor=-1)
        self.said: list[object] = []

    def send(self, kind: str, content: object) -> None:
        self.said.append(content)


def _host(subject: LivingSubject, report: Report) -> AbstractContextManager[Host]:
    return nullcontext(SpawnHost(subject))


SPAWNED = Lives(host=_host, workers=Crew if hasattr(os, "fork") else Alone, traced=False)
