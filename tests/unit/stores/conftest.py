from __future__ import annotations

from pathlib import Path

import pytest

from resumeproof.proof.told import CREATED_AT
from resumeproof.stores.json_journal import JsonJournal
from resumeproof.stores.sqlite_journal import SqliteJournal


@pytest.fixture
def journal_path(tmp_path: Path) -> Path:
    """The file of an empty journal, at rest, alone in its directory."""
    path = tmp_path / "journal.sqlite3"
    assert SqliteJournal.create(path, journal_id="journal-1", created_at=CREATED_AT)
    return path


@pytest.fixture
def json_path(tmp_path: Path) -> Path:
    """The directory of an empty JSON journal, alone in its directory."""
    path = tmp_path / "journal"
    assert JsonJournal.create(path, journal_id="journal-1", created_at=CREATED_AT)
    return path
