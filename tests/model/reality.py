"""The same operations on real stores, by processes that really die."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from resumeproof.crash.witness import WitnessReader
from resumeproof.domain.action import parse_action
from resumeproof.domain.instant import format_instant
from resumeproof.errors import ResumeproofError
from resumeproof.lab.life import LifeSpecification
from resumeproof.lab.subject import JOURNAL_NAME, LEDGER_NAME, Case, LabSubject, Times
from resumeproof.runtime.clock import Clock
from resumeproof.runtime.operations import (
    Resolution,
    approve,
    cancel,
    hold,
    reconcile,
    replace_action,
)
from resumeproof.runtime.session import writing
from resumeproof.stores.protocols import Journal
from resumeproof.stores.sqlite_journal import SqliteJournal
from tests.model.contracts import Kind
from tests.model.host import RAISED_STATUS
from tests.model.ledger import instant
from tests.model.life import Observed
from tests.model.operations import (
    Approve,
    Cancel,
    Operation,
    Reconcile,
    Replace,
    Resume,
    Script,
    Seen,
    Wait,
)
from tests.model.world import TICK_SECONDS

ROOT = Path(__file__).parents[2]
ACTIONS = {number: parse_action(b'{"amount_cents": %d}' % number) for number in (1, 2)}


class Ended(NamedTuple):
    """How one life ended: its refusal, its wait status, and its own witnesses."""

    refusal: str | None
    returncode: int
    witness: tuple[str, ...]


class Host:
    """The process that forks the lives; with a `bug`, all of them have it. A context manager.

    `kills` counts the lives that died at each boundary, by the witness that they wrote.
    """

    def __init__(self, bug: str | None = None) -> None:
        self.kills: Counter[str] = Counter()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.model.host", *([bug] if bug else [])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._process.communicate()

    def live(self, specification: LifeSpecification) -> Ended:
        """Fork a life, and return when it is dead and reaped."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(specification.to_json() + "\n")
        self._process.stdin.flush()
        told: dict[str, Any] = json.loads(self._process.stdout.readline())
        # An exception that nobody foresaw is no divergence of the protocol.
        assert told["returncode"] != RAISED_STATUS, "a life raised; standard error says what"
        witnesses = [
            seen
            for seen in WitnessReader().feed(told["witness"].encode())
            if seen.pid == told["pid"]
        ]
        self.kills.update(seen.boundary for seen in witnesses)
        *_, last = map(json.loads, told["output"].splitlines() or ["{}"])
        return Ended(
            last.get("error"),
            told["returncode"],
            tuple(f"{seen.boundary}#{seen.ordinal}" for seen in witnesses),
        )


class Reality:
    """One workflow in two stores of its own, approved. Time stands still but for `Wait`."""

    def __init__(self, kind: Kind, script: Script, directory: Path, host: Host) -> None:
        self._directory, self._host = directory, host
        self._now_seconds = 0
        self._seeds = count(1)
        case = Case(
            "model",
            ACTIONS[1],
            kind.contract,
            kind.key,
            max_retries=script.max_retries,
            max_recoveries=script.max_recoveries,
            fail_before=script.fail_before,
        )
        self._subject = LabSubject(case, Times(format_instant(instant(0)), step_seconds=0))
        self._subject.open(directory)

    def after(self, operation: Operation) -> Seen:
        """Do it, and look."""
        match operation:
            case Wait(ticks):
                self._now_seconds += ticks * TICK_SECONDS
                return self._seen()
            case Resume(crash_at, _, kill):
                specification = self._specification(
                    crash_point=operation.point if crash_at else None, kill=str(kill)
                )
                ended = self._host.live(specification)
                return self._seen()._replace(**ended._asdict())
            case decision:
                refusal = self._refused(decision)
                return self._seen()._replace(refusal=refusal)

    def _specification(self, **death: Any) -> LifeSpecification:
        """One process's world: the present instant, and ids that no other process has."""
        return LifeSpecification(
            journal=str(self._directory / JOURNAL_NAME),
            ledger=str(self._directory / LEDGER_NAME),
            workflow_id=self._subject.workflow_id,
            clock_start=format_instant(instant(self._now_seconds)),
            seed=str(next(self._seeds)),
            **death,
        )

    def _refused(self, decision: Approve | Replace | Cancel | Reconcile) -> str | None:
        site, workflow_id = self._specification().site(), self._subject.workflow_id
        try:
            with writing(site, workflow_id) as journal:
                _decide(decision, journal, site.clock, workflow_id)
        except ResumeproofError as error:
            return error.code
        return None

    def _seen(self) -> Seen:
        found = self._subject.observe(self._directory)
        with SqliteJournal.open_reader(self._directory / JOURNAL_NAME) as journal:
            in_doubt = hold(journal, self._subject.workflow_id).workflow.in_doubt
        observed = Observed(*(getattr(found, name) for name in Observed._fields))
        if observed.reason is not None:
            # Of a scripted failure the model does not say which it was.
            observed = observed._replace(reason=observed.reason.partition(" failure ")[0])
        return Seen(observed, in_doubt, found.acknowledgements)


def _decide(
    decision: Approve | Replace | Cancel | Reconcile,
    journal: Journal,
    clock: Clock,
    workflow_id: str,
) -> None:
    match decision:
        case Approve():
            approve(journal, clock, workflow_id, actor="operator")
        case Replace(action):
            replace_action(journal, clock, workflow_id, action=ACTIONS[action])
        case Cancel():
            cancel(journal, clock, workflow_id)
        case Reconcile(applied):
            resolution = (
                Resolution.CONFIRMED_APPLIED if applied else Resolution.CONFIRMED_NOT_APPLIED
            )
            reconcile(journal, clock, workflow_id, resolution=resolution, actor="operator", note="")
