"""The lab itself, explored: journal and ledger on two disks, every durable call of a resume."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

import resumeproof
from tests.cli.desk import Desk
from tests.conformance.explored_lab import JOURNAL, LEDGER

PACKAGE = Path(resumeproof.__file__).parent
CALLED = Path(__file__).parent / "explored_lab.py"
STORES = ("--journal", JOURNAL, "--ledger", LEDGER)

CAMPAIGN_SECONDS = 7_200
BUDGET = "30"
ENOUGH = "100000"
"""A budget that leaves no way to lose power untried; some ten thousand runs are made."""

FULL = 'connection.execute("PRAGMA synchronous=FULL")\n    if (in_force'
HALF = """connection.execute("PRAGMA synchronous=FULL")
    if kind.name == "journal":
        connection.execute("PRAGMA synchronous=NORMAL")
    elif (in_force"""
NORMAL = ("stores/resting.py", FULL, HALF)
NOT_UNIQUE = (
    ("stores/sqlite_ledger.py", "if repeated is not None:", "if False:"),
    ("stores/schema/ledger.sql", "    UNIQUE (workflow_id, step, attempt)\n", "    CHECK (1)\n"),
    ("stores/schema/ledger.sql", "    UNIQUE (workflow_id, step, attempt),\n", ""),
    ("stores/schema/ledger.sql", "attempt = NEW.attempt\n", "attempt = NULL\n"),
)

pytestmark = pytest.mark.skipif(shutil.which("strace") is None, reason="strace looks on")


def changed(place: Path, *edits: tuple[str, str, str]) -> dict[str, str]:
    """A copy of the package with other text in it, and the environment in which it is found."""
    copy = place / "changed" / PACKAGE.name
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for name, old, new in edits:
        text = (copy / name).read_text()
        assert old in text, f"{name} does not say {old!r}"
        (copy / name).write_text(text.replace(old, new))
    return {"PYTHONPATH": str(copy.parent)}


def explored(
    desk: Desk, *options: str, key: str | None, check: str, env: dict[str, str] | None = None
) -> tuple[int, dict[str, Any]]:
    """Explore the resume of one approved workflow."""
    start = Desk(desk.path / "start")
    for name in (JOURNAL, LEDGER):
        (start.path / name).parent.mkdir(parents=True)
    charge = str(Path(__file__).parent.parent.parent / "examples" / "charge.json")
    keyed = ("--key", key) if key else ()
    created = start.run("create", "--action", charge, *keyed, *STORES, env=env)
    workflow_id = str(created.document["id"])
    approved = start.run("approve", "--workflow", workflow_id, "--actor", "a", *STORES, env=env)
    assert (created.status, approved.status) == (0, 0), (created, approved)
    ran = desk.run(
        "explore",
        *("--directory", str(start.path), "--timeout", "60"),
        *("--resume", f"{CALLED}:resume", "--check", f"{CALLED}:{check}"),
        *("--power-loss", "--domain", "journal", "--domain", "ledger", *options),
        *("--", sys.executable, "-m", "resumeproof", "resume"),
        *("--workflow", workflow_id, *STORES),
        env=env,
        timeout_seconds=CAMPAIGN_SECONDS,
    )
    assert ran.stderr == "", ran
    return ran.status, ran.document


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    (tmp_path / "desk").mkdir()
    return Desk(tmp_path / "desk")


def test_the_lab_survives_kills_and_power_cuts(desk: Desk) -> None:
    status, told = explored(desk, "--budget", BUDGET, key="k1", check="settled")
    # Of power cuts no more is known than that none was found to fail: most were not tried.
    safe = told["kill_safe"], told["power_safe"]
    assert (status, safe, told["invalid"]) == (0, (True, None), []), told["findings"]
    assert told["certificate"]["enumerated"] > int(BUDGET)


@pytest.mark.campaign
@pytest.mark.timeout(CAMPAIGN_SECONDS)
@pytest.mark.parametrize(("key", "check"), [("k1", "settled"), (None, "honest")])
def test_the_lab_survives_being_killed_and_cut_off_twice(
    desk: Desk, key: str | None, check: str
) -> None:
    status, told = explored(desk, "--depth", "2", "--budget", ENOUGH, key=key, check=check)
    safe = told["kill_safe"], told["power_safe"]
    print(told["certificate"], told["power"])
    assert (status, safe, told["invalid"]) == (0, (True, True), []), told["findings"]
    assert told["power"]["untried"] == 0


def test_a_journal_that_is_not_synced_is_found_by_the_ledger(desk: Desk) -> None:
    env = changed(desk.path, NORMAL)
    status, told = explored(desk, "--budget", BUDGET, key="k1", check="settled", env=env)
    details = {each["detail"] for each in told["findings"]}
    assert (status, told["kill_safe"], told["power_safe"]) == (1, True, False)
    assert "('unknown', 'journal_rewound', 1)" in details


def test_without_the_ledgers_memory_of_attempts_an_effect_is_doubled(desk: Desk) -> None:
    env = changed(desk.path, NORMAL, *NOT_UNIQUE)
    given = ("--budget", BUDGET, "--ledger", LEDGER)
    status, told = explored(desk, *given, key=None, check="honest", env=env)
    kinds = {(each["power_loss"], each["kind"]) for each in told["findings"]}
    assert (status, (True, "effect_replayed") in kinds) == (1, True), kinds
    # What is in doubt for good has not happened, and is no more than that.
    assert {kind for power_loss, kind in kinds if not power_loss} == {"effect_lost"}
