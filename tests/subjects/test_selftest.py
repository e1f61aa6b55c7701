"""`resumeproof selftest`: what it prints, and that it fails where the proof cannot tell."""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from functools import cache as once
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from resumeproof.cli import main
from resumeproof.lab import catalogue
from resumeproof.lab import selftest as proving
from resumeproof.lab.catalogue import ENTRIES
from resumeproof.lab.catalogue.entry import Entry, correct
from resumeproof.lab.selftest import try_entry

pytestmark = pytest.mark.crash

BY_NAME = {entry.name: entry for entry in ENTRIES}
FINALLY, LOGS = BY_NAME["saves-in-finally"], BY_NAME["appends-to-log"]
DEDUPLICATED = BY_NAME["lets-receiver-deduplicate"]
LAB, SABOTAGED = BY_NAME["lab-silent"], BY_NAME["lab-runs-acknowledged-step"]


TABLE = """\
subject                    must be found    process  inline
saves-in-finally           effect_replayed  found    missed
  Saves its state in `finally`, which a killed process never comes to
lets-receiver-deduplicate  nothing          passes   condemned: effect_replayed
  Simply acts again after a death: its receiver deduplicates by key

process isolation: 1 of 1 broken subjects found for their own reason, 0 of 1 correct ones condemned
inline isolation:  0 of 1 broken subjects found for their own reason, 1 of 1 correct ones condemned
"""


class Selftest:
    """The command, over subjects of the test's own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch

    def __call__(self, *entries: Entry, form: str = "json") -> tuple[int, str]:
        self._monkeypatch.setattr(catalogue, "ENTRIES", entries)
        ran = CliRunner().invoke(main, ["selftest", "--format", form])
        assert ran.stderr == ""
        return ran.exit_code, ran.stdout


@pytest.fixture
def selftest(monkeypatch: pytest.MonkeyPatch) -> Selftest:
    return Selftest(monkeypatch)


def test_what_it_prints_for_people(selftest: Selftest) -> None:
    assert selftest(FINALLY, DEDUPLICATED, form="text") == (0, TABLE)


def test_what_it_prints_for_programs(selftest: Selftest) -> None:
    status, printed = selftest(FINALLY)
    subject: dict[str, Any] = {
        "name": "saves-in-finally",
        "description": "Saves its state in `finally`, which a killed process never comes to",
        "correct": False,
        "expects": ["effect_replayed"],
        "at": "effects",
        "told": True,
        "tried": True,
        "process": {"reasons": ["effect_replayed"], "failed": None},
        "inline": {"reasons": [], "failed": None},
    }
    rates = {
        "process": {"broken": 1, "told": 1, "correct": 0, "condemned": 0},
        "inline": {"broken": 1, "told": 0, "correct": 0, "condemned": 0},
    }
    told = {"subjects": [subject], "rates": rates, "own_driver": None}
    assert (status, json.loads(printed)) == (0, told)


def test_it_says_that_the_labs_own_driver_goes_through_the_same_proof(
    selftest: Selftest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proving, "try_entry", once(proving.try_entry))
    status, printed = selftest(LAB, SABOTAGED, form="text")
    said = (
        "the lab's own driver goes through the same proof at all six boundaries, killed twice: "
        "it passes under 1 of 1 tool contracts"
    )
    assert (status, printed.splitlines()[-1]) == (0, said)
    _, for_programs = selftest(LAB, SABOTAGED)
    assert json.loads(for_programs)["own_driver"] == {"proofs": 1, "passed": 1}


def test_an_own_driver_that_is_condemned_does_not_pass(selftest: Selftest) -> None:
    condemned = replace(SABOTAGED, expects=None, plans=frozenset(), depth=2)
    status, printed = selftest(condemned)
    assert (status, json.loads(printed)["own_driver"]) == (1, {"proofs": 1, "passed": 0})


NOT_TOLD = {
    "a broken one that is not found": (
        replace(LOGS, expects="effect_lost", plans=frozenset({"effect:before#1"})),
        "NOT SO: passes",
    ),
    "a broken one found for another reason": (
        replace(FINALLY, expects="effect_lost"),
        "NOT SO: effect_replayed",
    ),
    "a broken one found elsewhere": (
        replace(FINALLY, plans=frozenset({"effect:before#1"})),
        "NOT SO: effect_replayed",
    ),
    "a correct one condemned": (
        replace(FINALLY, expects=None, plans=frozenset()),
        "NOT SO: effect_replayed",
    ),
}


@pytest.mark.parametrize(("entry", "told"), NOT_TOLD.values(), ids=NOT_TOLD)
def test_it_fails_where_a_subject_is_not_told(entry: Entry, told: str, selftest: Selftest) -> None:
    status, printed = selftest(entry, form="text")
    assert (status, f"  {told}  " in printed) == (1, True), printed


class RaisesAtOnce:
    """Raises before it does anything."""

    def __init__(self, ctx: object) -> None:
        raise OSError("not today")


def test_a_subject_that_fails_without_a_crash_is_not_told() -> None:
    trial = try_entry(correct(RaisesAtOnce))
    failed = str(trial.process.failed).partition(" (")[0]
    assert (trial.told, failed) == (
        False,
        "the subject failed without a crash, in the baseline: OSError: not today",
    )


def test_a_played_death_that_never_ends_is_given_up_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    trial = try_entry(BY_NAME["waits-for-dead-life"])
    assert (trial.told, trial.told_inline, trial.inline_said) == (
        True,
        False,
        "it does not end",
    )
    assert list(tmp_path.iterdir()) == []
