"""The demo: two workflows, one crash each, and a resume that never guesses.

Both children die at the same crash point, after the tool's commit and before the journal's
acknowledgement unless told otherwise. One workflow has an idempotency key; the other has neither
key nor lookup. Whatever the demo states it has measured: wait statuses come from the kernel, and
effects from the ledger's file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from resumeproof.crash.kill import Kill
from resumeproof.crash.plan import Boundary, CrashPlan, CrashPoint
from resumeproof.crash.process import ChildExit
from resumeproof.domain.action import parse_action
from resumeproof.domain.contract import ToolContract
from resumeproof.domain.observation import Observation, ScenarioRun
from resumeproof.errors import OutputNotEmpty, ReconciliationRequired, StoreUnavailable
from resumeproof.evidence.receipt import ScenarioEvidence, write_evidence
from resumeproof.lab.subject import JOURNAL_NAME, LEDGER_NAME, Case, LabSubject, Times
from resumeproof.proof.scenario import carry_out
from resumeproof.runtime.session import resume

DEFAULT_DIRECTORY = "resumeproof-demo"
MORE_RESUMES = 5

_IDEMPOTENT = Case(
    name="idempotent",
    action=parse_action(
        b'{"tool": "charge_card", "arguments": '
        b'{"amount_cents": 4200, "currency": "EUR", "order": "order-1001"}}'
    ),
    contract=ToolContract("charge_card", idempotent=True),
    key="order-1001-charge",
)
_NON_IDEMPOTENT = Case(
    name="non_idempotent",
    action=parse_action(
        b'{"tool": "send_message", "arguments": '
        b'{"text": "Your order order-1001 is on its way", "to": "customer-17"}}'
    ),
    contract=ToolContract("send_message"),
    key=None,
)

_WITHOUT_KEY = MappingProxyType(
    {
        Boundary.CLAIM_BEFORE: ("completed", 1),
        Boundary.CLAIM_AFTER: ("unknown", 0),
        Boundary.TOOL_BEFORE: ("unknown", 0),
        Boundary.TOOL_AFTER: ("unknown", 1),
        Boundary.ACK_BEFORE: ("unknown", 1),
        Boundary.ACK_AFTER: ("completed", 1),
    }
)
"""Status and effects of a tool with neither key nor lookup, by where its driver died."""


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that the demo states, as it ought to be and as it was measured."""

    what: str
    expected: object
    found: object

    @property
    def holds(self) -> bool:
        return self.expected == self.found


@dataclass(frozen=True, slots=True)
class DemoResult:
    """What one demo left behind, and whether it was what it should be."""

    directory: Path
    receipt: dict[str, Any]
    timeline: str
    facts: tuple[Fact, ...]

    @property
    def broken(self) -> tuple[Fact, ...]:
        return tuple(fact for fact in self.facts if not fact.holds)


def claim_directory(named: Path | None) -> Path:
    """Make the output directory, or take an empty one; None takes the next free default name.

    Raises `OutputNotEmpty`, since evidence is never overwritten, and `StoreUnavailable`.
    """
    if named is not None:
        return _new_or_empty(named)
    number = 1
    while True:
        candidate = Path(DEFAULT_DIRECTORY if number == 1 else f"{DEFAULT_DIRECTORY}-{number}")
        try:
            return _new_or_empty(candidate)
        except OutputNotEmpty:
            number += 1


def _new_or_empty(directory: Path) -> Path:
    try:
        directory.mkdir(exist_ok=True)
        if any(directory.iterdir()):
            raise OutputNotEmpty(str(directory))
    except FileExistsError as error:
        raise OutputNotEmpty(str(directory)) from error
    except OSError as error:
        raise StoreUnavailable("output directory", str(directory), str(error)) from error
    return directory


def run_demo(
    directory: Path,
    *,
    point: CrashPoint,
    kill: Kill,
    times: Times,
    progress: Callable[[str], None],
) -> DemoResult:
    """Carry out both scenarios in `directory`, write the evidence, and check every fact.

    A SIGKILL comes from a supervisor, from outside; exit 86 is the child's own.
    """
    runs: list[ScenarioEvidence] = []
    facts: list[Fact] = []
    for case in (_IDEMPOTENT, _NON_IDEMPOTENT):
        subject = LabSubject(case, times)
        progress(f"{case.name}: a child process runs, dies at {point} and is resumed")
        run = carry_out(
            subject,
            CrashPlan((point,)),
            directory,
            kill=kill,
            supervised=kill is Kill.SIGKILL,
            more_lives=0,
        )
        runs.append(ScenarioEvidence(subject.workflow_id, run, in_force(run)))
        facts += _facts(case, run, point, kill)
        facts.append(_resumed_again(subject, directory, run))
    receipt, timeline = write_evidence(
        directory, journal=directory / JOURNAL_NAME, ledger=directory / LEDGER_NAME, scenarios=runs
    )
    totals = receipt["totals"]
    facts.append(_total_fact("effects", runs, totals))
    return DemoResult(directory, receipt, timeline, tuple(facts))


def _facts(case: Case, run: ScenarioRun, point: CrashPoint, kill: Kill) -> list[Fact]:
    seen, name = run.observation, case.name
    status, effects = _expected(case, point)
    return [
        Fact(f"{name}: the kill was as planned", None, run.invalid or run.unreached),
        Fact(f"{name}: the child's exit", ChildExit.of(kill.returncode).text, _died(run)),
        Fact(f"{name}: status after the resume", status, seen.status),
        Fact(f"{name}: effects in the ledger", effects, seen.effects),
        Fact(f"{name}: acknowledgements", int(status == "completed"), seen.acknowledgements),
    ]


def _resumed_again(subject: LabSubject, directory: Path, run: ScenarioRun) -> Fact:
    """Resume what has settled, again and again: whatever it came to, it must stay at that."""
    for more in range(MORE_RESUMES):
        with suppress(ReconciliationRequired):
            resume(subject.site(directory, len(run.lives) + 1 + more), subject.workflow_id)
    again = subject.observe(directory)
    return Fact(f"{subject.name}: after {MORE_RESUMES} more resumes", run.observation, again)


def in_force(run: ScenarioRun) -> dict[str, dict[str, str]]:
    """The durability settings that the first life found in force, as it told before it died."""
    told: dict[str, dict[str, str]] = json.loads(run.lives[0].stdout.partition("\n")[0])[
        "durability"
    ]
    return told


def _died(run: ScenarioRun) -> str:
    return str(run.lives[0].exit["text"])


def _expected(case: Case, point: CrashPoint) -> tuple[str, int]:
    if case.contract.idempotent:
        return "completed", 1
    return _WITHOUT_KEY[Boundary(point.boundary)]


def _total_fact(what: str, runs: Sequence[ScenarioEvidence], totals: dict[str, Any]) -> Fact:
    observations: list[Observation] = [scenario.run.observation for scenario in runs]
    return Fact(f"{what} in all", sum(seen.effects for seen in observations), totals[what])
