"""Carry out one scenario in processes that really die."""

from __future__ import annotations

from pathlib import Path

from resumeproof.crash.kill import CRASH_STATUS, Kill
from resumeproof.crash.plan import CrashPlan
from resumeproof.crash.process import Life, run_life, verify_kill
from resumeproof.domain.observation import LifeSeen, Observation, ScenarioRun
from resumeproof.errors import SubjectRestless
from resumeproof.proof.subject import Death, Subject

LIFE_TIMEOUT_SECONDS = 60.0
LIVES_LIMIT = 12
"""Lives that may change something after the planned deaths; who needs more never settles."""


def carry_out(
    subject: Subject,
    plan: CrashPlan,
    directory: Path,
    *,
    kill: Kill = Kill.EXIT86,
    supervised: bool = False,
    more_lives: int = 1,
    timeout_seconds: float = LIFE_TIMEOUT_SECONDS,
) -> ScenarioRun:
    """Open the subject, kill its first lives as planned, then resume until nothing changes.

    It counts as settled when `more_lives` undisturbed lives in a row have changed nothing.

    A life that should have died and did not, or died elsewhere, makes the run invalid; one that
    ended by itself without coming to its crash point leaves that point unreached. Raises
    `SubjectRestless` where resuming changes something for ever.
    """
    subject.open(directory)
    seen: list[LifeSeen] = []
    invalid: str | None = None
    unreached: str | None = None
    for point in plan.points:
        death = Death(point, kill, supervised)
        life = run_life(
            subject.argv(directory, len(seen) + 1, death),
            timeout_seconds=timeout_seconds,
            kill_at_witness=supervised,
        )
        seen.append(_seen(life, str(point)))
        if _ended_by_itself(life):
            unreached = unreached or str(point)
        else:
            invalid = invalid or verify_kill(life, point, kill)
    observation = _settle(subject, directory, seen, more_lives, timeout_seconds)
    return ScenarioRun(
        subject=subject.name,
        plan=str(plan),
        kill=str(kill),
        lives=tuple(seen),
        observation=observation,
        invalid=invalid,
        unreached=unreached,
    )


def _ended_by_itself(life: Life) -> bool:
    crashed = life.exit.kind != "exit" or life.exit.code == CRASH_STATUS
    return not (life.witnesses or life.timed_out or crashed)


def _settle(
    subject: Subject,
    directory: Path,
    seen: list[LifeSeen],
    more_lives: int,
    timeout_seconds: float,
) -> Observation:
    """Resume until `more_lives` lives in a row change nothing; return what there is to see."""
    before: Observation | None = None
    unchanged = 0
    for _ in range(LIVES_LIMIT + more_lives):
        life = run_life(
            subject.argv(directory, len(seen) + 1, None), timeout_seconds=timeout_seconds
        )
        seen.append(_seen(life, None))
        after = subject.observe(directory)
        unchanged = unchanged + 1 if after == before else 0
        if unchanged == more_lives:
            return after
        before = after
    raise SubjectRestless(subject.name, LIVES_LIMIT)


def _seen(life: Life, planned: str | None) -> LifeSeen:
    witness = life.witnesses[0] if life.witnesses else None
    return LifeSeen(
        pid=life.pid,
        exit=life.exit.to_json(),
        planned=planned,
        witnessed=f"{witness.boundary}#{witness.ordinal}" if witness else None,
        timed_out=life.timed_out,
        orphans=life.orphans,
        stdout=life.stdout,
        stderr=life.stderr,
    )
