"""How a scenario went is told by the effects of its baseline, whatever became of them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from resumeproof.domain.course import EffectName, Run
from resumeproof.proof.context import Effect
from resumeproof.proof.course import Courses, undisturbed
from resumeproof.proof.oracle import Seen


def effects(names: str) -> list[Effect]:
    """One effect for each letter: a large one is its key, a small one is of that payload alone."""
    return [
        Effect("pay", name) if name.islower() else Effect("pay", {"at": seq}, name)
        for seq, name in enumerate(names)
    ]


A, X, Y = (EffectName("pay", key) for key in "AXY")
a = EffectName("pay", None, "'a'")

CASES: dict[str, tuple[str, str, Sequence[Run | EffectName]]] = {
    "as without a crash": ("ABC", "ABC", [(1, 3)]),
    "nothing": ("ABC", "", []),
    "nothing, of nothing": ("", "", []),
    "one lost": ("ABC", "AC", [(1, 1), (3, 3)]),
    "one again": ("ABC", "ABBC", [(1, 2), (2, 3)]),
    "all from the beginning": ("ABC", "ABABC", [(1, 2), (1, 3)]),
    "another between": ("ABC", "AXBC", [(1, 1), X, (2, 3)]),
    "two others": ("A", "XYA", [X, Y, (1, 1)]),
    "without keys": ("aab", "aab", [(1, 3)]),
    "without keys, one again": ("aab", "aaab", [(1, 2), (1, 1), (3, 3)]),
    "an unknown one without a key": ("A", "Aa", [(1, 1), a]),
}


@pytest.mark.parametrize(("baseline", "scenario", "told"), CASES.values(), ids=CASES)
def test_effects_are_told_by_the_baseline(
    baseline: str, scenario: str, told: Sequence[Run | EffectName]
) -> None:
    courses = Courses(effects(baseline))
    assert list(courses.of([0], Seen(effects(scenario))).effects) == list(told)


def test_a_course_tells_how_the_last_life_ended() -> None:
    seen = Seen(effects("A"), raised="ValueError", hung=True, doubts=["A"], absorbed=2)
    course = Courses(effects("AB")).of([1, 1], seen)
    assert (course.committed, course.raised, course.hung, course.doubts, course.absorbed) == (
        (1, 1), "ValueError", True, ("A",), 2,
    )  # fmt: skip


def test_a_run_without_a_crash_is_told_by_names() -> None:
    told = undisturbed(
        Seen(effects("Aa"), state={"b"}, reread={"b"}),
        [("effect:before", 1), ("effect:after", 1)],
    )
    assert (told.passed, told.effects, told.state) == (
        ("effect:before#1", "effect:after#1"), (A, a), "{'b'}",
    )  # fmt: skip


def test_a_subject_may_show_no_state() -> None:
    assert undisturbed(Seen([]), []).state is None
