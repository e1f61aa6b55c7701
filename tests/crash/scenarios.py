"""The scenarios of the crash matrix: a contract, a crash plan, and a way to die.

Virtual time: a minute lies between two lives, in which an eventual lookup's lag is over and the
key that expires has expired.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import combinations, product
from pathlib import Path

from resumeproof.crash.kill import Kill
from resumeproof.crash.plan import CrashPlan
from resumeproof.crash.process import ChildExit
from resumeproof.domain.action import parse_action
from resumeproof.domain.contract import Lookup, ToolContract
from resumeproof.domain.observation import ScenarioRun
from resumeproof.lab.subject import JOURNAL_NAME, LEDGER_NAME, Case, LabSubject, Times
from resumeproof.proof.scenario import carry_out
from tests.crash.expected import Outcome, reckon

ACTION = parse_action(b'{"tool": "charge_card", "arguments": {"amount_cents": 4200}}')
VIRTUAL = Times("2026-01-01T00:00:00.000000Z")

CONTRACTS: Mapping[str, tuple[ToolContract, str | None]] = {
    "idempotent": (ToolContract("charge_card", idempotent=True), "order-1"),
    "none": (ToolContract("charge_card"), None),
    "consistent": (ToolContract("charge_card", lookup=Lookup.CONSISTENT), "order-1"),
    "eventual": (
        ToolContract("charge_card", lookup=Lookup.EVENTUAL, lookup_lag_seconds=10),
        "order-1",
    ),
    "expired": (ToolContract("charge_card", idempotent=True, key_lifetime_seconds=30), "order-1"),
}


class Way(Enum):
    """How a life dies. `SUPERVISED`: it holds still, and is killed from outside."""

    EXIT86 = Kill.EXIT86, False
    SIGKILL = Kill.SIGKILL, False
    SUPERVISED = Kill.SIGKILL, True

    @property
    def exit_text(self) -> str:
        return ChildExit.of(self.value[0].returncode).text


def lab_subject(contract: str, times: Times = VIRTUAL, *, max_recoveries: int = 5) -> LabSubject:
    promise, key = CONTRACTS[contract]
    return LabSubject(Case(contract, ACTION, promise, key, max_recoveries=max_recoveries), times)


@dataclass(frozen=True)
class Scenario:
    contract: str
    plan: CrashPlan
    way: Way

    def __str__(self) -> str:
        return f"{self.contract}-{self.plan}-{self.way.name.lower()}"

    @property
    def reached(self) -> tuple[bool, ...]:
        """Which crash points of the plan a life can come to."""
        return reckon(self.contract, self.plan).reached

    @property
    def values(self) -> tuple[object, ...]:
        """The parameters, of which a sample must hold each pair of values."""
        return self.contract, self.way, *enumerate(self.plan.points)

    def carry_out(self, directory: Path) -> ScenarioRun:
        kill, supervised = self.way.value
        return carry_out(
            lab_subject(self.contract), self.plan, directory, kill=kill, supervised=supervised
        )


Judged = tuple[tuple[str, ...], str | None, Outcome, int, str, bool, str | None]
"""Exits of the lives that were to die; the point that none came to; what the stores say;
acknowledgements; exit of the last life; whether nothing but two stores is left; why the run is
invalid."""


def seen(run: ScenarioRun, directory: Path) -> Judged:
    """All that is judged of a run, as it was found."""
    found = run.observation
    exits = [str(life.exit["text"]) for life in run.lives if life.planned]
    return (
        tuple(exits),
        run.unreached,
        Outcome(
            found.status,
            found.reason,
            found.effects,
            found.invocations,
            found.attempts,
            found.retries,
            found.recoveries,
        ),
        found.acknowledgements,
        str(run.lives[-1].exit["text"]),
        {path.name for path in directory.iterdir()} == {JOURNAL_NAME, LEDGER_NAME},
        run.invalid,
    )


def due(scenario: Scenario, outcome: Outcome) -> Judged:
    """The same, as it must be."""
    reckoned = reckon(scenario.contract, scenario.plan)
    unreached = [
        str(point)
        for point, reached in zip(scenario.plan.points, reckoned.reached, strict=True)
        if not reached
    ]
    completed = outcome.status == "completed"
    return (
        tuple(scenario.way.exit_text if reached else "exit 0" for reached in reckoned.reached),
        unreached[0] if unreached else None,
        outcome,
        int(completed),
        "exit 0" if completed else "exit 4",
        True,
        None,
    )


def uncovered(sample: Sequence[Scenario], full: Iterable[Scenario]) -> set[tuple[object, ...]]:
    """The pairs of values that occur in the full product and not in the sample."""

    def pairs(scenarios: Iterable[Scenario]) -> set[tuple[object, ...]]:
        return {pair for each in scenarios for pair in combinations(each.values, 2)}

    return pairs(full) - pairs(sample)


def every(plans: Iterable[str], ways: Iterable[Way]) -> list[Scenario]:
    """The full product with every contract."""
    parsed = [CrashPlan.parse(plan) for plan in plans]
    return [Scenario(*values) for values in product(CONTRACTS, parsed, ways)]
