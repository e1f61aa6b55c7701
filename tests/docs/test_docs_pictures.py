"""Pictures in the documents: they are what the code draws, and a stale one is named."""

from __future__ import annotations

from pathlib import Path

import pytest

import docs_pictures


def test_the_committed_pictures_are_what_the_code_draws() -> None:
    assert docs_pictures.main(["--check"]) == 0


def test_a_stale_picture_is_named_and_drawn_anew(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert docs_pictures.main([], root=tmp_path) == 0
    drawn = capsys.readouterr().out.splitlines()
    stale = tmp_path / "docs" / "pictures" / "state-machine.svg"
    stale.write_text("stale")
    checked = docs_pictures.main(["--check", "--quick"], root=tmp_path)
    said = capsys.readouterr().out
    assert (checked, said, stale.read_text()) == (
        1, "docs/pictures/state-machine.svg is stale\n", "stale",
    )  # fmt: skip
    assert docs_pictures.main([], root=tmp_path) == 0
    assert docs_pictures.main(["--check"], root=tmp_path) == 0
    assert drawn == list(docs_pictures.pictures())
