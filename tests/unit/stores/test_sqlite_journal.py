from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from resumeproof.domain.inspection import inspect
from resumeproof.domain.status import Status
from resumeproof.errors import StoreRefused, StoreUnavailable
from resumeproof.proof.expectation import refusal
from resumeproof.proof.told import CREATED_AT, Told, approved, created, replaced, write, write_all
from resumeproof.stores.opening import open_reader, open_writer
from resumeproof.stores.protocols import Journal
from resumeproof.stores.sqlite import Database
from resumeproof.stores.sqlite_journal import JOURNAL, SqliteJournal
from resumeproof.testing import AtomicJournalContract
from tests.unit.stores.toy import Child, files, is_at_rest


class TestSqliteJournal(AtomicJournalContract):
    journal: Journal

    @pytest.fixture(autouse=True)
    def _opened(self, journal_path: Path) -> Iterator[None]:
        self.journal = SqliteJournal.open(journal_path)
        yield
        self.journal.close()

    def reopen(self) -> SqliteJournal:
        self.journal.close()
        return SqliteJournal.open(self.journal.path)


# -- the file ----------------------------------------------------------------------------------


def test_a_new_journal_says_which_it_is_and_is_empty(journal_path: Path) -> None:
    with SqliteJournal.open_reader(journal_path) as journal:
        assert (journal.journal_id, journal.created_at, list(journal.rows())) == (
            "journal-1",
            CREATED_AT,
            [],
        )


def test_a_journal_bears_its_mark_and_version(journal_path: Path) -> None:
    header = journal_path.read_bytes()[:100]
    assert (header[68:72], header[60:64]) == (b"RPJL", b"\0\0\0\1")


def test_creating_a_journal_again_changes_nothing(journal_path: Path) -> None:
    before = files(journal_path.parent)
    again = SqliteJournal.create(journal_path, journal_id="journal-2", created_at=CREATED_AT)
    assert (again, files(journal_path.parent)) == (False, before)


def test_a_journal_open_for_writing_survives_power_loss(journal_path: Path) -> None:
    with SqliteJournal.open(journal_path) as journal:
        assert (journal.durability.journal_mode, journal.durability.synchronous) == ("wal", "full")


def test_a_closed_journal_is_one_file(journal_path: Path) -> None:
    with SqliteJournal.open(journal_path) as journal:
        write(journal, None, created("w"))
    assert is_at_rest(journal_path)


def test_a_reader_cannot_write(journal_path: Path) -> None:
    before = files(journal_path.parent)
    with SqliteJournal.open_reader(journal_path) as journal:
        error = refusal(lambda: write(journal, None, created("w")))
    assert (type(error), files(journal_path.parent)) == (StoreUnavailable, before)


def test_a_full_disk_undoes_the_commit_and_the_next_one_goes_through(journal_path: Path) -> None:
    database = open_writer(journal_path, JOURNAL)
    with SqliteJournal(database) as journal:
        new = write(journal, None, created("w"))
        after = new
        for amount in range(100):
            after = replaced(after, amount)
        pages = database.connection.execute("PRAGMA page_count").fetchone()[0]
        database.connection.execute(f"PRAGMA max_page_count={pages}")
        error = refusal(lambda: write(journal, new, after))
        left = journal.load("w")
        database.connection.execute("PRAGMA max_page_count=1000000")
        write(journal, new, after)
        assert (type(error), left, journal.load("w")) == (
            StoreUnavailable,
            new.stored,
            after.stored,
        )


@pytest.mark.parametrize(
    "statement",
    [
        pytest.param("DELETE FROM journal", id="no-identity"),
        pytest.param("DROP TABLE journal", id="no-table-of-identities"),
    ],
)
@pytest.mark.parametrize(
    "opened",
    [
        pytest.param(SqliteJournal.open, id="writer"),
        pytest.param(SqliteJournal.open_reader, id="reader"),
    ],
)
def test_a_journal_that_does_not_say_which_it_is_is_refused(
    journal_path: Path, statement: str, opened: Callable[[Path], SqliteJournal]
) -> None:
    with open_writer(journal_path, JOURNAL) as database:
        database.execute("DROP TRIGGER journal_stays")
        database.execute(statement)
    error = refusal(lambda: opened(journal_path))
    assert (type(error), error.facts["path"], is_at_rest(journal_path)) == (
        StoreRefused,
        str(journal_path),
        True,
    )


# -- other processes ---------------------------------------------------------------------------

COMMIT_WHEN_TOLD = """
from resumeproof.stores.sqlite_journal import SqliteJournal
from resumeproof.proof.told import created, replaced, write
with SqliteJournal.open(path) as journal:
    say("open")
    hear()
    write(journal, created("w"), replaced(created("w"), 9900))
    say("committed")
    hear()
"""


@pytest.mark.parametrize(
    "opened", [pytest.param(open_writer, id="writer"), pytest.param(open_reader, id="reader")]
)
def test_a_load_sees_one_moment_though_another_process_commits_in_the_middle_of_it(
    journal_path: Path, opened: Callable[..., Database]
) -> None:
    with SqliteJournal.open(journal_path) as journal:
        new = write(journal, None, created("w"))
    meanwhile: list[str] = []
    with Child(COMMIT_WHEN_TOLD, journal_path) as child:
        child.expect("open")

        def trace(statement: str) -> None:
            if "FROM timeline" in statement and not meanwhile:
                child.tell()
                child.expect("committed")
                meanwhile.append("committed")

        database = opened(journal_path, JOURNAL)
        with SqliteJournal(database) as journal:
            database.connection.set_trace_callback(trace)
            loaded, then = journal.load("w"), journal.load("w")
        child.tell()
        end = child.end()
    assert (end, meanwhile, loaded, then) == (
        (0, "", ""),
        ["committed"],
        new.stored,
        replaced(new, 9900).stored,
    )


PROCESSES, REVISIONS = 8, 6
CONTEND = f"""
from resumeproof.domain.inspection import fold
from resumeproof.errors import Conflict
from resumeproof.stores.sqlite_journal import SqliteJournal
from resumeproof.proof.told import Told, action_of, replaced, write
outcomes = []
with SqliteJournal.open(path) as journal:
    for revision in range(1, {REVISIONS} + 1):
        records = journal.load("w").records[:revision]
        before = Told(fold("w", records).sound(), action_of(0), records)
        say("loaded")
        hear()
        try:
            write(journal, before, replaced(before, int(sys.argv[2])))
            outcomes.append("won")
        except Conflict as conflict:
            outcomes.append(f"{{conflict.expected}}<{{conflict.found}}")
        say("written")
        hear()
say(" ".join(outcomes))
"""


def test_of_eight_processes_at_one_revision_exactly_one_wins(journal_path: Path) -> None:
    with SqliteJournal.open(journal_path) as journal:
        write(journal, None, created("w"))
    with ExitStack() as stack:
        children = [
            stack.enter_context(Child(CONTEND, journal_path, str(number)))
            for number in range(PROCESSES)
        ]
        for _ in range(REVISIONS):
            for word in ("loaded", "written"):
                for child in children:
                    child.expect(word)
                for child in children:
                    child.tell()
        ends = [child.end() for child in children]
    outcomes = zip(*(out.split() for _, out, _ in ends), strict=True)
    with SqliteJournal.open_reader(journal_path) as journal:
        workflow = inspect(journal.load("w")).sound()
    assert (
        [(status, err) for status, _, err in ends],
        [sorted(outcome) for outcome in outcomes],
        workflow.revision,
    ) == (
        [(0, "")] * PROCESSES,
        [
            [f"{revision}<{revision + 1}"] * (PROCESSES - 1) + ["won"]
            for revision in range(1, REVISIONS + 1)
        ],
        REVISIONS + 1,
    )


# -- growth ------------------------------------------------------------------------------------


def grown(path: Path, workflows: int) -> None:
    """Fill a journal with workflows that wait for approval, and one that is approved: `w`."""
    with SqliteJournal.open(path) as journal:
        told: list[Told] = [created(f"w{number}") for number in range(workflows)]
        write_all(journal, [(None, new) for new in told])
        write(journal, None, approved(created("w")))


OPERATIONS: dict[str, Callable[[SqliteJournal], object]] = {
    "load": lambda journal: journal.load("w"),
    "list-a-small-status": lambda journal: list(journal.rows(Status.APPROVED)),
    "claim": lambda journal: write(
        journal, approved(created("w")), replaced(approved(created("w")), 9900)
    ),
    "create": lambda journal: write(journal, None, created("new")),
}


@pytest.mark.parametrize("name", [pytest.param(name, id=name) for name in OPERATIONS])
def test_an_operation_takes_as_many_steps_among_2000_workflows_as_among_20(
    tmp_path: Path, name: str
) -> None:
    steps = {}
    for workflows in (20, 2000):
        path = tmp_path / f"{workflows}.sqlite3"
        SqliteJournal.create(path, journal_id="journal-1", created_at=CREATED_AT)
        grown(path, workflows)
        database = open_writer(path, JOURNAL)
        with SqliteJournal(database) as journal:
            counted: list[int] = []
            database.connection.set_progress_handler(lambda: counted.append(1), 1)  # noqa: B023
            OPERATIONS[name](journal)
        steps[workflows] = len(counted)
    assert steps[2000] == steps[20] > 0


@pytest.mark.parametrize("name", [pytest.param(name, id=name) for name in OPERATIONS])
def test_no_statement_scans_or_sorts(journal_path: Path, name: str) -> None:
    grown(journal_path, 20)
    database = open_writer(journal_path, JOURNAL)
    statements: list[str] = []
    with SqliteJournal(database) as journal:
        database.connection.set_trace_callback(statements.append)
        OPERATIONS[name](journal)
        database.connection.set_trace_callback(None)
        plans = [
            row["detail"]
            for statement in statements
            if statement.lstrip().startswith(("SELECT", "UPDATE"))
            for row in database.rows(f"EXPLAIN QUERY PLAN {statement}")
        ]
    unwanted = [plan for plan in plans if plan.startswith("SCAN") or "TEMP B-TREE" in plan]
    assert (bool(plans), unwanted) == (True, [])
