"""How final files that differ are told."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from resumeproof.domain.verdict import FindingKind
from resumeproof.proof.calls.files import Files
from resumeproof.proof.comparison import Wording

LOST, DIVERGED = FindingKind.STATE_LOST, FindingKind.RESUME_DIVERGED
Contents = dict[str, bytes]


def files_in(directory: Path, contents: Contents, ignored: tuple[str, ...] = ()) -> Files:
    directory.mkdir()
    for name, content in contents.items():
        (directory / name).write_bytes(content)
    return Files.of(directory, ignored, Wording("run", "run", str(directory)))


TOLD: dict[str, tuple[Contents, Contents, list[tuple[FindingKind, str]]]] = {
    "the same": ({"a": b"1"}, {"a": b"1"}, []),
    "missing": ({"a": b"1"}, {}, [(LOST, "a is missing")]),
    "empty": ({"a": b"1"}, {"a": b""}, [(LOST, "a is empty")]),
    "more": (
        {},
        {"a": b"1"},
        [(DIVERGED, "a is there, and was not without a crash")],
    ),
    "one line": (
        {"a": b"1"},
        {"a": b"2"},
        [(DIVERGED, "a holds '2', and '1' without a crash")],
    ),
    "a line twice": (
        {"a": b"x\ny\n"},
        {"a": b"x\nx\ny\n"},
        [(DIVERGED, "a holds the line 'x' 2 time(s), 1 without a crash")],
    ),
    "a line less": (
        {"a": b"x\ny\n"},
        {"a": b"x\n"},
        [(DIVERGED, "a holds the line 'y' 0 time(s), 1 without a crash")],
    ),
    "another order": (
        {"a": b"x\ny\n"},
        {"a": b"y\nx\n"},
        [(DIVERGED, "a holds its lines in another order than without a crash")],
    ),
    "another end of a line": (
        {"a": b"x\n"},
        {"a": b"x"},
        [(DIVERGED, "a differs from the run without a crash")],
    ),
    "no text": (
        {"a": b"\xff"},
        {"a": b"\xfe"},
        [(DIVERGED, "a differs from the run without a crash")],
    ),
    "many": (
        dict.fromkeys("abcde", b"1"),
        {},
        [
            *((LOST, f"{name} is missing") for name in "abc"),
            (DIVERGED, "2 more file(s) differ from the run without a crash"),
        ],
    ),
}


@pytest.mark.parametrize(("expected", "found", "told"), TOLD.values(), ids=TOLD)
def test_what_differs_is_told(
    expected: Contents, found: Contents, told: list[tuple[FindingKind, str]], tmp_path: Path
) -> None:
    one, other = files_in(tmp_path / "one", expected), files_in(tmp_path / "other", found)
    assert [(each.kind, each.detail) for each in one.violations(other)] == told


def test_what_is_ignored_is_not_compared(tmp_path: Path) -> None:
    one = files_in(tmp_path / "one", {"a.log": b"1"}, ("*.log",))
    other = files_in(tmp_path / "other", {"a.log": b"2"}, ("*.log",))
    assert list(one.violations(other)) == []


def test_what_two_runs_left_otherwise_is_not_compared(tmp_path: Path) -> None:
    first = files_in(tmp_path / "first", {"pid": b"1", "state": b"1"})
    second = files_in(tmp_path / "second", {"pid": b"2", "state": b"1"})
    third = files_in(tmp_path / "third", {"pid": b"3", "state": b"1"})
    differing = first.differing(second)
    assert differing == {"pid"}
    assert list(first.without(differing).violations(third.without(differing))) == []


def database(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def test_a_database_is_compared_by_what_it_holds(tmp_path: Path) -> None:
    make = "CREATE TABLE paid (job TEXT)"
    pay = "INSERT INTO paid VALUES ('a')"
    for name in ("one", "other", "twice"):
        (tmp_path / name).mkdir()
    database(tmp_path / "one" / "db", make, pay)
    database(tmp_path / "other" / "db", "PRAGMA page_size = 1024", make, pay)
    database(tmp_path / "twice" / "db", make, pay, pay)

    def of(name: str) -> Files:
        return Files.of(tmp_path / name, (), Wording("run", "run"))

    assert (tmp_path / "one" / "db").read_bytes() != (tmp_path / "other" / "db").read_bytes()
    assert list(of("one").violations(of("other"))) == []
    assert [each.detail for each in of("one").violations(of("twice"))] == [
        "db differs from the run without a crash"
    ]
