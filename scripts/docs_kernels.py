"""What the documents say of kernels with one bug each, by proving every one of them.

The tests of the broken kernels hold each to its cells.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from resumeproof.domain.conformance import ConformanceReport
from resumeproof.stores.protocols import JournalFormat

if TYPE_CHECKING:
    from tests.subjects.broken_kernels import BrokenKernel

HEADS: Final = (
    "the bug",
    "shape",
    "found as",
    "deaths that show it, SQLite journal",
    "JSON journal",
    "with it come",
)


def rows() -> Iterator[tuple[str, ...]]:
    """A broken kernel a row. Raises `ValueError` for one that is not found for its own reason."""
    # They lie with the tests, which no installation has.
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    from tests.subjects.broken_kernels import BROKEN_KERNELS

    for broken in BROKEN_KERNELS.values():
        yield row(broken, [_cell(broken, journal_format) for journal_format in JournalFormat])


def row(broken: BrokenKernel, deaths: Sequence[str]) -> tuple[str, ...]:
    """A broken kernel with the deaths that show it on each journal."""
    with_it = sorted(set().union(*map(broken.findings, broken.formats)) - {broken.expects})
    mode = "" if broken.mode.dies_there else f", mode `{broken.mode}`"
    return (
        broken.about,
        f"`{broken.shape}`{mode}",
        f"`{broken.expects}`",
        *deaths,
        ", ".join(f"`{kind}`" for kind in with_it),
    )


def _cell(broken: BrokenKernel, journal_format: JournalFormat) -> str:
    if journal_format not in broken.formats:
        return without_json(broken)
    report = broken.prove(journal_format, jobs=None)
    if {finding.kind for finding in report.findings} != broken.findings(journal_format):
        raise ValueError(f"{broken.about}, on {journal_format}: {report}")
    return deaths_that_show(broken, report)


def without_json(broken: BrokenKernel) -> str:
    """Why there is no JSON journal with this bug."""
    return f"(none: {broken.no_json})"


def deaths_that_show(broken: BrokenKernel, report: ConformanceReport) -> str:
    """At how many deaths of a proof the bug is found for its own reason."""
    shown_by = {finding.plan for finding in report.findings if finding.kind == broken.expects}
    return f"{len(shown_by)} of {report.certificate.verified}"
