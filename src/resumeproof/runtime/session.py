"""Opening the stores in the right order, under the driver lock, and leaving each as one file.

Whether anything will be written is decided read-only first: a path that does not exist, a file
that is not ours, a workflow that ended or that is refused leaves no lock file and no changed byte.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from resumeproof.domain.action import Action
from resumeproof.domain.command import Program
from resumeproof.domain.contract import ToolContract
from resumeproof.domain.decision import Refuse, Return
from resumeproof.domain.instant import format_instant
from resumeproof.domain.recovery import decide
from resumeproof.domain.status import ENDED, Status
from resumeproof.domain.workflow import Workflow
from resumeproof.errors import (
    JournalBusy,
    ReconciliationRequired,
    ResumeproofError,
    StoreUnavailable,
    UsageRefused,
    WrongLedger,
)
from resumeproof.runtime.clock import Clock
from resumeproof.runtime.creation import Terms, create
from resumeproof.runtime.driver import drive, hold_of_ledger
from resumeproof.runtime.engine import Engine
from resumeproof.runtime.health import Counter, Health
from resumeproof.runtime.identity import Identity
from resumeproof.runtime.kernel import facts_of
from resumeproof.runtime.lock import DriverLock, lock_path
from resumeproof.runtime.operations import hold
from resumeproof.runtime.preflight import refuse_unfit_paths, refuse_unfit_to_create
from resumeproof.runtime.programs import PROGRAMS, Programs
from resumeproof.runtime.rehearsal import RehearsedJournal
from resumeproof.stores.companions import beside
from resumeproof.stores.journals import (
    create_journal,
    format_of,
    open_journal,
    open_journal_writer,
)
from resumeproof.stores.place import resolved
from resumeproof.stores.protocols import Journal, JournalFormat, OpenJournal, Tool
from resumeproof.stores.sqlite_ledger import SqliteLedger

LOCK_TIMEOUT_SECONDS = 10.0

Made = TypeVar("Made")

Wrap = Callable[[OpenJournal, SqliteLedger], tuple[Journal, Tool]]
"""What stands between a driver and its two stores; the proof puts its faults here."""


def unwrapped(journal: OpenJournal, ledger: SqliteLedger) -> tuple[Journal, Tool]:
    return journal, ledger


@dataclass(frozen=True, slots=True)
class Site:
    """Where a driver works: its two stores, its clock, its identity, its patience."""

    journal: Path
    ledger: Path
    clock: Clock
    identity: Identity
    lock_timeout_seconds: float = LOCK_TIMEOUT_SECONDS
    programs: Programs = field(default_factory=lambda: PROGRAMS)

    def ledger_id(self) -> str:
        with SqliteLedger.open_reader(self.ledger) as ledger:
            return ledger.ledger_id


@contextmanager
def _locked(site: Site) -> Iterator[str]:
    """Hold the driver lock; yields the token that identifies its holder."""
    token = site.identity.new_id("driver")
    lock = DriverLock(site.journal, token=token, started_at=format_instant(site.clock.now()))
    with lock.acquire(site.lock_timeout_seconds):
        yield token


@contextmanager
def _readable(site: Site, workflow_id: str) -> Iterator[Journal]:
    """The journal, open to be read, of a workflow of the site's ledger. Raises `WrongLedger`."""
    refuse_unfit_paths(site.journal, site.ledger)
    with open_journal(site.journal) as journal:
        workflow, ledger_id = hold(journal, workflow_id, site.programs).workflow, site.ledger_id()
        if workflow.ledger_id != ledger_id:
            raise WrongLedger(workflow_id, workflow.ledger_id, ledger_id)
        yield journal


@contextmanager
def writing(site: Site, workflow_id: str) -> Iterator[Journal]:
    """The journal, open for one operator's change of a workflow of the site's ledger."""
    with _readable(site, workflow_id):
        pass
    with _locked(site), _journal_writer(site) as journal:
        yield journal


def change(site: Site, workflow_id: str, make: Callable[[Journal], Made]) -> Made:
    """Make one operator's change of a workflow, under the driver lock.

    It is rehearsed first on what can be read: a change that is refused writes nothing. So `make`
    is called twice, and does nothing but change the journal it is given.
    """
    with _readable(site, workflow_id) as journal:
        make(RehearsedJournal(journal))
    with _locked(site), _journal_writer(site) as journal:
        return make(journal)


@contextmanager
def driving(site: Site, wrap: Wrap = unwrapped) -> Iterator[Engine]:
    """Both stores, open for a driver that holds the lock."""
    with ExitStack() as stack:
        token = stack.enter_context(_locked(site))
        ledger = stack.enter_context(_open_ledger(site))
        journal = stack.enter_context(_journal_writer(site))
        wrapped_journal, wrapped_tool = wrap(journal, ledger)
        yield Engine(
            journal=wrapped_journal,
            tool=wrapped_tool,
            ledger_id=ledger.ledger_id,
            clock=site.clock,
            identity=site.identity,
            health=Health(site.journal, site.clock),
            token=token,
            programs=site.programs,
            register=partial(ledger.register, fail_before=0),
        )


def _journal_writer(site: Site) -> OpenJournal:
    health = Health(site.journal, site.clock)
    return open_journal_writer(site.journal, report=partial(health.count, Counter.CUT_OFF))


def _open_ledger(site: Site) -> SqliteLedger:
    return SqliteLedger.open(site.ledger, now=site.clock.now, new_id=site.identity.new_id)


def create_workflow(
    site: Site,
    *,
    program: Program,
    action: Action,
    contract: ToolContract,
    fail_before: int,
    terms: Callable[[str], Terms],
    journal_format: JournalFormat | None = None,
) -> Workflow:
    """Create a workflow, and the stores where there are none yet.

    The contract is registered in the ledger first: a workflow whose tool nobody knows must not
    exist. `terms` is given the ledger's id. Raises `UsageRefused` where the journal that is there
    is of another format than `journal_format`; a new one is SQLite, if nothing else is asked for.
    """
    found = format_of(site.journal)
    if journal_format not in (None, found or journal_format):
        raise UsageRefused(f"journal {site.journal} is there already, and its format is {found}")
    refuse_unfit_to_create(site.journal, site.ledger)
    workflow_id = site.identity.new_id("wf")
    with _locked(site):
        at = format_instant(site.clock.now())
        SqliteLedger.create(site.ledger, ledger_id=site.identity.new_id("ledger"), created_at=at)
        create_journal(
            site.journal,
            journal_format or JournalFormat.SQLITE,
            journal_id=site.identity.new_id("journal"),
            created_at=at,
        )
        with _open_ledger(site) as ledger, _journal_writer(site) as journal:
            ledger.register(workflow_id, contract, fail_before=fail_before)
            return create(
                journal,
                site.clock,
                workflow_id=workflow_id,
                program=program,
                action=action,
                terms=terms(ledger.ledger_id),
            )


@contextmanager
def _reading(site: Site) -> Iterator[Engine]:
    """Both stores, open to be read: what a driver would decide can be told, and nothing done."""
    refuse_unfit_paths(site.journal, site.ledger)
    with (
        open_journal(site.journal) as journal,
        SqliteLedger.open_reader(site.ledger) as ledger,
    ):
        yield Engine(
            journal=journal,
            tool=ledger,
            ledger_id=ledger.ledger_id,
            clock=site.clock,
            identity=site.identity,
            health=Health(site.journal, site.clock),
            token="",
            programs=site.programs,
        )


def _peek(engine: Engine, workflow_id: str) -> Workflow | None:
    """The workflow, if it can be returned as it is; None if a driver must look.

    Raises what the recovery table refuses with.
    """
    held = hold_of_ledger(engine, workflow_id)
    decision = decide(facts_of(held, engine))
    if isinstance(decision, Refuse):
        raise decision.error
    return held.workflow if isinstance(decision, Return) else None


def resume(site: Site, workflow_id: str, wrap: Wrap = unwrapped) -> Workflow:
    """Resume one workflow as far as it goes, and return it. Raises what `drive` raises.

    A workflow that ended, or that is refused, is returned or refused without writing anything; only
    a log that a death left beside a store is folded into it, so that the store is one file again.
    """
    try:
        with _reading(site) as engine:
            workflow = _peek(engine, workflow_id)
    except ReconciliationRequired:
        _bring_to_rest(site)
        raise
    if workflow is not None:
        _bring_to_rest(site)
        return workflow
    with driving(site, wrap) as engine:
        return drive(engine, workflow_id)


def _bring_to_rest(site: Site) -> None:
    """Let the last one to close a store do what a dead one could not.

    Whoever drives now does it anyway, and who may only read need not.
    """
    logs = [beside(resolved(store), "-wal") for store in (site.journal, site.ledger)]
    if any(left.exists() for left in (*logs, lock_path(site.journal))):
        with (
            suppress(JournalBusy, StoreUnavailable),
            driving(replace(site, lock_timeout_seconds=0.0)),
        ):
            pass


def unfinished(site: Site) -> list[str]:
    """The ids of all workflows that have not ended: by status, each in order of creation."""
    with open_journal(site.journal) as journal:
        return [
            str(stored.row["id"])
            for status in Status
            if status not in ENDED
            for stored in journal.rows(status)
        ]


def resume_each(
    site: Site, workflow_ids: list[str]
) -> Iterator[tuple[str, Workflow | ResumeproofError]]:
    """Resume workflows one after the other; one's refusal does not stop the next.

    Those that need no driver come first, and where none needs one nothing is written. The others
    are driven under one lock; without it `JournalBusy` is raised, and none of them is.
    """
    to_drive = []
    with _reading(site) as engine:
        for workflow_id in workflow_ids:
            try:
                workflow = _peek(engine, workflow_id)
            except ResumeproofError as error:
                yield workflow_id, error
            else:
                if workflow is None:
                    to_drive.append(workflow_id)
                else:
                    yield workflow_id, workflow
    if not to_drive:
        return
    with driving(site) as engine:
        for workflow_id in to_drive:
            try:
                yield workflow_id, drive(engine, workflow_id)
            except ResumeproofError as error:
                yield workflow_id, error
