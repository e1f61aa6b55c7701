"""Copies of directories that a resume finds in the place of what a crash left."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from resumeproof.proof.image import copy_image


@pytest.mark.parametrize("mode", [0o755, 0o644, 0o600, 0o400], ids=oct)
def test_a_copy_keeps_what_a_file_holds_and_permits(tmp_path: Path, mode: int) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    (source / "below").mkdir(parents=True)
    (source / "below" / "file").write_bytes(b"held")
    (source / "below" / "file").chmod(mode)
    (source / "link").symlink_to("below/file")

    copy_image(source, target)

    copied = (target / "below" / "file").lstat().st_mode
    assert (stat.S_IMODE(copied), (target / "link").read_bytes()) == (mode, b"held")
    assert (target / "link").readlink() == Path("below/file")
