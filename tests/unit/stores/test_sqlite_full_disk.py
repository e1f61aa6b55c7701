from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from resumeproof.errors import StoreUnavailable
from resumeproof.stores.birth import create
from resumeproof.stores.opening import open_reader, open_writer
from tests.unit.stores.toy import TOY, add, seed, texts


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0 or shutil.which("mount") is None,
    reason="only root mounts a small file system",
)
def test_a_full_file_system_leaves_the_transaction_wholly_absent(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    with Mounted(disk, size_bytes=256 * 1024):
        path = disk / "store.sqlite3"
        create(path, TOY, seed=seed)
        with open_writer(path, TOY) as store:
            add(store, "a")
            with pytest.raises(StoreUnavailable) as refused, store.transaction():
                add(store, "b", *(f"{number:04000d}" for number in range(1000)))
            assert (texts(store), refused.value.path) == (["seed", "a"], str(path))
        assert refused.value.cause in {"database or disk is full", "disk I/O error"}
        with open_reader(path, TOY) as store:
            assert texts(store) == ["seed", "a"]


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0 or shutil.which("mount") is None,
    reason="only root mounts a small file system",
)
def test_a_store_that_finds_no_room_to_be_born_leaves_nothing(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    with Mounted(disk, size_bytes=8 * 1024):
        with pytest.raises(StoreUnavailable) as refused:
            create(disk / "store.sqlite3", TOY, seed=seed)
        assert list(disk.iterdir()) == []
    assert refused.value.path == str(disk / "store.sqlite3")


class Mounted:
    """A small file system in memory."""

    def __init__(self, directory: Path, *, size_bytes: int) -> None:
        self.directory = directory
        self.size_bytes = size_bytes

    def __enter__(self) -> None:
        command = f"mount -t tmpfs -o size={self.size_bytes} tmpfs '{self.directory}'"
        if os.system(command + " 2>/dev/null") != 0:
            pytest.skip("this root may not mount")

    def __exit__(self, *_: object) -> None:
        assert os.system(f"umount '{self.directory}'") == 0
