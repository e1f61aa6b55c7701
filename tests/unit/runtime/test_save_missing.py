"""What the next driver does with a record whose save is missing: kernel, table and JSON journal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from resumeproof.domain.action import Action
from resumeproof.domain.canonical import canonical_bytes
from resumeproof.domain.contract import ToolContract
from resumeproof.domain.inspection import Stored
from resumeproof.domain.record import Record
from resumeproof.domain.status import Status
from resumeproof.domain.workflow import Workflow
from resumeproof.errors import ReconciliationRequired
from resumeproof.proof.told import (
    CREATED_AT,
    acknowledged,
    approved,
    claimed,
    completed,
    created,
    write,
)
from resumeproof.runtime import operations
from resumeproof.runtime.clock import SystemClock
from resumeproof.runtime.creation import Terms
from resumeproof.runtime.identity import SeededIdentity
from resumeproof.runtime.programs import TOOL_CALL
from resumeproof.runtime.session import Site, change, create_workflow, resume
from resumeproof.runtime.waits import over
from resumeproof.stores.journals import open_journal
from resumeproof.stores.json_journal import JsonJournal
from resumeproof.stores.protocols import Emission, Journal, JournalFormat, JournalTransaction
from resumeproof.stores.sqlite_ledger import SqliteLedger

ACTION = Action.from_canonical(canonical_bytes({"arguments": {"amount": 5}, "tool": "charge"}))


class Stopped(BaseException):
    """What ends a life where it stands, as a death would."""


class Stop:
    """Stops at one call of a journal, before or after it: `append#2:before`."""

    def __init__(self, at: str) -> None:
        self._at = at
        self._calls: dict[str, int] = {}

    def around(self, name: str, call: Callable[[], None]) -> None:
        self._calls[name] = self._calls.get(name, 0) + 1
        self._reach(f"{name}#{self._calls[name]}:before")
        call()
        self._reach(f"{name}#{self._calls[name]}:after")

    def _reach(self, place: str) -> None:
        if place == self._at:
            raise Stopped


class StoppingTransaction:
    def __init__(self, inner: JournalTransaction, stop: Stop) -> None:
        self._inner = inner
        self._stop = stop

    def load(self, workflow_id: str) -> Stored:
        return self._inner.load(workflow_id)

    def append(self, record: Record) -> None:
        self._stop.around("append", lambda: self._inner.append(record))

    def save(self, workflow: Workflow, action: bytes, *, expected_revision: int) -> None:
        self._stop.around(
            "save",
            lambda: self._inner.save(workflow, action, expected_revision=expected_revision),
        )


class StoppingJournal:
    def __init__(self, inner: Journal, stop: Stop) -> None:
        self._inner = inner
        self._stop = stop

    @property
    def path(self) -> Path:
        return self._inner.path

    @contextmanager
    def transaction(self) -> Iterator[JournalTransaction]:
        with self._inner.transaction() as transaction:
            yield StoppingTransaction(transaction, self._stop)

    def load(self, workflow_id: str) -> Stored:
        return self._inner.load(workflow_id)

    def rows(self, status: Status | None = None) -> Iterator[Stored]:
        return self._inner.rows(status)

    def emissions(self, event: str) -> Iterator[Emission]:
        return self._inner.emissions(event)

    def close(self) -> None:
        self._inner.close()


class End(NamedTuple):
    """How it ends, and what it took."""

    status: str
    attempts: int
    recoveries: int
    invocations: int
    save_missing: bool


def site_of(directory: Path, contract: ToolContract) -> tuple[Site, str]:
    """An approved workflow in a JSON journal, and where it is driven."""
    site = Site(directory / "journal", directory / "ledger", SystemClock(), SeededIdentity("seed"))
    workflow_id = create_workflow(
        site,
        program=TOOL_CALL,
        action=ACTION,
        contract=contract,
        fail_before=0,
        terms=lambda ledger_id: Terms(
            ledger_id=ledger_id, contract=contract, key="key-1" if contract.idempotent else None
        ),
        journal_format=JournalFormat.JSON,
    ).id
    approve(site, workflow_id)
    return site, workflow_id


def approve(site: Site, workflow_id: str) -> None:
    change(
        site,
        workflow_id,
        lambda journal: operations.approve(journal, site.clock, workflow_id, actor="ada"),
    )


def ended(site: Site, workflow_id: str) -> End:
    with open_journal(site.journal) as journal, SqliteLedger.open_reader(site.ledger) as ledger:
        held = operations.hold(journal, workflow_id)
        return End(
            str(held.workflow.status),
            held.workflow.attempts,
            held.workflow.recoveries,
            len(list(ledger.invocations(workflow_id))),
            held.stored.save_missing,
        )


COMPLETED = End("completed", attempts=1, recoveries=0, invocations=1, save_missing=False)
REPLAYED = COMPLETED._replace(attempts=2, recoveries=1, invocations=2)
CALLED_AGAIN = COMPLETED._replace(attempts=2, recoveries=1)
UNKNOWN = COMPLETED._replace(status="unknown", recoveries=1)

# The claim: append#1, save#1. The outcome: append#2 and #3, save#2. Its call lies between.
AT_EACH_CALL = {
    "append#1:before": (COMPLETED, COMPLETED),
    "append#1:after": (COMPLETED, COMPLETED),
    "save#1:before": (COMPLETED, COMPLETED),
    "save#1:after": (CALLED_AGAIN, UNKNOWN._replace(invocations=0)),
    "append#2:before": (REPLAYED, UNKNOWN),
    "append#2:after": (COMPLETED, COMPLETED),
    "append#3:before": (COMPLETED, COMPLETED),
    "append#3:after": (COMPLETED, COMPLETED),
    "save#2:before": (COMPLETED, COMPLETED),
    "save#2:after": (COMPLETED, COMPLETED),
}


@pytest.mark.parametrize("idempotent", [True, False], ids=["idempotent", "no-promise"])
@pytest.mark.parametrize(("at", "ends"), AT_EACH_CALL.items(), ids=AT_EACH_CALL)
def test_the_next_driver_finishes_what_was_recorded_and_repeats_nothing(
    tmp_path: Path, at: str, ends: tuple[End, End], idempotent: bool
) -> None:
    site, workflow_id = site_of(tmp_path, ToolContract("charge", idempotent=idempotent))
    stop = Stop(at)
    with pytest.raises(Stopped):
        resume(site, workflow_id, lambda journal, ledger: (StoppingJournal(journal, stop), ledger))
    with suppress(ReconciliationRequired):
        resume(site, workflow_id)
    assert ended(site, workflow_id) == ends[not idempotent]


def test_a_claim_whose_save_is_missing_leaves_the_workflow_to_its_operators(
    tmp_path: Path,
) -> None:
    site, workflow_id = site_of(tmp_path, ToolContract("charge"))
    stop = Stop("save#1:before")
    with pytest.raises(Stopped):
        resume(site, workflow_id, lambda journal, ledger: (StoppingJournal(journal, stop), ledger))
    change(site, workflow_id, lambda journal: operations.cancel(journal, site.clock, workflow_id))
    assert ended(site, workflow_id) == End("cancelled", 0, 0, 0, save_missing=False)


@pytest.mark.parametrize("saved", [True, False], ids=["saved", "save-missing"])
def test_a_parent_goes_on_from_no_end_that_is_not_saved(tmp_path: Path, saved: bool) -> None:
    path = tmp_path / "journal"
    JsonJournal.create(path, journal_id="journal-1", created_at=CREATED_AT)
    running = claimed(approved(created("child")))
    ended_child = completed(acknowledged(running))
    parent = replace(created("w").workflow, waits_for={"kind": "child", "child": "child"})
    with JsonJournal.open(path) as journal:
        write(journal, None, running)
        with journal.transaction() as transaction:
            for record in ended_child.records[len(running.records) :]:
                transaction.append(record)
            if saved:
                transaction.save(
                    ended_child.workflow, ended_child.action.canonical, expected_revision=3
                )
        assert (over(parent, journal, SystemClock()) is not None) is saved
