from __future__ import annotations

from pathlib import Path

import pytest

from resumeproof.errors import StoreNotFound
from resumeproof.evidence.files import file_digest
from resumeproof.proof.told import CREATED_AT, created, write
from resumeproof.stores.json_journal import JsonJournal


@pytest.fixture
def json_path(tmp_path: Path) -> Path:
    """The directory of a JSON journal that holds one workflow."""
    path = tmp_path / "journal"
    JsonJournal.create(path, journal_id="journal-1", created_at=CREATED_AT)
    with JsonJournal.open(path) as journal:
        write(journal, None, created("w"))
    return path


def test_the_digest_of_a_directory_changes_with_any_byte_name_or_file(json_path: Path) -> None:
    timeline = json_path / "workflows" / "w" / "timeline.jsonl"
    digests = [file_digest(json_path, "journal")]
    whole = timeline.read_bytes()
    timeline.write_bytes(whole[:-1] + b" ")
    digests.append(file_digest(json_path, "journal"))
    timeline.write_bytes(whole)
    again = file_digest(json_path, "journal")
    timeline.rename(timeline.with_name("other"))
    digests.append(file_digest(json_path, "journal"))
    (json_path / "more").touch()
    digests.append(file_digest(json_path, "journal"))
    assert (len(set(digests)), again) == (4, digests[0])


def test_what_is_not_there_has_no_digest(tmp_path: Path) -> None:
    with pytest.raises(StoreNotFound):
        file_digest(tmp_path / "none", "journal")
