"""The lab's own subject: a single-call workflow on two stores, driven by child processes."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from resumeproof.crash.kill import Kill
from resumeproof.domain.action import Action
from resumeproof.domain.contract import ToolContract
from resumeproof.domain.instant import format_instant, parse_instant
from resumeproof.domain.observation import Observation
from resumeproof.domain.status import Event
from resumeproof.domain.workflow import Workflow
from resumeproof.lab.life import LifeSpecification
from resumeproof.proof.subject import Death
from resumeproof.runtime.creation import Terms
from resumeproof.runtime.operations import approve, hold
from resumeproof.runtime.programs import TOOL_CALL
from resumeproof.runtime.session import Site, create_workflow, writing
from resumeproof.stores.sqlite_journal import SqliteJournal
from resumeproof.stores.sqlite_ledger import SqliteLedger

JOURNAL_NAME = "workflow-journal.sqlite3"
LEDGER_NAME = "simulated-tool-ledger.sqlite3"


@dataclass(frozen=True)
class Times:
    """Virtual time: when the scenario starts, how far its clock steps, and how much time lies
    between two lives. `start` None stands for the real clock and real ids.
    """

    start: str | None
    step_seconds: float = 0.001
    between_lives_seconds: float = 60.0


@dataclass(frozen=True)
class Case:
    """What the workflow is: its action, its tool's promises, and its limits."""

    name: str
    action: Action
    contract: ToolContract
    key: str | None
    max_retries: int = 3
    max_recoveries: int = 5
    fail_before: int = 0
    retry_base_seconds: float = 0.0


class LabSubject:
    """One workflow in the lab's two stores. `seed` fixes its ids where time is virtual."""

    def __init__(self, case: Case, times: Times, *, actor: str = "lab") -> None:
        self.case = case
        self._times = times
        self._actor = actor
        self.workflow_id = ""

    @property
    def name(self) -> str:
        return self.case.name

    def open(self, directory: Path) -> None:
        """Create and approve the workflow, beside whatever else the stores hold."""
        site = self.site(directory, 0)
        case = self.case
        workflow = create_workflow(
            site,
            program=TOOL_CALL,
            action=case.action,
            contract=case.contract,
            fail_before=case.fail_before,
            terms=lambda ledger_id: Terms(
                ledger_id=ledger_id,
                contract=case.contract,
                key=case.key,
                max_retries=case.max_retries,
                max_recoveries=case.max_recoveries,
                retry_base_seconds=case.retry_base_seconds,
            ),
        )
        self.workflow_id = workflow.id
        with writing(site, workflow.id) as journal:
            approve(journal, site.clock, workflow.id, actor=self._actor)

    def argv(self, directory: Path, life: int, death: Death | None) -> list[str]:
        """The command of the `life`-th life (from 1)."""
        specification = self._specification(directory, life)
        if death is not None:
            specification = replace(
                specification,
                crash_point=str(death.point),
                kill=str(death.kill),
                supervised=death.supervised,
            )
        return [sys.executable, "-m", "resumeproof.lab.life", specification.to_json()]

    def site(self, directory: Path, life: int) -> Site:
        """Where the `life`-th life works, for whoever resumes without a process of its own."""
        return self._specification(directory, life).site()

    def observe(self, directory: Path) -> Observation:
        """What journal and ledger say now."""
        with (
            SqliteJournal.open_reader(directory / JOURNAL_NAME) as journal,
            SqliteLedger.open_reader(directory / LEDGER_NAME) as ledger,
        ):
            held = hold(journal, self.workflow_id)
            workflow: Workflow = held.workflow
            return Observation(
                status=str(workflow.status),
                reason=workflow.reason,
                effects=len(list(ledger.effects(self.workflow_id))),
                invocations=len(list(ledger.invocations(self.workflow_id))),
                attempts=workflow.attempts,
                retries=workflow.retries,
                recoveries=workflow.recoveries,
                acknowledgements=sum(
                    record.event == Event.EFFECT_ACKNOWLEDGED for record in held.stored.records
                ),
            )

    def _specification(self, directory: Path, life: int) -> LifeSpecification:
        times = self._times
        specification = LifeSpecification(
            journal=str(directory / JOURNAL_NAME),
            ledger=str(directory / LEDGER_NAME),
            workflow_id=self.workflow_id,
            kill=Kill.EXIT86,
        )
        if times.start is None:
            return specification
        start = parse_instant(times.start) + timedelta(seconds=life * times.between_lives_seconds)
        return replace(
            specification,
            clock_start=format_instant(start),
            clock_step_seconds=times.step_seconds,
            seed=f"{self.name}:{life}",
        )
