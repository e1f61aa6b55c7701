"""Final files are held against those of a run without a crash."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from resumeproof.domain.verdict import FindingKind
from resumeproof.proof.commands.expectation import Expectation, final_files


def differing(expected: Path, found: Path, *ignored: str) -> list[tuple[FindingKind, str]]:
    expectation = Expectation(ignored=ignored, files=final_files(expected, ignored))
    return [(each.kind, each.detail) for each in expectation.of_files(found)]


def directory(path: Path, **files: str) -> Path:
    path.mkdir()
    for name, text in files.items():
        (path / name).write_text(text)
    return path


def test_what_is_missing_more_or_different_is_named(tmp_path: Path) -> None:
    expected = directory(tmp_path / "expected", same="1", other="1", empty="1", gone="1")
    found = directory(tmp_path / "found", same="1", other="2", empty="", more="1")
    ((kind, detail),) = differing(expected, found)
    assert kind is FindingKind.RESUME_DIVERGED
    assert detail.split("; ") == [
        "empty is empty",
        "gone is missing",
        "more is there, and was not without a crash",
        "and 1 more",
    ]
    assert differing(expected, found, "e*", "g*", "m*", "o*") == []


def test_databases_are_taken_by_what_they_hold(tmp_path: Path) -> None:
    for name in ("expected", "found"):
        (tmp_path / name).mkdir()
        with closing(sqlite3.connect(tmp_path / name / "n.sqlite3")) as connection:
            connection.execute("CREATE TABLE n (n)")
            if name == "found":
                connection.execute("CREATE TABLE gone (n)")
                connection.execute("DROP TABLE gone")
            connection.execute("INSERT INTO n VALUES (1)")
            connection.commit()
    files = [(tmp_path / name / "n.sqlite3").read_bytes() for name in ("expected", "found")]
    assert (files[0] != files[1], differing(tmp_path / "expected", tmp_path / "found")) == (
        True,
        [],
    )


def test_nothing_is_compared_where_nothing_is_expected(tmp_path: Path) -> None:
    assert list(Expectation().of_files(directory(tmp_path / "found", x="1"))) == []
    assert list(Expectation().of_effects(tmp_path / "found")) == []
