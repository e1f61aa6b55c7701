"""Violations that differ in figures alone are alike, and no others."""

from __future__ import annotations

import pytest

from resumeproof.domain.verdict import FindingKind, Violation
from resumeproof.proof.commands.discoveries import likeness


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("state says 1, and 2 was promised", "state says 2, and 3 was promised", True),
        ("lost: [1, 2, 3]", "lost: [3]", True),
        ("state is empty", "state is missing", False),
        ("lost: [1]", "corrupt: [1]", False),
    ],
)
def test_likeness_leaves_figures_aside(one: str, other: str, alike: bool) -> None:
    kind = FindingKind.PROMISE_BROKEN
    assert (likeness(Violation(kind, one)) == likeness(Violation(kind, other))) is alike


def test_another_kind_is_never_alike() -> None:
    kinds = FindingKind.PROMISE_BROKEN, FindingKind.RESUME_CRASHED
    assert len({likeness(Violation(kind, "gone")) for kind in kinds}) == 2
