"""Subjects of the catalogue on trial, and what the README's table says of each."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import pytest

from docs_detection import detection_row
from docs_regions import standing, table_row
from resumeproof.domain.conformance import ConformanceReport
from resumeproof.lab import selftest
from resumeproof.lab.catalogue.entry import Entry
from resumeproof.lab.selftest import Trial, prove_entry


@cache
def tried(entry: Entry) -> tuple[Trial, Sequence[ConformanceReport]]:
    """One trial, and the report of each of its proofs by processes that really die."""
    reports: list[ConformanceReport] = []

    def prove(entry: Entry, *, jobs: int | None = None) -> ConformanceReport:
        reports.append(prove_entry(entry, jobs=jobs))
        return reports[-1]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(selftest, "prove_entry", prove)
        return selftest.try_entry(entry, jobs=1), reports


def row_of(trial: Trial) -> str:
    """The row of the table that this trial makes."""
    return table_row(detection_row(trial))


def row_in_readme(entry: Entry) -> str:
    """The row of the table as it stands in the README."""
    (row,) = (
        line
        for line in standing("detection").splitlines(keepends=True)
        if line.startswith(f"| `{entry.name}` |")
    )
    return row
