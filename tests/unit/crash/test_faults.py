"""Each writing call of a journal is a boundary, and so is each commit that ends well."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from resumeproof.crash.calls import CountedCalls
from resumeproof.crash.faults import persistence_journal
from resumeproof.domain.action import parse_action
from resumeproof.domain.contract import ToolContract
from resumeproof.domain.instant import format_instant
from resumeproof.errors import WorkflowExists, WorkflowNotFound
from resumeproof.runtime.clock import SteppedClock
from resumeproof.runtime.creation import Terms, create
from resumeproof.runtime.programs import TOOL_CALL
from resumeproof.stores.journals import create_journal, open_journal_writer
from resumeproof.stores.protocols import JournalFormat, OpenJournal

START = datetime(2026, 1, 1, tzinfo=UTC)
CALLS = ["append", "save", "commit"]


@pytest.fixture(params=JournalFormat)
def journal(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[OpenJournal]:
    path = tmp_path / "journal"
    create_journal(path, request.param, journal_id="j", created_at=format_instant(START))
    with open_journal_writer(path) as opened:
        yield opened


class Passed(list[str]):
    """What was passed, and at which boundary it ends."""

    def __init__(self, ends_at: str | None = None) -> None:
        self._ends_at = ends_at

    def note(self, name: str, occurrence: int) -> None:
        self.append(f"{name}#{occurrence}")
        if self[-1] == self._ends_at:
            raise OSError(self._ends_at)


def _create(journal: OpenJournal, passed: Passed, workflow_id: str = "w") -> None:
    create(
        persistence_journal(journal, CountedCalls(passed.note)),
        SteppedClock(START, 0),
        workflow_id=workflow_id,
        program=TOOL_CALL,
        action=parse_action(b'{"tool": "pay", "arguments": {}}'),
        terms=Terms("ledger", ToolContract("pay", idempotent=True), "k"),
    )


def test_each_call_is_passed_before_and_after(journal: OpenJournal) -> None:
    passed = Passed()
    _create(journal, passed)
    assert passed == [f"{call}:{side}#1" for call in CALLS for side in ("before", "after")]


def test_what_is_not_committed_comes_to_no_commit(journal: OpenJournal) -> None:
    _create(journal, Passed())
    passed = Passed()
    with pytest.raises(WorkflowExists):
        _create(journal, passed)
    assert (passed[0], [name for name in passed if name.startswith("commit")]) == (
        "append:before#1",
        [],
    )


def test_what_is_raised_before_the_save_leaves_no_workflow(journal: OpenJournal) -> None:
    with pytest.raises(OSError, match="save:before#1"):
        _create(journal, Passed(ends_at="save:before#1"))
    with pytest.raises(WorkflowNotFound):
        journal.load("w")


def test_what_is_raised_before_the_commit_ends_the_transaction(journal: OpenJournal) -> None:
    passed = Passed(ends_at="commit:before#1")
    with pytest.raises(OSError, match="commit:before#1"):
        _create(journal, passed)
    _create(journal, Passed(), workflow_id="another")
    assert passed[-1] == "commit:before#1"
