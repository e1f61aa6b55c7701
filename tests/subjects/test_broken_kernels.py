"""Each broken kernel is found by the shape meant for it, for its own reason, and only by dying."""

from __future__ import annotations

import pytest

from resumeproof.proof.progress import Silence
from resumeproof.proof.shapes import SHAPES
from resumeproof.proof.shapes.run import Cell, prove_cell
from resumeproof.stores.protocols import JournalFormat
from tests.subjects.broken_kernels import BROKEN_KERNELS

pytestmark = pytest.mark.crash


@pytest.mark.parametrize("name", BROKEN_KERNELS)
def test_a_broken_kernel_is_found_for_its_own_reason(name: str) -> None:
    broken = BROKEN_KERNELS[name]
    report = prove_cell(
        Cell(SHAPES[broken.shape], JournalFormat.SQLITE, broken.mode),
        depth=1,
        jobs=1,
        progress=Silence(),
        make_world=broken.make_world,
    )
    kinds = {finding.kind for finding in report.findings}
    without_a_crash = [str(each) for each in report.findings if each.plan == "baseline"]
    assert (kinds, without_a_crash, report.invalid) == ({broken.expects, *broken.brings}, [], [])
