"""The committed demo: made anew it is the same, it verifies, and resuming it changes nothing."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from demo_output import OUTPUT, main, make
from resumeproof.evidence.receipt import RECEIPT_NAME, TIMELINE_NAME
from resumeproof.evidence.verify import Verified, verify
from resumeproof.lab.demo import FILES
from resumeproof.lab.subject import JOURNAL_NAME, LEDGER_NAME
from resumeproof.runtime.clock import SystemClock
from resumeproof.runtime.identity import RandomIdentity
from resumeproof.runtime.session import Site, resume

STORES = (JOURNAL_NAME, LEDGER_NAME)

pytestmark = pytest.mark.crash


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo, made anew."""
    directory = tmp_path_factory.mktemp("made")
    assert make(directory).broken == ()
    return directory


def dump(path: Path) -> list[str]:
    """A database as SQL: its contents, and none of what differs between SQLite versions."""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        marks = [
            f"{mark}={connection.execute(f'PRAGMA {mark}').fetchone()[0]}"
            for mark in ("application_id", "user_version", "journal_mode")
        ]
        return marks + list(connection.iterdump())


def normalised(directory: Path) -> dict[str, Any]:
    """A receipt file without what differs from machine to machine, and from run to run."""
    receipt: dict[str, Any] = json.loads((directory / RECEIPT_NAME).read_text(encoding="utf-8"))
    receipt["environment"] = sorted(receipt["environment"])
    for store in receipt["stores"].values():
        assert re.fullmatch("[0-9a-f]{64}", store.pop("sha256"))
    for scenario in receipt["scenarios"]:
        scenario["pids"] = len(scenario["pids"])
    return receipt


@pytest.mark.parametrize("store", STORES)
def test_a_store_made_anew_holds_the_same(store: str, made: Path) -> None:
    assert dump(made / store) == dump(OUTPUT / store)


def test_the_receipt_file_made_anew_says_the_same(made: Path) -> None:
    assert normalised(made) == normalised(OUTPUT)


def test_the_picture_made_anew_is_the_same(made: Path) -> None:
    assert (made / TIMELINE_NAME).read_bytes() == (OUTPUT / TIMELINE_NAME).read_bytes()


def test_the_committed_demo_verifies() -> None:
    totals = {"effects": 2, "replays": 1, "unknown": 1}
    assert verify(OUTPUT) == Verified(OUTPUT / RECEIPT_NAME, (), totals)


def test_it_is_what_a_demo_leaves_and_a_word_about_it() -> None:
    assert sorted(path.name for path in OUTPUT.iterdir()) == sorted(("README.md", *FILES))


def test_its_readme_names_every_file_and_says_what_cannot_be_told_apart() -> None:
    text = (OUTPUT / "README.md").read_text(encoding="utf-8")
    told = (
        "`claim:after`",
        "`tool:before`",
        "`tool:after`",
        "`ack:before`",
        "neither key nor lookup",
    )
    assert [each for each in (*FILES, *told) if each not in text] == []


@pytest.mark.skipif(shutil.which("sqlite3") is None, reason="sqlite3 is not installed")
def test_any_sqlite_tool_counts_two_effects() -> None:
    command = ["sqlite3", str(OUTPUT / LEDGER_NAME), "select count(*) from effects"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "2\n"


def test_resuming_what_is_completed_five_times_changes_no_byte(tmp_path: Path) -> None:
    directory = tmp_path / "copy"
    shutil.copytree(OUTPUT, directory)
    before = bytes_of(directory)
    workflow = json.loads((OUTPUT / RECEIPT_NAME).read_text())["workflows"][0]
    site = Site(directory / JOURNAL_NAME, directory / LEDGER_NAME, SystemClock(), RandomIdentity())
    statuses = [resume(site, workflow["id"]).status for _ in range(5)]
    with closing(sqlite3.connect(directory / LEDGER_NAME)) as ledger:
        effects = ledger.execute("SELECT count(*) FROM effects").fetchone()[0]
    assert (statuses, effects, bytes_of(directory)) == (["completed"] * 5, 2, before)


def bytes_of(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def test_it_is_regenerated_in_place_and_nothing_else_is_touched(tmp_path: Path) -> None:
    output = tmp_path / "demo-output"
    output.mkdir()
    (output / "README.md").write_text("mine")
    (output / RECEIPT_NAME).write_text("old")
    assert main(output) == 0
    assert (sorted(bytes_of(output)), (output / "README.md").read_text()) == (
        sorted(("README.md", *FILES)), "mine",
    )  # fmt: skip
    assert [path.name for path in tmp_path.iterdir()] == ["demo-output"]
    assert normalised(output) == normalised(OUTPUT)
