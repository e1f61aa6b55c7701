"""What goes wrong for people who resume after a crash, and does not here."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from resumeproof.crash.kill import Kill
from resumeproof.crash.plan import CrashPlan, CrashPoint
from resumeproof.domain.action import parse_action
from resumeproof.lab.subject import JOURNAL_NAME, LabSubject
from resumeproof.proof.scenario import carry_out
from resumeproof.proof.subject import Death
from resumeproof.runtime.lock import Owner, lock_path, probe
from tests.cli.desk import Desk
from tests.crash.scenarios import VIRTUAL, lab_subject

SINCE = "2026-01-01T00:00:00.000000Z"


# -- the status says running long after the worker died --------------------------------------


@pytest.mark.parametrize("kill", Kill)
def test_a_dead_driver_is_said_to_be_gone(kill: Kill, directory: Path) -> None:
    desk = Desk(directory)
    workflow_id = desk.crashed("--key", "k1", kill=kill)
    this = ("--workflow", workflow_id)
    (listed,) = desk.done("list", "--status", "running")["workflows"]
    shown = [desk.done("show", *this), desk.done("timeline", *this)["workflow"], listed]
    told = [desk.run(*words, "--format", "text").stdout for words in (["list"], ["show", *this])]
    assert (
        [(each["status"], each["driver"]) for each in shown],
        ["its driver is gone" in text for text in told],
    ) == ([("running", {"alive": False})] * 3, [True] * 2)


# -- a stored pid outlives its owner ---------------------------------------------------------


def test_a_recycled_pid_in_the_lock_file_keeps_nobody_out(directory: Path) -> None:
    desk = Desk(directory)
    workflow_id = desk.crashed("--key", "k1", kill="sigkill")
    journal = directory / JOURNAL_NAME
    dead = probe(journal).owner
    assert dead is not None
    record = json.dumps(Owner(os.getpid(), SINCE, dead.token).__dict__).encode()
    content = lock_path(journal).read_bytes()
    lock_path(journal).write_bytes(b" " + record.ljust(len(content) - 2) + b"\n")
    ran = desk.run("resume", "--workflow", workflow_id, "--lock-timeout", "0")
    assert (ran.status, ran.document["status"]) == (0, "completed")


# -- same key, other payload -----------------------------------------------------------------


def keyed(name: str, amount_cents: int) -> LabSubject:
    """A workflow with a key and a tool that others have, too."""
    action = {"tool": "charge_card", "arguments": {"amount_cents": amount_cents}}
    case = replace(lab_subject("idempotent").case, name=name)
    return LabSubject(replace(case, action=parse_action(json.dumps(action).encode())), VIRTUAL)


CONFLICTS = {
    "same payload": (1, "baseline", ("completed", None, 0, 1, 1)),
    "other payload": (2, "baseline", ("failed", "key_conflict", 0, 1, 1)),
    # Its first call was refused, and it died before it could say so: a replay proves nothing new.
    "other payload and a crash": (2, "tool:after", ("unknown", "key_conflict", 0, 2, 2)),
}


@pytest.mark.parametrize(("amount_cents", "plan", "ended"), CONFLICTS.values(), ids=CONFLICTS)
def test_a_key_stands_for_one_payload(
    amount_cents: int,
    plan: str,
    ended: tuple[str, str | None, int, int, int],
    directory: Path,
) -> None:
    first, second = keyed("first", 1), keyed("second", amount_cents)
    carry_out(first, CrashPlan(), directory)
    run = carry_out(second, CrashPlan.parse(plan), directory)
    found = run.observation
    assert (
        (found.status, found.reason, found.effects, found.invocations, found.attempts),
        run.invalid or run.unreached,
        first.observe(directory).effects,
    ) == (ended, None, 1)


# -- a crash loop never counts ---------------------------------------------------------------


def poisoned(
    contract: str, deaths: int, max_recoveries: int, directory: Path
) -> tuple[object, ...]:
    """What becomes of a workflow whose drivers die behind the tool, `deaths` times in a row."""
    plan = CrashPlan((CrashPoint("tool:after"),) * deaths)
    run = carry_out(lab_subject(contract, max_recoveries=max_recoveries), plan, directory)
    found = run.observation
    return (
        run.invalid or run.unreached,
        (found.status, found.reason, found.effects),
        (found.invocations, found.attempts, found.recoveries),
    )


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_as_many_deaths_in_a_row_as_allowed_park_a_workflow(limit: int, directory: Path) -> None:
    assert poisoned("idempotent", limit, limit, directory) == (
        None,
        ("unknown", "recovery_limit", 1),
        (limit, limit, limit),
    )


@pytest.mark.parametrize("limit", [2, 5])
def test_one_death_less_than_allowed_does_not(limit: int, directory: Path) -> None:
    assert poisoned("idempotent", limit - 1, limit, directory) == (
        None,
        ("completed", None, 1),
        (limit, limit, limit - 1),
    )


def test_lookups_that_die_count_as_well(directory: Path) -> None:
    assert poisoned("consistent", 3, 3, directory) == (
        None,
        ("unknown", "recovery_limit", 1),
        (1, 3, 3),
    )


# -- a kill that never fired -----------------------------------------------------------------


class Liar(LabSubject):
    """Dies another death than it was told to."""

    def __init__(self, instead: Death) -> None:
        super().__init__(lab_subject("idempotent").case, VIRTUAL)
        self._instead = instead

    def argv(self, directory: Path, life: int, death: Death | None) -> list[str]:
        return super().argv(directory, life, self._instead if death else None)


@pytest.mark.parametrize("planned", ["tool:after#2", "append#1:before"])
def test_a_kill_that_never_fired_is_said_to_be_unreached(planned: str, directory: Path) -> None:
    run = carry_out(lab_subject("idempotent"), CrashPlan.parse(planned), directory)
    point = str(CrashPoint.parse(planned))
    assert (run.invalid, run.unreached, run.lives[0].witnessed) == (None, point, None)


OTHER_DEATHS = {
    "another place": (
        Death(CrashPoint("claim:after"), Kill.EXIT86, supervised=False),
        "planned tool:after#1, but the witness is of claim:after#1",
    ),
    "another kill": (
        Death(CrashPoint("tool:after"), Kill.SIGKILL, supervised=False),
        "planned exit 86 at tool:after#1, but it was signal 9 (SIGKILL)",
    ),
    "by nobody's hand": (
        # It holds still for a supervisor, and there is none: its standard input is at its end.
        Death(CrashPoint("tool:after"), Kill.EXIT86, supervised=True),
        "planned exit 86 at tool:after#1, but it was exit 70",
    ),
}


@pytest.mark.parametrize(("instead", "reason"), OTHER_DEATHS.values(), ids=OTHER_DEATHS)
def test_another_death_than_the_planned_one_is_invalid(
    instead: Death, reason: str, directory: Path
) -> None:
    run = carry_out(Liar(instead), CrashPlan.parse("tool:after"), directory)
    assert (run.invalid, run.unreached) == (reason, None)
