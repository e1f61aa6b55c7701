"""Subjects that are broken between two of their own writes: found at their calls alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from resumeproof.domain.conformance import AT_CALLS
from resumeproof.lab.catalogue.entry import Entry, reasons_of
from resumeproof.lab.catalogue.writing import BROKEN, CORRECT
from resumeproof.lab.selftest import Found, try_entry
from tests.crash.syscalls.programs import needs_strace
from tests.subjects.trials import row_in_readme, row_of, tried

pytestmark = [pytest.mark.crash, needs_strace]

ALIKE = {
    "counts-in-other-file": "counts-what-it-holds",
    "rewrites-in-place": "rewrites-beside",
    "pays-from-file": "looks-into-its-ledger",
}
"""Each broken one with the one that is mended."""


def test_each_broken_one_has_been_mended() -> None:
    assert {one.name: other.name for one, other in zip(BROKEN, CORRECT, strict=True)} == ALIKE


@pytest.mark.parametrize("entry", BROKEN, ids=lambda entry: entry.name)
def test_a_broken_one_is_found_at_its_calls_alone_and_killed_there_for_real(entry: Entry) -> None:
    trial, (report, at_effects) = tried(entry)
    certificate = report.certificate
    assert (set(reasons_of(report)), report.invalid, entry.is_met_by(report)) == (
        {entry.expects},
        [],
        True,
    ), str(report)
    assert all("; confirmed: a life was killed there" in each.detail for each in report.findings)
    assert (certificate.adds_up, certificate.enumerated) == (True, len(report.scenarios))
    assert (at_effects.passed, at_effects.nothing_proved) == (True, False), str(at_effects)
    assert row_of(trial) == row_in_readme(entry)


@pytest.mark.parametrize("entry", CORRECT, ids=lambda entry: entry.name)
def test_a_mended_one_passes(entry: Entry) -> None:
    trial, (report, _) = tried(entry)
    told = report.passed, report.certificate.adds_up, report.nothing_proved
    assert told == (True, True, False), str(report)
    assert row_of(trial) == row_in_readme(entry)


@pytest.mark.parametrize(
    "wrong",
    [
        replace(BROKEN[2], expects="effect_lost"),
        replace(BROKEN[2], words=("ledger.txt is missing",)),
        replace(BROKEN[2], expects=None),
    ],
    ids=["another reason", "other words", "correct"],
)
def test_a_report_that_says_anything_else_does_not_count(wrong: Entry) -> None:
    _, (report, _) = tried(BROKEN[2])
    assert not wrong.is_met_by(report)


def test_the_selftest_says_what_only_calls_show() -> None:
    trial, _ = tried(BROKEN[2])
    assert (trial.told, trial.process_said, trial.at_effects, trial.entry.at) == (
        True,
        "found at its calls, missed at its effects",
        Found(),
        AT_CALLS,
    )


def test_the_selftest_leaves_out_what_cannot_be_recorded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    trial = try_entry(BROKEN[2])
    assert (trial.untried, trial.told, trial.process_said) == (True, False, "not tried")
    assert "apt-get install strace" in str(trial.process.failed)
