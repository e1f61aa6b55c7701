"""Everything that two stores hold, read once and as of one moment, for whoever audits it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from resumeproof.domain.inspection import Stored
from resumeproof.errors import EvidenceBroken, StoreUnavailable, WorkflowNotFound
from resumeproof.stores.protocols import OpenJournal, Place
from resumeproof.stores.sqlite import Database
from resumeproof.stores.sqlite_ledger import SqliteLedger
from resumeproof.stores.sqlite_ledger_rows import Effect, FencedLookup, Invocation

READS_AT_MOST = 5


@dataclass(frozen=True, slots=True)
class Identity:
    """Which store it is, and when it was made."""

    path: Path
    id: str
    created_at: str


@dataclass(frozen=True, slots=True)
class Contents:
    """Both stores, row by row, each table in its order.

    `numbers` are the workflows' places in the order of creation; `registrations` are rows of the
    ledger's table of that name.
    """

    journal: Identity
    ledger: Identity
    workflows: tuple[Stored, ...]
    numbers: tuple[int, ...]
    registrations: tuple[Mapping[str, Any], ...]
    effects: tuple[Effect, ...]
    invocations: tuple[Invocation, ...]
    lookups: tuple[FencedLookup, ...]

    def as_of(self, workflows: Sequence[int], tables: Mapping[str, int]) -> Contents:
        """What there was before: as many records of each workflow, as many rows of each table.

        Both stores only ever grow at their ends. `workflows` has the number of records of each,
        in order, and `tables` the number of rows by the ledger's table.
        """
        return replace(
            self,
            workflows=tuple(
                replace(stored, records=stored.records[:length])
                for stored, length in zip(self.workflows, workflows, strict=False)
            ),
            registrations=self.registrations[: tables["registrations"]],
            effects=self.effects[: tables["effects"]],
            invocations=self.invocations[: tables["invocations"]],
            lookups=self.lookups[: tables["lookups"]],
        )


def read_contents(journal: OpenJournal, ledger: SqliteLedger) -> Contents:
    """Read both stores as of one moment.

    They share no transaction, so the ledger is read between two looks at the journal: what reached
    the tool was claimed in the journal before, and is acknowledged there after. Raises
    `JournalDamaged` for a row of an impossible type, `EvidenceBroken` for an id that is no text,
    `StoreUnavailable` for a journal that keeps changing.
    """
    for _ in range(READS_AT_MOST):
        # Every commit changes a revision. PRAGMA data_version would not do: a -wal that a death
        # left empty is read anew by each query, and counts as changed each time.
        before = journal.places()
        contents = _read(journal, ledger, before)
        if journal.places() == before:
            return contents
    raise StoreUnavailable("journal", str(journal.path), "it keeps changing while it is read")


def _read(journal: OpenJournal, ledger: SqliteLedger, places: Sequence[Place]) -> Contents:
    workflows = tuple(_workflow(journal, str(place.workflow_id)) for place in places)
    database = ledger.database
    with database.snapshot():
        return Contents(
            journal=Identity(journal.path, journal.journal_id, journal.created_at),
            ledger=Identity(ledger.path, ledger.ledger_id, _created_at(database)),
            workflows=workflows,
            numbers=tuple(place.number for place in places),
            registrations=tuple(
                dict(row) for row in database.rows("SELECT * FROM registrations ORDER BY rowid")
            ),
            effects=tuple(ledger.effects()),
            invocations=tuple(ledger.invocations()),
            lookups=tuple(ledger.lookups()),
        )


def _created_at(ledger: Database) -> str:
    rows = ledger.rows("SELECT one, created_at FROM ledger")
    if [row["one"] for row in rows] != [1]:
        raise EvidenceBroken(
            str(ledger.path), "table ledger", "it has not one row, whose number is 1"
        )
    return str(rows[0]["created_at"])


def _workflow(journal: OpenJournal, workflow_id: str) -> Stored:
    try:
        return journal.load(workflow_id)
    except WorkflowNotFound as error:
        # Its row is there: what cannot be asked for is an id that is no longer UTF-8.
        what, detail = f"the id of workflow {workflow_id!r}", "it is not UTF-8 text"
        raise EvidenceBroken(str(journal.path), what, detail) from error
