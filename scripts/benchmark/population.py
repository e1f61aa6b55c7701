"""Stores with many workflows, as the kernel would have left them, in a small part of its time.

One workflow of each kind is really driven, in scratch stores. All others are copies of it with
ids, keys, sequences and hashes of their own, written through the schema's checks and triggers.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Final

from resumeproof.domain.action import Action, parse_action
from resumeproof.domain.contract import ToolContract
from resumeproof.domain.instant import format_instant
from resumeproof.domain.receipt import Answer, Receipt, ToolCall
from resumeproof.domain.record import GENESIS, Record
from resumeproof.domain.status import Status
from resumeproof.errors import ToolUnreachable
from resumeproof.runtime.clock import SystemClock
from resumeproof.runtime.creation import Terms
from resumeproof.runtime.driver import drive
from resumeproof.runtime.identity import RandomIdentity
from resumeproof.runtime.operations import approve
from resumeproof.runtime.programs import TOOL_CALL
from resumeproof.runtime.session import Site, create_workflow, driving, writing
from resumeproof.stores.sqlite import Database
from resumeproof.stores.sqlite_journal import SqliteJournal
from resumeproof.stores.sqlite_ledger import SqliteLedger

ACTION: Final[Action] = parse_action(
    b'{"tool": "charge_card", "arguments": '
    b'{"amount_cents": 4200, "currency": "EUR", "order": "order-1001"}}'
)
UNKNOWN_COUNT: Final = 5
"""How many workflows are `unknown`, however many there are in all."""

_WORKFLOWS_PER_COMMIT: Final = 5_000

_NAMING: Final = frozenset({"id", "workflow_id", "key", "facts", "receipt_id", "receipt_hash"})
"""The columns that name a workflow, its key or its receipt."""

Row = dict[str, Any]
Names = dict[str, str]


def site_in(directory: Path) -> Site:
    """Two stores in `directory`, with the real clock and real ids."""
    return Site(
        directory / "journal.sqlite3", directory / "ledger.sqlite3", SystemClock(), RandomIdentity()
    )


def workflow_id_of(ordinal: int) -> str:
    return f"wf_{ordinal:032x}"


def status_of(ordinal: int) -> Status:
    """A few are `unknown`; then `approved` and `completed` take turns."""
    if ordinal < UNKNOWN_COUNT:
        return Status.UNKNOWN
    return Status.APPROVED if ordinal % 2 else Status.COMPLETED


def workflow_ids(status: Status, count: int) -> list[str]:
    """The ids of the workflows of one status, of `count` workflows."""
    return [workflow_id_of(ordinal) for ordinal in range(count) if status_of(ordinal) is status]


def populate(site: Site, count: int) -> None:
    """Make both stores of `site`, with `count` workflows in them."""
    with tempfile.TemporaryDirectory(prefix="resumeproof-bench-") as scratch:
        originals = _originals(site_in(Path(scratch)))
    at = format_instant(site.clock.now())
    ledger_id = str(originals[Status.APPROVED].workflow["ledger_id"])
    SqliteLedger.create(site.ledger, ledger_id=ledger_id, created_at=at)
    SqliteJournal.create(site.journal, journal_id=site.identity.new_id("journal"), created_at=at)
    copies = _copies(originals, range(count))
    with (
        SqliteLedger.open(site.ledger, now=site.clock.now, new_id=site.identity.new_id) as ledger,
        SqliteJournal.open(site.journal) as journal,
    ):
        for database in (journal.database, ledger.database):
            database.execute("PRAGMA synchronous=OFF")
        while batch := list(islice(copies, _WORKFLOWS_PER_COMMIT)):
            with ledger.database.transaction() as database:
                for table in ("registrations", "effects", "invocations"):
                    _insert(database, table, (row for copy in batch for row in copy.tables[table]))
            with journal.database.transaction() as database:
                for table in ("workflows", "timeline"):
                    _insert(database, table, (row for copy in batch for row in copy.tables[table]))


def _insert(database: Database, table: str, rows: Iterable[Row]) -> None:
    columns = [row["name"] for row in database.rows(f"PRAGMA table_info({table})")]
    places = ", ".join("?" * len(columns))
    database.execute_many(
        f"INSERT INTO {table} VALUES ({places})",
        ([row[column] for column in columns] for row in rows),
    )


# -- the originals ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Original:
    """The rows of one workflow in both stores, by table."""

    tables: Mapping[str, Sequence[Row]]

    @property
    def workflow(self) -> Row:
        return self.tables["workflows"][0]


class _Unreachable:
    """A tool whose answers never arrive."""

    def call(self, call: ToolCall) -> Answer:
        raise ToolUnreachable(call.workflow_id, "it never answers")

    def lookup(self, call: ToolCall) -> Receipt | None:
        raise ToolUnreachable(call.workflow_id, "it never answers")


OUT_OF_REACH: Final = _Unreachable()


def _originals(site: Site) -> dict[Status, Original]:
    keyed = ToolContract("charge_card", idempotent=True)
    ids = {
        Status.APPROVED: _approved(site, keyed, _key(0)),
        Status.COMPLETED: _approved(site, keyed, _key(1)),
        Status.UNKNOWN: _approved(site, ToolContract("charge_card"), None),
    }
    with driving(site) as engine:
        drive(engine, ids[Status.COMPLETED])
        with suppress(ToolUnreachable):
            drive(replace(engine, tool=OUT_OF_REACH), ids[Status.UNKNOWN])
        drive(engine, ids[Status.UNKNOWN])
    with (
        SqliteJournal.open_reader(site.journal) as journal,
        SqliteLedger.open_reader(site.ledger) as ledger,
    ):
        return {
            status: _original(journal.database, ledger.database, workflow_id)
            for status, workflow_id in ids.items()
        }


def _approved(site: Site, contract: ToolContract, key: str | None) -> str:
    workflow = create_workflow(
        site,
        program=TOOL_CALL,
        action=ACTION,
        contract=contract,
        fail_before=0,
        terms=lambda ledger_id: Terms(ledger_id, contract, key),
    )
    with writing(site, workflow.id) as journal:
        approve(journal, site.clock, workflow.id, actor="bench")
    return workflow.id


def _key(ordinal: int) -> str:
    return f"order-{ordinal:08d}-charge"


def _original(journal: Database, ledger: Database, workflow_id: str) -> Original:
    places = (
        (journal, "workflows", "id"),
        (journal, "timeline", "workflow_id"),
        (ledger, "registrations", "workflow_id"),
        (ledger, "effects", "workflow_id"),
        (ledger, "invocations", "workflow_id"),
    )
    return Original(
        {
            table: [
                dict(row)
                for row in database.rows(
                    f"SELECT * FROM {table} WHERE {column} = ?", (workflow_id,)
                )
            ]
            for database, table, column in places
        }
    )


# -- the copies ------------------------------------------------------------------------------


def _copies(originals: Mapping[Status, Original], ordinals: range) -> Iterator[Original]:
    effects = 0
    for ordinal in ordinals:
        original = originals[status_of(ordinal)]
        effects += len(original.tables["effects"])
        yield _copy(original, ordinal, effects)


def _copy(original: Original, ordinal: int, effect_sequence: int) -> Original:
    """A copy of a workflow; `effect_sequence` is that of its effect, if it has one."""
    workflow = original.workflow
    names = {workflow["id"]: workflow_id_of(ordinal)}
    if workflow["key"] is not None:
        names[workflow["key"]] = _key(ordinal)
    numbers = {"number": ordinal + 1}
    for effect in original.tables["effects"]:
        numbers |= {"sequence": effect_sequence, "effect_sequence": effect_sequence}
        names |= _effect_names(effect, workflow["ledger_id"], names, effect_sequence)
    tables = {
        table: [_changed(row, names, numbers if table != "timeline" else {}) for row in rows]
        for table, rows in original.tables.items()
    }
    tables["timeline"] = list(_chained(tables["timeline"]))
    tables["workflows"][0]["head_hash"] = tables["timeline"][-1]["hash"]
    return Original(tables)


def _effect_names(effect: Row, ledger_id: str, names: Names, sequence: int) -> Names:
    """What the copy of an effect is called, there and in the acknowledgement's receipt."""
    receipt_id = f"receipt_{sequence:032x}"
    new = _changed(effect, names, {"sequence": sequence, "receipt_id": receipt_id})
    receipt = Receipt.from_json(new | {"ledger_id": ledger_id, "hash": ""})
    return {
        effect["receipt_id"]: receipt_id,
        effect["receipt_hash"]: receipt.recomputed_hash(),
        f'"sequence":{effect["sequence"]},': f'"sequence":{sequence},',
    }


def _changed(row: Row, names: Names, values: Row) -> Row:
    """A row with other names in its texts, and other values in the columns that it has."""
    changed = row | {
        column: value for column, value in values.items() if row.get(column) is not None
    }
    for column in _NAMING & row.keys():
        if column not in values and row[column] is not None:
            for old, new in names.items():
                changed[column] = changed[column].replace(old, new)
    return changed


def _chained(timeline: Iterable[Row]) -> Iterator[Row]:
    previous = GENESIS
    for row in timeline:
        record = Record(
            workflow_id=row["workflow_id"],
            sequence=row["sequence"],
            event=row["event"],
            at=row["at"],
            facts_text=row["facts"],
            previous=previous,
            hash="",
        )
        hash_ = record.recomputed_hash()
        yield row | {"previous": previous, "hash": hash_}
        previous = hash_
