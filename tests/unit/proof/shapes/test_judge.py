"""What two stores say against a runtime: each guarantee by its own name."""

from __future__ import annotations

from pathlib import Path

import pytest

from resumeproof.domain.instant import format_instant
from resumeproof.domain.verdict import FindingKind, Violation
from resumeproof.proof.shapes import SHAPES
from resumeproof.proof.shapes.judge import name_of, when_done
from resumeproof.proof.shapes.subject import JOURNAL_NAME, LEDGER_NAME, START, ShapeSubject
from resumeproof.runtime.lock import DriverLock
from resumeproof.stores.journals import open_journal
from resumeproof.stores.protocols import JournalFormat
from resumeproof.stores.sqlite_ledger import SqliteLedger

CHAIN = SHAPES["effect_chain"]


def told(root: Path) -> list[Violation]:
    with (
        open_journal(root / JOURNAL_NAME) as journal,
        SqliteLedger.open_reader(root / LEDGER_NAME) as ledger,
    ):
        return list(when_done(journal, ledger, CHAIN.endings))


@pytest.mark.parametrize("journal_format", JournalFormat)
def test_a_workflow_that_nobody_drove_has_no_terminal_record(
    journal_format: JournalFormat, tmp_path: Path
) -> None:
    ShapeSubject(CHAIN, journal_format).lay_out(tmp_path)
    kinds = [violation.kind for violation in told(tmp_path)]
    assert kinds == [FindingKind.TERMINAL_MISSING, FindingKind.RESUME_DIVERGED]


@pytest.mark.parametrize("journal_format", JournalFormat)
def test_a_lock_that_is_still_held_is_told_of(
    journal_format: JournalFormat, tmp_path: Path
) -> None:
    ShapeSubject(CHAIN, journal_format).lay_out(tmp_path)
    lock = DriverLock(tmp_path / JOURNAL_NAME, token="t", started_at=format_instant(START))
    with lock.acquire(1):
        found = told(tmp_path)
    assert found[0] == Violation(FindingKind.LOCK_LEAKED, "the lock of journal is held")


@pytest.mark.parametrize(
    ("workflow_id", "name"),
    [("parent", "parent"), ("parent.ship.3", "parent.ship"), ("a.b", "a.b")],
)
def test_a_child_is_named_after_its_step(workflow_id: str, name: str) -> None:
    assert name_of(workflow_id) == name
