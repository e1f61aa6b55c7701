from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from resumeproof.errors import SameStore
from resumeproof.stores.place import refuse_same_file

SAME: dict[str, Callable[[Path], tuple[Path, Path]]] = {
    "one path": lambda place: (place / "a", place / "a"),
    "one path that is not there": lambda place: (place / "new", place / "new"),
    "another spelling of what is not there": lambda place: (
        place / "new",
        place / "directory" / ".." / "new",
    ),
    "a symlink": lambda place: (place / "a", place / "to-a"),
    "a symlink to what is not there": lambda place: (place / "new", place / "to-new"),
    "a symlinked directory": lambda place: (
        place / "directory" / "new",
        place / "to-directory" / "new",
    ),
    "a hard link": lambda place: (place / "a", place / "linked-a"),
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "a").touch()
    (tmp_path / "b").touch()
    (tmp_path / "directory").mkdir()
    (tmp_path / "to-a").symlink_to("a")
    (tmp_path / "to-new").symlink_to("new")
    (tmp_path / "to-directory").symlink_to("directory")
    (tmp_path / "linked-a").hardlink_to(tmp_path / "a")
    return tmp_path


@pytest.mark.parametrize("swapped", [False, True], ids=["journal first", "ledger first"])
@pytest.mark.parametrize("same", SAME)
def test_journal_and_ledger_in_one_file_are_refused(place: Path, same: str, swapped: bool) -> None:
    paths = SAME[same](place)
    journal, ledger = reversed(paths) if swapped else paths
    with pytest.raises(SameStore) as refused:
        refuse_same_file(journal, ledger)
    assert refused.value.facts == {"journal": str(journal), "ledger": str(ledger)}


@pytest.mark.parametrize("names", [("a", "b"), ("a", "new"), ("new", "newer")], ids="-".join)
def test_two_files_are_two_stores(place: Path, names: tuple[str, str]) -> None:
    refuse_same_file(place / names[0], place / names[1])
