"""A life that drives one workflow of a JSON journal as far as it goes, from wherever it stands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from resumeproof.domain.inspection import fold
from resumeproof.errors import WorkflowNotFound
from resumeproof.proof.told import (
    CREATED_AT,
    Told,
    acknowledged,
    approved,
    claimed,
    completed,
    created,
    write,
)
from resumeproof.stores.json_journal import JsonJournal

NEW = created("w")
READY = approved(NEW)
RUNNING = claimed(READY)
DONE = completed(acknowledged(RUNNING))
COMMITS = (NEW, READY, RUNNING, DONE)


def live(path: Path, say: Callable[[str], None]) -> None:
    """Say the revision of each commit, once it is made."""
    JsonJournal.create(path, journal_id="journal-1", created_at=CREATED_AT)
    with JsonJournal.open(path) as journal:
        for told in COMMITS:
            if _commit(journal, told):
                say(str(told.workflow.revision))


def _commit(journal: JsonJournal, told: Told) -> bool:
    """Go on to `told`, if the workflow is not that far; what was recorded is not repeated."""
    try:
        stored = journal.load("w")
    except WorkflowNotFound:
        write(journal, None, told)
        return True
    saved, recorded = stored.row["revision"], len(stored.records)
    if saved >= told.workflow.revision:
        return False
    with journal.transaction() as transaction:
        for record in told.records[recorded:]:
            transaction.append(record)
        transaction.save(told.workflow, told.action.canonical, expected_revision=saved)
    return True


def told_of(path: Path) -> tuple[int, int]:
    """How many records were saved, and how many there are; (0, 0) for no workflow, or no journal.

    Asserts that whatever is there is a part of the whole story.
    """
    if not path.exists():
        return 0, 0
    with JsonJournal.open_reader(path) as journal:
        try:
            stored = journal.load("w")
        except WorkflowNotFound:
            assert list(journal.rows()) == []
            return 0, 0
        rows = list(journal.rows())
    saved, recorded = stored.row["revision"], len(stored.records)
    assert stored.records == DONE.records[:recorded]
    assert stored.row == fold("w", DONE.records[:saved]).sound().row()
    assert [row.row for row in rows] == [stored.row]
    assert stored.save_missing == (recorded > saved)
    return saved, recorded
