"""What a ledger's rows refuse, how damage shows in them, and what it costs to find them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import fields
from pathlib import Path

import pytest

from resumeproof.domain.canonical import digest_of
from resumeproof.domain.contract import Lookup, ToolContract
from resumeproof.domain.receipt import Receipt
from resumeproof.errors import Fenced, ResumeproofError, StoreRefused, ToolNotRegistered
from resumeproof.stores.sqlite_ledger import SqliteLedger
from tests.unit.stores.ledgers import (
    CONSISTENT,
    CREATED_AT,
    EIGHT,
    EVENTUAL,
    IDEMPOTENT,
    SEVEN,
    Clock,
    asked,
    created,
    expiring,
    numbered,
    says,
)
from tests.unit.stores.toy import files, is_at_rest

TABLES = ("ledger", "registrations", "effects", "invocations", "lookups")


def opened(path: Path) -> SqliteLedger:
    return SqliteLedger.open(path, now=Clock(), new_id=numbered())


@pytest.fixture(scope="module")
def two_of_each(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = created(tmp_path_factory.mktemp("two-of-each") / "ledger.sqlite3")
    with opened(path) as ledger:
        for workflow_id in ("wf-1", "wf-2"):
            ledger.register(workflow_id, CONSISTENT, fail_before=0)
            ledger.call(asked(workflow_id))
            ledger.lookup(asked(workflow_id, 2))
    return path.read_bytes()


@pytest.fixture
def path(tmp_path: Path, two_of_each: bytes) -> Path:
    """A ledger at rest, with two rows in each table but `ledger`."""
    path = tmp_path / "ledger.sqlite3"
    path.write_bytes(two_of_each)
    return path


def by_hand(path: Path, *statements: str) -> None:
    """Change a ledger at rest as somebody would who wants to."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for (trigger,) in connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'trigger'"
        ).fetchall():
            connection.execute(f"DROP TRIGGER {trigger}")
        connection.execute("PRAGMA ignore_check_constraints=ON")
        for statement in statements:
            connection.execute(statement)


# -- the file ---------------------------------------------------------------------------------


def test_file_says_what_it_is(path: Path) -> None:
    header = path.read_bytes()[:100]
    assert (header[68:72], int.from_bytes(header[60:64], "big"), is_at_rest(path)) == (
        b"RPLG",
        1,
        True,
    )


def test_ledger_that_exists_is_not_created_again(path: Path) -> None:
    before = files(path.parent)
    assert not SqliteLedger.create(path, ledger_id="ledger-2", created_at=CREATED_AT)
    assert files(path.parent) == before


def test_ledger_without_its_id_is_refused_and_left_at_rest(path: Path) -> None:
    by_hand(path, "DELETE FROM ledger")
    with pytest.raises(StoreRefused) as raised:
        opened(path)
    assert (raised.value.reason, is_at_rest(path)) == ("it has no id", True)


def test_reader_reads_all_and_writes_nothing(path: Path) -> None:
    with opened(path) as ledger:
        expected = says(ledger)
    before = files(path.parent)
    with SqliteLedger.open_reader(path) as ledger:
        read = (ledger.ledger_id, ledger.registration("wf-1"), says(ledger))
        for write in (
            lambda: ledger.call(asked(attempt=9)),
            lambda: ledger.lookup(asked(attempt=9)),
            lambda: ledger.register("wf-9", IDEMPOTENT, fail_before=0),
        ):
            with pytest.raises((ResumeproofError, ValueError)):
                write()
    assert (read, files(path.parent)) == (("ledger-1", (CONSISTENT, 0), expected), before)


# -- rows that the next call could have written ------------------------------------------------

EFFECT = {
    "sequence": 3,
    "receipt_id": "receipt-3",
    "workflow_id": "wf-1",
    "step": "call",
    "attempt": 3,
    "tool": "charge",
    "key": None,
    "fingerprint": "0" * 64,
    "action": "{}",
    "applied_at": CREATED_AT,
    "receipt_hash": "0" * 64,
}
INVOCATION = {
    "sequence": 3,
    "workflow_id": "wf-1",
    "step": "call",
    "attempt": 3,
    "outcome": "fenced",
    "effect_sequence": None,
    "key": None,
    "fingerprint": "0" * 64,
    "at": CREATED_AT,
}
LOOKUP = {
    "sequence": 3,
    "workflow_id": "wf-1",
    "step": "call",
    "attempt": 3,
    "outcome": "absent",
    "effect_sequence": None,
    "key": "key-1",
    "at": CREATED_AT,
}
REGISTRATION = {
    "workflow_id": "wf-3",
    "tool": "charge",
    "idempotent": 0,
    "key_lifetime_seconds": None,
    "lookup": "none",
    "lookup_lag_seconds": 0.0,
    "fail_before": 0,
    "registered_at": CREATED_AT,
}
ROWS: dict[str, dict[str, object]] = {
    "effects": EFFECT,
    "invocations": INVOCATION,
    "lookups": LOOKUP,
    "registrations": REGISTRATION,
}


def insert(
    connection: sqlite3.Connection, table: str, row: dict[str, object], *, verb: str = "INSERT"
) -> None:
    connection.execute(
        f"{verb} INTO {table} VALUES ({', '.join('?' * len(row))})", list(row.values())
    )


# -- append-only ------------------------------------------------------------------------------

REFUSED = {
    f"{table}-{name}": statement.format(table=table)
    for table in TABLES
    for name, statement in {
        "update": "UPDATE {table} SET rowid = rowid",
        "update-or-replace": "UPDATE OR REPLACE {table} SET rowid = 1",
        "delete": "DELETE FROM {table}",
        "insert": "INSERT INTO {table} SELECT * FROM {table} LIMIT 1",
        "insert-or-replace": "INSERT OR REPLACE INTO {table} SELECT * FROM {table}",
        "insert-or-ignore": "INSERT OR IGNORE INTO {table} SELECT * FROM {table}",
    }.items()
}
NOT_NEW = {
    "effects-receipt_id": ("effects", {"receipt_id": "receipt-1"}),
    "effects-attempt": ("effects", {"attempt": 1}),
    "effects-gap": ("effects", {"sequence": 4}),
    "invocations-attempt": ("invocations", {"attempt": 1}),
    "invocations-gap": ("invocations", {"sequence": 4}),
    "lookups-attempt": ("lookups", {"attempt": 2}),
    "lookups-gap": ("lookups", {"sequence": 4}),
    "registrations-workflow_id": ("registrations", {"workflow_id": "wf-1"}),
}


@contextmanager
def refused_as_append_only(path: Path, recursive_triggers: str) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA recursive_triggers={recursive_triggers}")
        before = list(connection.iterdump())
        with pytest.raises(sqlite3.IntegrityError, match="is append-only"):
            yield connection
        assert list(connection.iterdump()) == before


@pytest.mark.parametrize("recursive", ["ON", "OFF"], ids="recursive-triggers-{}".format)
@pytest.mark.parametrize("statement", REFUSED.values(), ids=REFUSED.keys())
def test_rows_are_neither_changed_nor_replaced(path: Path, statement: str, recursive: str) -> None:
    with refused_as_append_only(path, recursive) as connection:
        connection.execute(statement)


@pytest.mark.parametrize("recursive", ["ON", "OFF"], ids="recursive-triggers-{}".format)
@pytest.mark.parametrize(("table", "changes"), NOT_NEW.values(), ids=NOT_NEW.keys())
def test_row_is_appended_last_and_replaces_none(
    path: Path, table: str, changes: dict[str, object], recursive: str
) -> None:
    with refused_as_append_only(path, recursive) as connection:
        insert(connection, table, ROWS[table] | changes, verb="INSERT OR REPLACE")


# -- checks -----------------------------------------------------------------------------------


@pytest.mark.parametrize("table", ROWS)
def test_row_that_makes_sense_is_taken(path: Path, table: str) -> None:
    with opened(path) as ledger:
        insert(ledger.database.connection, table, ROWS[table])


@pytest.mark.parametrize(
    ("table", "changes"),
    [
        ("effects", {"workflow_id": "wf-9"}),
        ("effects", {"attempt": 0}),
        ("effects", {"attempt": 2**53}),
        ("effects", {"attempt": "third"}),
        ("effects", {"fingerprint": "0" * 63}),
        ("effects", {"fingerprint": "G" * 64}),
        ("effects", {"receipt_hash": "A" * 64}),
        ("effects", {"applied_at": "2026-01-02T03:04:05Z"}),
        ("effects", {"action": b"{}"}),
        ("invocations", {"workflow_id": "wf-9"}),
        ("invocations", {"outcome": "hoped"}),
        ("invocations", {"outcome": "applied"}),
        ("invocations", {"effect_sequence": 1}),
        ("invocations", {"outcome": "replayed", "effect_sequence": 9}),
        ("lookups", {"key": None}),
        ("lookups", {"outcome": "found"}),
        ("lookups", {"effect_sequence": 1}),
        ("lookups", {"outcome": "found", "effect_sequence": 9}),
        ("registrations", {"key_lifetime_seconds": 60.0}),
        ("registrations", {"idempotent": 1, "key_lifetime_seconds": 0.0}),
        ("registrations", {"idempotent": 2}),
        ("registrations", {"lookup": "sometimes"}),
        ("registrations", {"lookup": "consistent", "lookup_lag_seconds": 1.0}),
        ("registrations", {"lookup": "eventual", "lookup_lag_seconds": -1.0}),
        ("registrations", {"fail_before": -1}),
    ],
    ids=lambda value: (
        value if isinstance(value, str) else "-".join(f"{k}={v!r:.12}" for k, v in value.items())
    ),
)
def test_row_that_makes_no_sense_is_refused(
    path: Path, table: str, changes: dict[str, object]
) -> None:
    with opened(path) as ledger, pytest.raises(sqlite3.IntegrityError):
        insert(ledger.database.connection, table, ROWS[table] | changes)


# -- damage -----------------------------------------------------------------------------------


def test_receipt_covers_every_column_but_the_action(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        columns = {row[1] for row in connection.execute("PRAGMA table_info(effects)")}
    covered = {field.name for field in fields(Receipt)} - {"ledger_id", "hash"}
    assert columns == covered | {"receipt_hash", "action"}


DAMAGES = {
    "sequence": "sequence = 9",
    "receipt_id": "receipt_id = 'receipt-9'",
    "workflow_id": "workflow_id = 'wf-2'",
    "step": "step = 'Call'",
    "attempt": "attempt = 3",
    "tool": "tool = 'Charge'",
    "key": "key = 'key-9'",
    "key-gone": "key = NULL",
    "fingerprint": f"fingerprint = '{digest_of(EIGHT)}'",
    "applied_at": "applied_at = '2025-01-02T03:04:05.000000Z'",
    "applied_at-garbled": "applied_at = 'x'",
    "receipt_hash": "receipt_hash = lower(hex(randomblob(32)))",
    "no-utf-8": "receipt_id = CAST(x'72ff' AS TEXT)",
}
ASKS: dict[str, tuple[ToolContract, Callable[[SqliteLedger], Receipt | None]]] = {
    "replay": (expiring(60), lambda ledger: ledger.call(asked(attempt=2)).receipt),
    "consistent": (CONSISTENT, lambda ledger: ledger.lookup(asked(attempt=2))),
    "eventual": (
        ToolContract("charge", lookup=Lookup.EVENTUAL),
        lambda ledger: ledger.lookup(asked(attempt=2)),
    ),
}


@pytest.mark.parametrize(("contract", "ask"), ASKS.values(), ids=ASKS.keys())
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_damaged_effect_is_handed_out_and_never_passes_for_none(
    tmp_path: Path,
    damage: str,
    contract: ToolContract,
    ask: Callable[[SqliteLedger], Receipt | None],
) -> None:
    path = created(tmp_path / "ledger.sqlite3")
    with opened(path) as ledger:
        ledger.register("wf-1", contract, fail_before=0)
        ledger.call(asked())
    by_hand(path, f"UPDATE effects SET {damage}")
    with opened(path) as ledger:
        receipt = ask(ledger)
        assert receipt is not None
        assert (receipt.damage(fingerprint=digest_of(SEVEN)) is None, ledger.effect_count()) == (
            False,
            1,
        )


@pytest.mark.parametrize(("contract", "ask"), ASKS.values(), ids=ASKS.keys())
def test_effect_that_is_gone_is_missed(
    tmp_path: Path, contract: ToolContract, ask: Callable[[SqliteLedger], Receipt | None]
) -> None:
    path = created(tmp_path / "ledger.sqlite3")
    with opened(path) as ledger:
        ledger.register("wf-1", contract, fail_before=0)
        ledger.call(asked())
    by_hand(path, "DELETE FROM effects")
    with opened(path) as ledger:
        before = says(ledger)
        with pytest.raises(StoreRefused) as raised:
            ask(ledger)
        assert (raised.value.reason, says(ledger)) == ("effect 1 is missing", before)


def test_every_receipt_is_damaged_in_a_ledger_with_another_id(path: Path) -> None:
    by_hand(path, "UPDATE ledger SET ledger_id = 'ledger-2'")
    with SqliteLedger.open_reader(path) as ledger:
        assert all(effect.damage for effect in ledger.effects())


def test_changed_action_shows_in_its_own_effect_alone(path: Path) -> None:
    by_hand(path, "UPDATE effects SET action = replace(action, '7', '8') WHERE sequence = 1")
    with SqliteLedger.open_reader(path) as ledger:
        damages = [effect.damage for effect in ledger.effects()]
    assert damages == [f"receipt receipt-1 is of other bytes: {digest_of(SEVEN)}", None]


def test_contract_that_contradicts_itself_is_refused(path: Path) -> None:
    by_hand(path, "UPDATE registrations SET lookup_lag_seconds = 5 WHERE workflow_id = 'wf-1'")
    with opened(path) as ledger, pytest.raises(StoreRefused) as raised:
        ledger.call(asked(attempt=3))
    assert raised.value.reason == "registration of wf-1: only an eventual lookup has a lag"


# -- cost -------------------------------------------------------------------------------------


@pytest.fixture
def measured(tmp_path: Path) -> Iterator[SqliteLedger]:
    with opened(created(tmp_path / "ledger.sqlite3")) as ledger:
        for workflow_id, contract in {
            "idempotent": expiring(60),
            "failing": IDEMPOTENT,
            "consistent": CONSISTENT,
            "eventual": EVENTUAL,
        }.items():
            ledger.register(workflow_id, contract, fail_before=int(workflow_id == "failing"))
        yield ledger


def every_question(ledger: SqliteLedger, attempt: int) -> None:
    """Apply, replay, fail, look up both ways, meet the fence; and read one workflow's rows."""
    ledger.call(asked("idempotent", attempt, key=f"key-{attempt}"))
    ledger.call(asked("idempotent", attempt + 1, key=f"key-{attempt}"))
    if attempt == 1:
        with pytest.raises(ResumeproofError):
            ledger.call(asked("failing"))
    ledger.lookup(asked("consistent", attempt + 1))
    ledger.lookup(asked("eventual", attempt + 1))
    with pytest.raises(Fenced):
        ledger.call(asked("consistent", attempt))
    with pytest.raises(ToolNotRegistered):
        ledger.registration("nobody")
    ledger.register(f"wf-{attempt}", IDEMPOTENT, fail_before=0)
    for read in (ledger.effects, ledger.second_effects, ledger.invocations, ledger.lookups):
        assert len(list(read(f"wf-{attempt}"))) == 0
    assert ledger.effect_count(f"wf-{attempt}") == 0


def test_no_statement_scans_a_table(measured: SqliteLedger) -> None:
    statements: set[str] = set()
    connection = measured.database.connection
    connection.set_trace_callback(statements.add)
    every_question(measured, 1)
    connection.set_trace_callback(None)
    queries = [statement for statement in statements if statement.startswith("SELECT")]
    scans = [
        (query, row["detail"])
        for query in queries
        for row in connection.execute(f"EXPLAIN QUERY PLAN {query}").fetchall()
        if row["detail"].startswith("SCAN") and row["detail"].split()[1] in TABLES
    ]
    assert (len(queries) > 15, scans) == (True, [])


def test_call_costs_the_same_in_a_ledger_many_times_as_large(
    measured: SqliteLedger,
) -> None:
    """In instructions of SQLite's virtual machine, triggers and foreign keys included."""
    connection = measured.database.connection

    def instructions(attempt: int) -> int:
        counted = 0

        def count() -> None:
            nonlocal counted
            counted += 1

        connection.set_progress_handler(count, 1)
        every_question(measured, attempt)
        connection.set_progress_handler(None, 1)
        return counted

    every_question(measured, 1)
    small = instructions(11)
    alike: dict[str, dict[str, object]] = {
        "effects": {"workflow_id": "idempotent"},
        "invocations": {"workflow_id": "idempotent", "outcome": "applied", "effect_sequence": 1},
        "lookups": {"workflow_id": "consistent"},
    }
    with measured.database.transaction():
        for table, row in alike.items():
            last = connection.execute(f"SELECT max(sequence) FROM {table}").fetchone()[0]
            for number in range(last + 1, 1_001):
                own: dict[str, object] = {
                    "sequence": number,
                    "attempt": number + 12,
                    "key": f"crowd-{number}",
                }
                receipt = {"receipt_id": f"crowd-{number}"} if table == "effects" else {}
                insert(connection, table, ROWS[table] | row | own | receipt)
    large = instructions(2_001)
    assert (len(list(measured.invocations())) > 1_000, large < 1.1 * small) == (True, True)
