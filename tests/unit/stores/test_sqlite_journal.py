from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from resumeproof.stores.sqlite_journal import SqliteJournal
from tests.unit.stores.journal_contract import JournalContract

CREATED_AT = "2026-01-02T03:04:05.000000Z"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "journal.sqlite3"
    assert SqliteJournal.create(path, journal_id="journal-1", created_at=CREATED_AT)
    return path


class TestSqliteJournal(JournalContract):
    journal: SqliteJournal

    @pytest.fixture(autouse=True)
    def _opened(self, path: Path) -> Iterator[None]:
        self.journal = SqliteJournal.open(path)
        yield
        self.journal.close()

    def reopen(self) -> SqliteJournal:
        path = self.journal.path
        self.journal.close()
        return SqliteJournal.open(path)
