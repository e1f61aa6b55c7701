"""Each broken kernel is found by the shape meant for it, for its own reason, and only by dying."""

from __future__ import annotations

import pytest

from resumeproof.stores.protocols import JournalFormat
from tests.subjects.broken_kernels import BROKEN_KERNELS

# The gate makes the table in docs/harness.md anew, which proves all of them on both journals.
pytestmark = [pytest.mark.crash, pytest.mark.campaign]

CASES = [
    pytest.param(name, journal_format, id=f"{name}, {journal_format}")
    for name, broken in BROKEN_KERNELS.items()
    for journal_format in broken.formats
]


@pytest.mark.parametrize(("name", "journal_format"), CASES)
def test_a_broken_kernel_is_found_for_its_own_reason(
    name: str, journal_format: JournalFormat
) -> None:
    broken = BROKEN_KERNELS[name]
    report = broken.prove(journal_format, jobs=1)
    kinds = frozenset(finding.kind for finding in report.findings)
    without_a_crash = [str(each) for each in report.findings if each.plan == "baseline"]
    assert (kinds, without_a_crash, report.invalid) == (broken.findings(journal_format), [], [])
