"""Whether a receipt file agrees with itself, above all in its account of the processes.

No database proves what it tells of lives and deaths, so that is held against the only runs that are
evidence of anything: every planned kill happened as planned, and every life that was left alone
ended well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from resumeproof.errors import EvidenceBroken

_ENDED_WELL = {"code": 0, "kind": "exit", "text": "exit 0"}
_EXIT86 = {"code": 86, "kind": "exit", "text": "exit 86"}
_SIGKILL = {"code": 9, "kind": "signal", "text": "signal 9 (SIGKILL)"}
_TERMINATED = {"code": 15, "kind": "exit", "text": "exit 15"}  # TerminateProcess has no signal.


def check_account(receipt: Mapping[str, Any], path: str) -> None:
    """Raises `EvidenceBroken` for the first thing that does not agree. The shape holds already."""
    stated = [workflow["id"] for workflow in receipt["workflows"]]
    told = [scenario["workflow_id"] for scenario in receipt["scenarios"]]
    if told != stated:
        detail = f"it tells of workflows {told}, and those of the journal are {stated}"
        raise EvidenceBroken(path, "scenarios", detail)
    registered = {row["workflow_id"] for row in receipt["ledger"]["registrations"]}
    for workflow_id in stated:
        if workflow_id not in registered:
            raise EvidenceBroken(path, f"the registration of workflow {workflow_id}", "not stated")
    on_windows = receipt["environment"]["platform"] == "win32"
    for index, scenario in enumerate(receipt["scenarios"]):
        problem = _problem(scenario, _TERMINATED if on_windows else _SIGKILL)
        if problem is not None:
            member, detail = problem
            raise EvidenceBroken(path, f"scenarios/{index}/{member}", detail)


def _problem(scenario: Mapping[str, Any], killed: Mapping[str, Any]) -> tuple[str, str] | None:
    lives = scenario["lives"]
    if len(lives) != len(scenario["pids"]):
        return "pids", f"{len(scenario['pids'])} pids for {len(lives)} lives"
    if scenario["child_exit"] != lives[0]["exit"]:
        return "child_exit", f"the first life ended with {lives[0]['exit']['text']}"
    planned = [life["planned"] for life in lives if life["planned"] is not None]
    if scenario["plan"] != (";".join(planned) or "baseline"):
        return "plan", f"it is {scenario['plan']!r}, the lives were planned to die at {planned}"
    if scenario["durability"] is None:
        return "durability", "no life came so far as to tell what was in force"
    death = _EXIT86 if scenario["kill"] == "exit86" else killed
    return _problem_of_lives(lives, death)


def _problem_of_lives(
    lives: Sequence[Mapping[str, Any]], death: Mapping[str, Any]
) -> tuple[str, str] | None:
    for number, life in enumerate(lives):
        if life["witnessed"] != life["planned"]:
            detail = f"planned {life['planned']}, and the witness is of {life['witnessed']}"
            return f"lives/{number}/witnessed", detail
        due = _ENDED_WELL if life["planned"] is None else death
        for member, wanted in due.items():
            if life["exit"][member] != wanted:
                detail = f"it says {life['exit'][member]!r}, and was to be {wanted!r}"
                return f"lives/{number}/exit/{member}", detail
    return None
