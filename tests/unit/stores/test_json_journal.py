from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from resumeproof.domain.workflow import Workflow
from resumeproof.errors import (
    HardLinked,
    JournalDamaged,
    ResumeproofError,
    StoreNotFound,
    StoreRefused,
    StoreUnavailable,
)
from resumeproof.proof.expectation import refusal
from resumeproof.proof.told import CREATED_AT, approved, created, write
from resumeproof.stores.journals import format_of, open_journal, open_journal_writer
from resumeproof.stores.json_form import COLUMNS, directory_name
from resumeproof.stores.json_journal import JsonJournal
from resumeproof.stores.protocols import Journal, JournalFormat
from resumeproof.testing import JournalContract
from tests.unit.stores.tree import tree


class TestJsonJournal(JournalContract):
    journal: Journal

    @pytest.fixture(autouse=True)
    def _opened(self, json_path: Path) -> Iterator[None]:
        self.journal = JsonJournal.open(json_path)
        yield
        self.journal.close()

    def reopen(self) -> JsonJournal:
        self.journal.close()
        return JsonJournal.open(self.journal.path)


# -- the directory -----------------------------------------------------------------------------


def test_a_new_journal_says_which_it_is_and_is_empty(json_path: Path) -> None:
    with JsonJournal.open_reader(json_path) as journal:
        assert (journal.journal_id, journal.created_at, list(journal.rows())) == (
            "journal-1",
            CREATED_AT,
            [],
        )


def test_creating_a_journal_again_changes_nothing(json_path: Path) -> None:
    before = tree(json_path.parent)
    again = JsonJournal.create(json_path, journal_id="journal-2", created_at=CREATED_AT)
    assert (again, tree(json_path.parent)) == (False, before)


def test_a_journal_is_not_created_where_there_is_no_directory(tmp_path: Path) -> None:
    path = tmp_path / "none" / "journal"
    error = refusal(lambda: JsonJournal.create(path, journal_id="j", created_at=CREATED_AT))
    assert (type(error), list(tmp_path.iterdir())) == (StoreNotFound, [])


def test_the_row_of_a_workflow_is_kept_whole() -> None:
    workflow: Workflow = created("w").workflow
    assert tuple(workflow.row()) == COLUMNS


IDS = ("w", "W", "wf_1", "a/b", "..", ".hidden", "%77", "Zoë", "zoë", " ", "x" * 255, "X" * 255)


def test_each_id_has_a_directory_of_its_own_on_every_file_system(json_path: Path) -> None:
    with JsonJournal.open(json_path) as journal:
        told = [write(journal, None, created(workflow_id)) for workflow_id in IDS]
        found = [journal.load(workflow_id) for workflow_id in IDS]
        names = {directory_name(workflow_id).casefold() for workflow_id in IDS}
        assert (found, list(journal.rows()), len(names)) == (
            [each.stored for each in told],
            [each.row for each in told],
            len(IDS),
        )


def test_a_reader_changes_no_byte_and_writes_nothing(json_path: Path) -> None:
    with JsonJournal.open(json_path) as journal:
        told = write(journal, None, created("w"))
    (json_path / "births" / "left").mkdir()
    before = tree(json_path.parent)
    with JsonJournal.open_reader(json_path) as journal:
        loaded = journal.load("w")
        error = refusal(lambda: write(journal, told, approved(told)))
    assert (loaded, type(error), tree(json_path.parent)) == (told.stored, StoreUnavailable, before)


def test_a_timeline_of_two_names_is_not_written(json_path: Path, tmp_path: Path) -> None:
    with JsonJournal.open(json_path) as journal:
        new = write(journal, None, created("w"))
        copy = tmp_path / "copy"
        copy.hardlink_to(json_path / "workflows" / "w" / "timeline.jsonl")
        error = refusal(lambda: write(journal, new, approved(new)))
        assert (type(error), journal.load("w")) == (HardLinked, new.stored)


def test_a_writer_clears_away_what_was_never_born(json_path: Path) -> None:
    left = json_path / "births" / "w"
    left.mkdir()
    (left / "timeline.jsonl").write_text("torn")
    with JsonJournal.open(json_path) as journal:
        told = write(journal, None, created("w"))
        assert (list((json_path / "births").iterdir()), journal.load("w")) == ([], told.stored)


def test_a_journal_that_lost_an_empty_directory_is_one_still(json_path: Path) -> None:
    (json_path / "births").rmdir()
    with JsonJournal.open_reader(json_path) as journal:
        assert list(journal.rows()) == []
    with JsonJournal.open(json_path) as journal:
        told = write(journal, None, created("w"))
        assert journal.load("w") == told.stored


# -- what is not ours --------------------------------------------------------------------------


def _file(path: Path) -> None:
    path.write_text("mine")


def _directory(path: Path) -> None:
    path.mkdir()
    (path / "mine").write_text("mine")


def _identity(data: bytes) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        JsonJournal.create(path, journal_id="journal-1", created_at=CREATED_AT)
        (path / "journal.json").write_bytes(data)

    return make


def _without(name: str) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        JsonJournal.create(path, journal_id="journal-1", created_at=CREATED_AT)
        (path / name).rmdir()

    return make


STRANGERS: dict[str, tuple[Callable[[Path], None], str]] = {
    "file": (_file, "it is no directory"),
    "directory": (_directory, "it has no journal.json"),
    "empty": (_identity(b""), "journal.json: it is empty"),
    "nul": (_identity(b"\0" * 99), "journal.json: it holds nothing but NUL bytes"),
    "truncated": (
        _identity(b'{"format": "resumeproof JSON journal", "ver'),
        "journal.json: it is truncated: its end is missing",
    ),
    "another-format": (_identity(b'{"format": "other"}'), "journal.json: it is of another format"),
    "newer": (
        _identity(b'{"format": "resumeproof JSON journal", "version": 2}'),
        "journal.json: its version is 2, and this reads 1",
    ),
    "nameless": (
        _identity(b'{"format": "resumeproof JSON journal", "version": 1}'),
        "journal.json: it is of another shape: member 'created_at' is missing",
    ),
    "no-workflows": (_without("workflows"), "it has no workflows"),
}


@pytest.mark.parametrize(("make", "reason"), STRANGERS.values(), ids=STRANGERS)
@pytest.mark.parametrize(
    "opened",
    [
        pytest.param(JsonJournal.open, id="writer"),
        pytest.param(JsonJournal.open_reader, id="reader"),
    ],
)
def test_what_is_not_ours_is_refused_and_stays_as_it_was(
    tmp_path: Path,
    make: Callable[[Path], None],
    reason: str,
    opened: Callable[[Path], JsonJournal],
) -> None:
    path = tmp_path / "journal"
    make(path)
    before = tree(tmp_path)
    error = refusal(lambda: opened(path))
    assert (type(error), error.facts["reason"], tree(tmp_path)) == (StoreRefused, reason, before)


# -- by its path -------------------------------------------------------------------------------


def test_a_path_tells_the_format(json_path: Path, journal_path: Path, tmp_path: Path) -> None:
    paths = (json_path, journal_path, tmp_path / "none")
    assert [format_of(path) for path in paths] == [JournalFormat.JSON, JournalFormat.SQLITE, None]


@pytest.mark.parametrize(
    "opened", [pytest.param(open_journal, id="reader"), pytest.param(open_journal_writer, id="w")]
)
def test_a_journal_of_either_format_is_opened_by_its_path(
    json_path: Path, journal_path: Path, opened: Callable[[Path], JsonJournal]
) -> None:
    found: list[str | type[ResumeproofError]] = []
    for path in (json_path, journal_path):
        with opened(path) as journal:
            found.append(journal.journal_id)
    missing = refusal(lambda: opened(json_path.parent / "none"))
    assert (found, type(missing)) == (["journal-1", "journal-1"], StoreNotFound)


def test_a_directory_of_another_name_is_damage(json_path: Path) -> None:
    with JsonJournal.open(json_path) as journal:
        write(journal, None, created("w"))
        (json_path / "workflows" / "w").rename(json_path / "workflows" / "v")
        errors = [refusal(lambda: journal.load("v")), refusal(lambda: list(journal.rows()))]
    assert [(type(error), error.facts) for error in errors] == [
        (JournalDamaged, {"workflow_id": "v", "damage": "workflow.json is of workflow 'w'"})
    ] * 2
