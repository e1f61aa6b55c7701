"""The demo: two workflows, one crash each, and a resume that never guesses.

Both children die at the same crash point, after the tool's commit and before the journal's
acknowledgement unless told otherwise. One workflow has an idempotency key; the other has neither
key nor lookup. Whatever the demo states it has measured: wait statuses come from the kernel, and
effects from the ledger's file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from resumeproof.crash.kill import Kill
from resumeproof.crash.plan import Boundary, CrashPlan, CrashPoint
from resumeproof.crash.process import ChildExit
from resumeproof.domain.action import parse_action
from resumeproof.domain.contract import ToolContract
from resumeproof.domain.observation import ScenarioRun
from resumeproof.errors import ReconciliationRequired, ResumeproofError
from resumeproof.evidence.contents import read_contents
from resumeproof.evidence.lanes import Glyphs, Lanes
from resumeproof.evidence.receipt import (
    RECEIPT_NAME,
    TIMELINE_NAME,
    ScenarioEvidence,
    pictures,
    write_evidence,
)
from resumeproof.evidence.report import REPORT_NAME, write_report
from resumeproof.evidence.verify import verify
from resumeproof.lab.subject import JOURNAL_NAME, LEDGER_NAME, Case, LabSubject, Times
from resumeproof.proof.scenario import carry_out
from resumeproof.runtime.session import driving, resume
from resumeproof.stores.sqlite_journal import SqliteJournal
from resumeproof.stores.sqlite_ledger import SqliteLedger

MORE_RESUMES: Final = 5
FILES: Final = tuple(sorted((RECEIPT_NAME, REPORT_NAME, TIMELINE_NAME, JOURNAL_NAME, LEDGER_NAME)))
"""What a demo leaves behind, and nothing else."""

IDEMPOTENT: Final = Case(
    name="idempotent",
    action=parse_action(
        b'{"tool": "charge_card", "arguments": '
        b'{"amount_cents": 4200, "currency": "EUR", "order": "order-1001"}}'
    ),
    contract=ToolContract("charge_card", idempotent=True),
    key="order-1001-charge",
)
NON_IDEMPOTENT: Final = Case(
    name="non_idempotent",
    action=parse_action(
        b'{"tool": "send_message", "arguments": '
        b'{"text": "Your order order-1001 is on its way", "to": "customer-17"}}'
    ),
    contract=ToolContract("send_message"),
    key=None,
)


@dataclass(frozen=True)
class Outcome:
    """What a workflow comes to. `replayed` is that of the acknowledged receipt, if there is one."""

    status: str
    effects: int
    replayed: bool | None


_DONE: Final = Outcome("completed", 1, replayed=False)
_REPLAYED: Final = Outcome("completed", 1, replayed=True)
_WITH_KEY: Final = MappingProxyType(
    {
        Boundary.CLAIM_BEFORE: _DONE,
        Boundary.CLAIM_AFTER: _DONE,
        Boundary.TOOL_BEFORE: _DONE,
        Boundary.TOOL_AFTER: _REPLAYED,
        Boundary.ACK_BEFORE: _REPLAYED,
        Boundary.ACK_AFTER: _DONE,
    }
)
_WITHOUT_KEY: Final = MappingProxyType(
    {
        Boundary.CLAIM_BEFORE: _DONE,
        Boundary.CLAIM_AFTER: Outcome("unknown", 0, replayed=None),
        Boundary.TOOL_BEFORE: Outcome("unknown", 0, replayed=None),
        Boundary.TOOL_AFTER: Outcome("unknown", 1, replayed=None),
        Boundary.ACK_BEFORE: Outcome("unknown", 1, replayed=None),
        Boundary.ACK_AFTER: _DONE,
    }
)
"""What a tool with neither key nor lookup comes to, by where its driver died: the journal cannot
tell the four in the middle apart, and the ledger shows that two of them differ from the others."""


@dataclass(frozen=True)
class Fact:
    """Something that the demo states, as it ought to be and as it was measured."""

    what: str
    expected: object
    found: object

    @property
    def holds(self) -> bool:
        return self.expected == self.found


@dataclass(frozen=True)
class DemoResult:
    """What one demo left behind, and whether it was what it should be."""

    directory: Path
    receipt: dict[str, Any]
    scenarios: tuple[ScenarioEvidence, ...]
    facts: tuple[Fact, ...]

    @property
    def broken(self) -> tuple[Fact, ...]:
        return tuple(fact for fact in self.facts if not fact.holds)


def run_demo(
    directory: Path,
    *,
    point: CrashPoint,
    kill: Kill,
    times: Times,
    progress: Callable[[str], None],
    cases: Sequence[Case] = (IDEMPOTENT, NON_IDEMPOTENT),
) -> DemoResult:
    """Carry out both scenarios in `directory`, write the evidence, and check every fact.

    A SIGKILL comes from a supervisor, from outside; exit 86 is the child's own. A fact that is
    not as it should be is in the result; what keeps the demo from being carried out is raised.
    """
    journal, ledger = directory / JOURNAL_NAME, directory / LEDGER_NAME
    scenarios: list[ScenarioEvidence] = []
    facts: list[Fact] = []
    for case in cases:
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
        scenarios.append(ScenarioEvidence(subject.workflow_id, run, in_force(run)))
        facts += _facts_of_processes(case, run, kill)
        if not (run.invalid or run.unreached):
            facts.append(_resumed_again(subject, directory, run))
        # A life that found nothing to do has left what the dead one left: -wal and lock file.
        with driving(subject.site(directory, len(run.lives) + 1)):
            pass
    receipt = write_evidence(directory, journal=journal, ledger=ledger, scenarios=scenarios)
    write_report(directory / REPORT_NAME, receipt)
    facts += _facts_of_stores(cases, point, receipt)
    facts.append(Fact("the evidence holds", "verified", _verified(directory)))
    facts.append(Fact("the files", ", ".join(FILES), _listed(directory)))
    return DemoResult(directory, receipt, tuple(scenarios), tuple(facts))


def picture_of(result: DemoResult, glyphs: Glyphs, lanes: Lanes) -> str:
    """The picture of both workflows; with `UNICODE` and `WIDE` what `timeline.txt` holds."""
    with (
        SqliteJournal.open_reader(result.directory / JOURNAL_NAME) as journal,
        SqliteLedger.open_reader(result.directory / LEDGER_NAME) as ledger,
    ):
        return pictures(read_contents(journal, ledger), ledger, result.scenarios, glyphs, lanes)


def in_force(run: ScenarioRun) -> dict[str, dict[str, str]] | None:
    """The durability settings that the first life found in force, as it told before it died.

    None where it did not come so far.
    """
    try:
        told: dict[str, dict[str, dict[str, str]]] = json.loads(
            run.lives[0].stdout.partition("\n")[0]
        )
    except ValueError:
        return None
    return told.get("durability")


def _facts_of_processes(case: Case, run: ScenarioRun, kill: Kill) -> Iterator[Fact]:
    name, (first, *others) = case.name, run.lives
    said = first.stderr.strip().rpartition("\n")[2]
    missed = f"{run.unreached} was never reached ({said})" if run.unreached else None
    resumed = ", ".join(life.exit["text"] for life in others)
    orphans = sum(len(life.orphans) for life in run.lives)
    yield Fact(f"{name}: the kill was as planned", "yes", run.invalid or missed or "yes")
    yield Fact(f"{name}: the child's exit", ChildExit.of(kill.returncode).text, first.exit["text"])
    yield Fact(f"{name}: the resume's exit", "exit 0", resumed)
    yield Fact(f"{name}: processes left behind", 0, orphans)


def _resumed_again(subject: LabSubject, directory: Path, run: ScenarioRun) -> Fact:
    """Resume what has settled, again and again: whatever it came to, it must stay at that."""
    for more in range(MORE_RESUMES):
        with suppress(ReconciliationRequired):
            resume(subject.site(directory, len(run.lives) + 1 + more), subject.workflow_id)
    again = subject.observe(directory)
    return Fact(f"{subject.name}: after {MORE_RESUMES} more resumes", run.observation, again)


def _facts_of_stores(
    cases: Sequence[Case], point: CrashPoint, receipt: dict[str, Any]
) -> Iterator[Fact]:
    expected = [_expected(case, point) for case in cases]
    for case, due, workflow in zip(cases, expected, receipt["workflows"], strict=True):
        receipt_of = workflow["receipt"] or {"replayed": None}
        yield Fact(f"{case.name}: status after the resume", due.status, workflow["status"])
        yield Fact(f"{case.name}: effects in the ledger", due.effects, workflow["effects"])
        yield Fact(f"{case.name}: its receipt", _told(due.replayed), _told(receipt_of["replayed"]))
    effects = sum(outcome.effects for outcome in expected)
    yield Fact("effects in all", effects, receipt["totals"]["effects"])


def _told(replayed: bool | None) -> str:
    return "none acknowledged" if replayed is None else f"replayed: {str(replayed).lower()}"


def _expected(case: Case, point: CrashPoint) -> Outcome:
    table = _WITH_KEY if case.contract.idempotent else _WITHOUT_KEY
    return table[Boundary(point.boundary)]


def _listed(directory: Path) -> str:
    return ", ".join(sorted(each.name for each in directory.iterdir()))


def _verified(directory: Path) -> str:
    try:
        verified = verify(directory)
    except ResumeproofError as error:
        return str(error)
    return "; ".join(verified.extended) or "verified"
