"""How a proof is carried out, and what one worker's share of it comes to."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from resumeproof.crash.kill import Kill
from resumeproof.crash.plan import CrashPoint
from resumeproof.domain.conformance import Scenario
from resumeproof.domain.course import Course
from resumeproof.domain.verdict import Finding
from resumeproof.proof.course import Courses
from resumeproof.proof.living import Boundary
from resumeproof.proof.oracle import Seen


@dataclass(frozen=True)
class Settings:
    """`boundaries` are the names of those that are tried; `depth` counts deaths in a row.

    `keep`: where the directory is copied to as each life of a scenario left it, beside what that
    life printed. It is for one plan that is carried out alone.
    """

    run_id: str
    kill: Kill
    boundaries: tuple[str, ...]
    depth: int
    timeout_seconds: float
    dedupe: bool
    keep: Path | None = None


@dataclass(frozen=True)
class Baseline:
    """Two runs without a crash: what the first came to, and what both allow.

    `passed` are the boundaries of a life that nothing disturbs. `unshareable` says why a prefix
    cannot be shared between scenarios, None where it can.
    """

    seen: Seen
    passed: tuple[Boundary, ...]
    findings: tuple[Finding, ...]
    nondeterminism: str | None
    unshareable: str | None
    awaited: bool

    @cached_property
    def courses(self) -> Courses:
        return Courses(self.seen.effects)


@dataclass
class Share:
    """What one worker has done so far. `courses` are those of its scenarios, by their plans."""

    enumerated: int = 0
    fired: int = 0
    verified: int = 0
    judged: int = 0
    absorbed: int = 0
    resumed: int = 0
    scenarios: list[Scenario] = field(default_factory=list)
    courses: dict[str, Course] = field(default_factory=dict)
    images: set[str] = field(default_factory=set)
    states: set[str] = field(default_factory=set)
    findings: list[Finding] = field(default_factory=list)
    hidden: list[Finding] = field(default_factory=list)
    ambiguous: int = 0
    reported: int = 0
    needless: int = 0


class NotShareable(Exception):
    """A prefix cannot be shared between scenarios after all; the reason is the argument."""


def scenario_run_id(run_id: str, deaths: tuple[CrashPoint, ...]) -> str:
    """`run-3` for a death after effect 3, `run-3-before` for one just before it."""
    parts = [run_id]
    for point in deaths:
        name, _, side = point.boundary.partition(":")
        parts += [] if name == "effect" else [name]
        parts += [str(point.occurrence)] if side == "after" else [f"{point.occurrence}-before"]
    return "-".join(parts)
