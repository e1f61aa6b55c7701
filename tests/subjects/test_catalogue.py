"""The catalogue: a broken subject is found for its own reason, and a correct one passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from resumeproof.domain.conformance import AT_EFFECTS, Ambiguity, ConformanceReport
from resumeproof.domain.verdict import Finding, FindingKind
from resumeproof.lab.catalogue import BROKEN, CORRECT, ENTRIES
from resumeproof.lab.catalogue.entry import NEEDLESS_ESCALATION, Entry, reasons_of
from resumeproof.lab.selftest import prove_entry
from tests.subjects.trials import row_in_readme, row_of, tried

BY_NAME = {entry.name: entry for entry in ENTRIES}

BROKEN_AND_KEPT = {
    FindingKind.EFFECT_REPLAYED: ("acts-without-key", "asks-receiver"),
    FindingKind.EFFECT_LOST: ("marks-before-it-acts", "asks-receiver"),
    FindingKind.EFFECT_UNAPPROVED: ("lab-sends-changed-bytes", "lab-consistent"),
    FindingKind.STATE_LOST: ("keeps-state-in-module", "books-in-database"),
    FindingKind.RESUME_DIVERGED: ("counts-twice", "appends-to-log"),
    FindingKind.RESUME_CRASHED: ("refuses-stale-lock", "holds-kernel-lock"),
    FindingKind.RESUME_HUNG: ("waits-for-stale-lock", "holds-kernel-lock"),
    FindingKind.WORK_REPEATED: ("lab-runs-acknowledged-step", "lab-idempotent"),
    FindingKind.AMBIGUITY_HIDDEN: ("lab-completes-later-doubt", "lab-silent"),
    FindingKind.TERMINAL_MISSING: ("lab-takes-acknowledged-for-ended", "lab-idempotent"),
    FindingKind.TERMINAL_REPEATED: ("lab-ends-again", "lab-idempotent"),
    FindingKind.RECORD_AHEAD: ("lab-commits-record-first", "lab-idempotent"),
    FindingKind.STATE_AHEAD: ("lab-commits-state-first", "lab-idempotent"),
    FindingKind.RETRY_CAP_EXCEEDED: ("lab-counts-retries-anew", "lab-retries"),
    FindingKind.LOCK_LEAKED: ("leaves-locked-child", "ends-child-by-pipe"),
    FindingKind.ORPHAN_PROCESS: ("leaves-child", "ends-child-by-pipe"),
    FindingKind.EVIDENCE_BROKEN: ("lab-believes-replayed-receipt", "lab-idempotent"),
    NEEDLESS_ESCALATION: ("doubts-needlessly", "asks-receiver"),
}
"""For every guarantee, one subject that breaks it and one that keeps it in the same place."""


def at_effects(entries: Sequence[Entry]) -> list[Entry]:
    """Those that die at their effects; what dies at its calls is in `test_catalogue_calls.py`."""
    return [entry for entry in entries if entry.at == AT_EFFECTS]


@pytest.mark.crash
@pytest.mark.parametrize("entry", at_effects(BROKEN), ids=lambda entry: entry.name)
def test_a_broken_subject_is_found_for_its_own_reason(entry: Entry) -> None:
    trial, (report,) = tried(entry)
    found = reasons_of(report)
    assert (
        set(found),
        found.get(str(entry.expects)),
        report.invalid,
        report.certificate.adds_up,
    ) == (set(entry.reasons), set(entry.plans), [], True), str(report)
    assert row_of(trial) == row_in_readme(entry)


@pytest.mark.crash
@pytest.mark.parametrize("entry", at_effects(CORRECT), ids=lambda entry: entry.name)
def test_a_correct_subject_passes(entry: Entry) -> None:
    trial, (report,) = tried(entry)
    told = reasons_of(report), report.passed, report.certificate.adds_up
    assert (told, report.certificate.judged >= 4) == (({}, True, True), True), str(report)
    assert row_of(trial) == row_in_readme(entry)


@pytest.mark.crash
def test_only_a_second_death_shows_a_recovery_that_is_safe_once() -> None:
    report = prove_entry(replace(BY_NAME["recovers-only-once"], depth=1))
    assert (report.passed, report.certificate.judged) == (True, 4)


def test_every_guarantee_is_listed() -> None:
    # Whether a promise is broken, a check says, and only a command line has one: examples/explore.
    assert {*BROKEN_AND_KEPT, FindingKind.PROMISE_BROKEN} == {*FindingKind, NEEDLESS_ESCALATION}


@pytest.mark.parametrize("reason", BROKEN_AND_KEPT)
def test_every_guarantee_has_a_subject_that_breaks_it_and_one_that_keeps_it(reason: str) -> None:
    broken, kept = (BY_NAME[name] for name in BROKEN_AND_KEPT[reason])
    assert (broken.expects, kept.expects) == (reason, None)


def test_every_entry_can_be_told_apart() -> None:
    described = {entry.name: entry.description for entry in ENTRIES}
    assert len(described) == len(set(described.values())) == len(ENTRIES)
    assert all(described.values())


# -- what counts as found ---------------------------------------------------------------------

LOST = BY_NAME["marks-before-it-acts"]


def report_of(*findings: tuple[FindingKind, str]) -> ConformanceReport:
    return ConformanceReport(2, [Finding(kind, 0, "", plan) for kind, plan in findings])


AS_EXPECTED = tuple((FindingKind.EFFECT_LOST, plan) for plan in sorted(LOST.plans))

UNMET = {
    "nothing": (LOST, report_of()),
    "another reason": (
        LOST,
        report_of(*((FindingKind.EFFECT_REPLAYED, plan) for plan in LOST.plans)),
    ),
    "one reason more": (
        LOST,
        report_of(*AS_EXPECTED, (FindingKind.STATE_LOST, "effect:before#1")),
    ),
    "another plan": (LOST, report_of((FindingKind.EFFECT_LOST, "effect:after#1"))),
    "one plan more": (
        LOST,
        report_of(*AS_EXPECTED, (FindingKind.EFFECT_LOST, "effect:after#1")),
    ),
    "a kill that did not happen": (LOST, replace(report_of(*AS_EXPECTED), invalid=["hung"])),
    "a score that shows nothing": (
        BY_NAME["doubts-needlessly"],
        replace(report_of(), scored=Ambiguity(reported=2)),
    ),
    "a correct one condemned": (BY_NAME["asks-receiver"], report_of(*AS_EXPECTED)),
    "a correct one not really killed": (
        BY_NAME["asks-receiver"],
        replace(report_of(), invalid=["hung"]),
    ),
}


@pytest.mark.parametrize(("entry", "report"), UNMET.values(), ids=UNMET)
def test_a_report_that_finds_anything_else_does_not_count(
    entry: Entry, report: ConformanceReport
) -> None:
    assert not entry.is_met_by(report)


MET = {
    "a broken one": (LOST, report_of(*AS_EXPECTED)),
    "a correct one": (BY_NAME["asks-receiver"], report_of()),
    "a score": (
        BY_NAME["doubts-needlessly"],
        replace(report_of(), scored=Ambiguity(reported=2, needless=2)),
    ),
}


@pytest.mark.parametrize(("entry", "report"), MET.values(), ids=MET)
def test_a_report_that_finds_just_that_counts(entry: Entry, report: ConformanceReport) -> None:
    assert entry.is_met_by(report)
