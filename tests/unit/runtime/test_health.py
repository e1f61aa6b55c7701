from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from resumeproof.errors import StoreUnavailable
from resumeproof.runtime.clock import SteppedClock
from resumeproof.runtime.health import Counter, Health, read_counts, sidecar_path

START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
OUTCOME, TERMINAL = Counter.OUTCOME_COMMIT_FAILED, Counter.TERMINAL_APPEND_FAILED


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "journal.sqlite3"


def health_of(journal: Path) -> Health:
    return Health(journal, SteppedClock(START, 1))


def test_counts_are_kept_for_whoever_asks_later(journal: Path) -> None:
    for counter in (OUTCOME, TERMINAL, OUTCOME):
        health_of(journal).count(counter, "disk full")
    assert read_counts(journal) == {OUTCOME: 2, TERMINAL: 1}


def test_a_journal_that_nothing_happened_to_has_no_counts_and_no_sidecar(journal: Path) -> None:
    Health(journal)
    assert (read_counts(journal), sidecar_path(journal).exists()) == ({}, False)


def test_a_count_is_said_on_stderr_in_the_words_of_the_sidecar(
    journal: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    health_of(journal).count(OUTCOME, "disk full")
    line = f'outcome_commit_failed 2026-01-02T03:04:05.000000Z pid {os.getpid()} "disk full"'
    assert capsys.readouterr() == ("", f"resumeproof: {line}\n")
    assert sidecar_path(journal).read_text() == f"\n{line}"


def test_a_detail_cannot_forge_a_line_or_steer_a_terminal(
    journal: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    health_of(journal).count(OUTCOME, "a\nterminal_append_failed\r\x1b[2J\udcff")
    said = capsys.readouterr().err
    assert (read_counts(journal), said.count("\n"), "\x1b" in said) == ({OUTCOME: 1}, 1, False)


def test_a_detail_is_bounded(journal: Path) -> None:
    health_of(journal).count(OUTCOME, "x" * 1_000_000)
    assert (read_counts(journal), sidecar_path(journal).stat().st_size < 2_000) == (
        {OUTCOME: 1},
        True,
    )


def test_an_alias_of_the_journal_counts_in_the_same_sidecar(journal: Path, tmp_path: Path) -> None:
    alias = tmp_path / "alias"
    alias.symlink_to(journal)
    health_of(alias).count(OUTCOME, "disk full")
    assert read_counts(journal) == read_counts(alias) == {OUTCOME: 1}


def test_a_sidecar_that_takes_nothing_leaves_stderr_and_no_exception(
    journal: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sidecar_path(journal).mkdir()
    health_of(journal).count(TERMINAL, "disk full")
    said = capsys.readouterr().err
    assert said.startswith("resumeproof: terminal_append_failed ")
    assert said.endswith(f'"disk full" (not recorded in {sidecar_path(journal)}: Is a directory)\n')


def test_a_stderr_that_takes_nothing_leaves_the_sidecar_and_no_exception(
    journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open(os.devnull) as not_writable:
        monkeypatch.setattr(sys, "stderr", not_writable)
        health_of(journal).count(OUTCOME, "disk full")
    assert read_counts(journal) == {OUTCOME: 1}


def test_without_a_stderr_nothing_goes_to_stdout(
    journal: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    health_of(journal).count(OUTCOME, "disk full")
    assert (read_counts(journal), capsys.readouterr().out) == ({OUTCOME: 1}, "")


def test_a_torn_line_is_counted_by_name_and_swallows_no_other(journal: Path) -> None:
    health_of(journal).count(OUTCOME, "first")
    sidecar = sidecar_path(journal)
    whole = sidecar.read_bytes()
    sidecar.write_bytes(whole + whole[:40] + whole[:10])
    health_of(journal).count(TERMINAL, "later")
    assert read_counts(journal) == {OUTCOME: 2, "unreadable": 1, TERMINAL: 1}


def test_a_write_that_the_disk_cut_short_is_said_to_be_unrecorded(journal: Path) -> None:
    """RLIMIT_FSIZE cuts a write short as a full disk does (setrlimit(2))."""
    pytest.importorskip("resource")
    code = (
        "import resource, sys; from pathlib import Path\n"
        "from resumeproof.runtime.health import *\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (30, 30))\n"
        "Health(Path(sys.argv[1])).count(Counter.OUTCOME_COMMIT_FAILED, 'disk full')"
    )
    child = subprocess.run(
        [sys.executable, "-c", code, str(journal)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (child.returncode, child.stdout, child.stderr.count("\n")) == (0, "", 1)
    assert "(not recorded in" in child.stderr
    assert "30 of" in child.stderr
    assert read_counts(journal) == {OUTCOME: 1}


def test_lines_of_many_processes_never_mix(journal: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from resumeproof.runtime.health import *\n"
        "health = Health(Path(sys.argv[1]))\n"
        "sys.stdin.read()\n"
        "for _ in range(20): health.count(Counter.OUTCOME_COMMIT_FAILED, 'x' * 900)"
    )
    words = [sys.executable, "-c", code, str(journal)]
    children = [
        subprocess.Popen(words, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) for _ in range(4)
    ]
    for child in children:
        assert child.stdin is not None
        child.stdin.close()
    assert [child.wait(60) for child in children] == [0] * 4
    assert read_counts(journal) == {OUTCOME: 80}


def test_an_unreadable_sidecar_is_not_the_same_as_none(journal: Path) -> None:
    sidecar_path(journal).mkdir()
    with pytest.raises(StoreUnavailable) as caught:
        read_counts(journal)
    assert caught.value.facts == {
        "kind": "health file",
        "path": str(sidecar_path(journal)),
        "cause": "Is a directory",
    }
