from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from resumeproof.proof.told import CREATED_AT
from resumeproof.stores.json_journal import JsonJournal
from resumeproof.stores.protocols import Journal
from resumeproof.testing import JournalContract


@pytest.fixture
def json_path(tmp_path: Path) -> Path:
    """The directory of an empty JSON journal, alone in its directory."""
    path = tmp_path / "journal"
    assert JsonJournal.create(path, journal_id="journal-1", created_at=CREATED_AT)
    return path


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
