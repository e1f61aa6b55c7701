"""Each broken kernel is found by the shape meant for it, for its own reason, and only by dying."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from docs_kernels import HEADS, deaths_that_show, row, without_json
from docs_regions import standing, table
from resumeproof.stores.protocols import JournalFormat
from tests.subjects.broken_kernels import BROKEN_KERNELS, BrokenKernel

pytestmark = pytest.mark.crash

SHOWN_BY_SQLITE = {
    "fresh key",
    "listeners told once",
    "parent told once",
    "applied first",
    "memory after lease",
    "acknowledged first",
    "timer in memory",
}
"""Those whose bug no journal takes part in: on JSON the gate proves their shapes without it."""


def marks(name: str, journal_format: JournalFormat) -> Sequence[pytest.MarkDecorator]:
    left_out = journal_format is JournalFormat.JSON and name in SHOWN_BY_SQLITE
    return [pytest.mark.campaign] if left_out else []


CASES = [
    pytest.param(
        name, journal_format, id=f"{name}, {journal_format}", marks=marks(name, journal_format)
    )
    for name, broken in BROKEN_KERNELS.items()
    for journal_format in broken.formats
]

ROWS = standing("broken-kernels").splitlines()


@pytest.mark.parametrize(("name", "journal_format"), CASES)
def test_a_broken_kernel_is_found_for_its_own_reason(
    name: str, journal_format: JournalFormat
) -> None:
    broken = BROKEN_KERNELS[name]
    report = broken.prove(journal_format, jobs=1)
    kinds = frozenset(finding.kind for finding in report.findings)
    without_a_crash = [str(each) for each in report.findings if each.plan == "baseline"]
    assert (kinds, without_a_crash, report.invalid) == (broken.findings(journal_format), [], [])
    assert deaths_that_show(broken, report) == cells_of(broken)[journal_format]


def cells_of(broken: BrokenKernel) -> Mapping[JournalFormat, str]:
    """What the row in docs/harness.md says of its deaths on each journal."""
    (line,) = (line for line in ROWS if line.startswith(f"| {broken.about} |"))
    return dict(zip(JournalFormat, line.split(" | ")[3:5], strict=True))


def test_the_table_has_each_of_them_and_nothing_else() -> None:
    cells = [list(cells_of(broken).values()) for broken in BROKEN_KERNELS.values()]
    without = [
        each
        for broken, (_, each) in zip(BROKEN_KERNELS.values(), cells, strict=True)
        if broken.no_json
    ]
    assert without == [without_json(each) for each in BROKEN_KERNELS.values() if each.no_json]
    assert standing("broken-kernels") == table(HEADS, map(row, BROKEN_KERNELS.values(), cells))
