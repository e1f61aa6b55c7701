"""Two stores in which everything has happened that a picture can show and an auditor has to check.

The drivers of a scene die of an exception, in this process: what evidence says of their deaths is
told to it, and is proved elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from resumeproof.crash.plan import CrashPoint
from resumeproof.domain.action import parse_action
from resumeproof.domain.contract import Lookup, ToolContract
from resumeproof.domain.observation import LifeSeen, ScenarioRun
from resumeproof.domain.receipt import ToolCall
from resumeproof.errors import Fenced, ResumeproofError
from resumeproof.evidence.receipt import ScenarioEvidence, write_evidence
from resumeproof.lab.life import trapped
from resumeproof.lab.subject import JOURNAL_NAME, LEDGER_NAME, Case, LabSubject, Times
from resumeproof.runtime.operations import (
    Resolution,
    cancel,
    reconcile,
    replace_action,
)
from resumeproof.runtime.session import resume, writing
from resumeproof.stores.sqlite_ledger import SqliteLedger

START = "2026-01-01T00:00:00.000000Z"
TIMES = Times(START)
WAL = {"journal_mode": "wal", "synchronous": "full"}


class Died(BaseException):
    """The death of a driver in this process."""


def die() -> NoReturn:
    raise Died


def an_action(tool: str = "charge_card", cents: int = 4200) -> bytes:
    return b'{"tool": "%s", "arguments": {"cents": %d}}' % (tool.encode(), cents)


def a_case(
    name: str,
    *,
    key: str | None = "",
    idempotent: bool = False,
    lookup: Lookup = Lookup.NONE,
    lookup_lag_seconds: float = 0.0,
    key_lifetime_seconds: float | None = None,
    cents: int = 4200,
    fail_before: int = 0,
    max_retries: int = 3,
    retry_base_seconds: float = 0.0,
) -> Case:
    """A single call of a tool of its own; `key` "" stands for a key of its own."""
    tool = f"tool of {key or name}"
    return Case(
        name=name,
        action=parse_action(an_action(tool, cents)),
        contract=ToolContract(
            tool,
            idempotent=idempotent,
            lookup=lookup,
            lookup_lag_seconds=lookup_lag_seconds,
            key_lifetime_seconds=key_lifetime_seconds,
        ),
        key=f"key of {name}" if key == "" else key,
        fail_before=fail_before,
        max_retries=max_retries,
        retry_base_seconds=retry_base_seconds,
    )


@dataclass
class Scene:
    """A directory with two stores, and what was seen of the lives that wrote to them."""

    directory: Path
    scenarios: list[ScenarioEvidence] = field(default_factory=list)

    @property
    def journal(self) -> Path:
        return self.directory / JOURNAL_NAME

    @property
    def ledger(self) -> Path:
        return self.directory / LEDGER_NAME

    def play(self, case: Case, *points: str, resumes: int = 1, **settings: str) -> LabSubject:
        """Create and approve; die at each point in a life of its own; then resume."""
        subject = LabSubject(case, TIMES, **settings)
        subject.open(self.directory)
        for number, point in enumerate(points, start=1):
            with suppress(Died):
                resume(
                    subject.site(self.directory, number),
                    subject.workflow_id,
                    trapped(CrashPoint.parse(point), die),
                )
        for number in range(len(points) + 1, len(points) + 1 + resumes):
            with suppress(ResumeproofError):
                resume(subject.site(self.directory, number), subject.workflow_id)
        self._tell(subject, points, resumes)
        return subject

    def _tell(self, subject: LabSubject, points: tuple[str, ...], resumes: int) -> None:
        seen = [str(CrashPoint.parse(point)) for point in points]
        lives = [a_life(number, point) for number, point in enumerate(seen, start=1)]
        # An account of nobody's life would be none.
        calm = max(resumes, 0 if points else 1)
        lives += [a_life(len(points) + number) for number in range(1, calm + 1)]
        run = ScenarioRun(
            subject=subject.name,
            plan=";".join(seen) or "baseline",
            kill="exit86",
            lives=tuple(lives),
            observation=subject.observe(self.directory),
            invalid=None,
            unreached=None,
        )
        durability = {"journal": WAL, "ledger": WAL}
        self.scenarios.append(ScenarioEvidence(subject.workflow_id, run, durability))

    def decide(self, subject: LabSubject, resolution: Resolution, *, actor: str = "alice") -> None:
        site = subject.site(self.directory, 50)
        with writing(site, subject.workflow_id) as journal:
            reconcile(
                journal, site.clock, subject.workflow_id,
                resolution=resolution, actor=actor, note="looked it up",
            )  # fmt: skip

    def cancel(self, subject: LabSubject) -> None:
        site = subject.site(self.directory, 50)
        with writing(site, subject.workflow_id) as journal:
            cancel(journal, site.clock, subject.workflow_id)

    def replace(self, subject: LabSubject, action: bytes) -> None:
        site = subject.site(self.directory, 50)
        with writing(site, subject.workflow_id) as journal:
            replace_action(journal, site.clock, subject.workflow_id, action=parse_action(action))

    def late_call(self, subject: LabSubject, attempt: int) -> None:
        """The call of an old driver arrives after the fence that was set against it."""
        site, case = subject.site(self.directory, 50), subject.case
        call = ToolCall(
            workflow_id=subject.workflow_id, step="call", attempt=attempt, key=case.key,
            action=case.action.canonical, tool=case.action.tool,
        )  # fmt: skip
        with (
            SqliteLedger.open(self.ledger, now=site.clock.now, new_id=site.identity.new_id) as tool,
            suppress(Fenced),
        ):
            tool.call(call)

    def write(self) -> None:
        """Write the receipt file and the picture."""
        write_evidence(
            self.directory, journal=self.journal, ledger=self.ledger, scenarios=self.scenarios
        )


def a_life(number: int, death: str | None = None) -> LifeSeen:
    code = 0 if death is None else 86
    return LifeSeen(
        pid=1000 + number,
        exit={"kind": "exit", "code": code, "text": f"exit {code}"},
        planned=death,
        witnessed=death,
        timed_out=False,
        orphans=(),
        stdout="",
        stderr="",
    )


Story = Callable[[Scene, str], None]


def _played(*points: str, resumes: int = 1, **settings: Any) -> Story:
    def play(scene: Scene, name: str) -> None:
        scene.play(a_case(name, **settings), *points, resumes=resumes)

    return play


def _decided(resolution: Resolution) -> Story:
    def play(scene: Scene, name: str) -> None:
        scene.decide(scene.play(a_case(name, key=None), "tool:after"), resolution)

    return play


def _cancelled(scene: Scene, name: str) -> None:
    scene.cancel(scene.play(a_case(name), resumes=0))


def _replaced(scene: Scene, name: str) -> None:
    subject = scene.play(a_case(name), resumes=0)
    scene.replace(subject, an_action(subject.case.action.tool, 9900))


def _late(scene: Scene, name: str) -> None:
    subject = scene.play(a_case(name, lookup=Lookup.CONSISTENT), "claim:after")
    scene.late_call(subject, attempt=1)


def _conflict(scene: Scene, name: str) -> None:
    for first, cents in ((f"{name}, first", 1), (name, 2)):
        scene.play(a_case(first, key="shared", idempotent=True, cents=cents))


STORIES: dict[str, Story] = {
    "idempotent": _played("tool:after", idempotent=True),
    "unknown": _played("tool:after", key=None),
    "confirmed applied": _decided(Resolution.CONFIRMED_APPLIED),
    "confirmed not applied": _decided(Resolution.CONFIRMED_NOT_APPLIED),
    "lookup found": _played("ack:before", lookup=Lookup.CONSISTENT),
    "late call": _late,
    "eventual lookup": _played("tool:after", lookup=Lookup.EVENTUAL, lookup_lag_seconds=5),
    "expired key": _played("tool:after", idempotent=True, key_lifetime_seconds=5),
    "retried": _played(fail_before=2),
    "retrying": _played(fail_before=9, retry_base_seconds=1e6),
    "retries exhausted": _played(fail_before=9, max_retries=2),
    "resume crashed": _played("tool:after", "ack:before", idempotent=True),
    "nothing claimed": _played("claim:before", idempotent=True),
    "acknowledged": _played("ack:after", idempotent=True),
    "conflict": _conflict,
    "cancelled": _cancelled,
    "replaced": _replaced,
    "left running": _played("tool:before", key=None, resumes=0),
}


def everything(directory: Path) -> Scene:
    """All stories in one pair of stores, with a receipt file that holds."""
    scene = Scene(directory)
    for name, play in STORIES.items():
        play(scene, name)
    scene.write()
    return scene
