from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resumeproof.crash.plan import BASELINE, Boundary, CrashPlan, CrashPoint
from resumeproof.errors import PlanRefused

NAMES = st.from_regex(r"[a-z][a-z0-9_.-]{0,63}", fullmatch=True)
NUMBERS = st.integers(1, 999_999_999)
BOUNDARIES = st.one_of(
    st.sampled_from(Boundary),
    st.builds("{}:{}".format, NAMES, st.sampled_from(["before", "after"])),
    st.builds("{}#{}:{}".format, NAMES, NUMBERS, st.sampled_from(["before", "after"])),
)
MISSING = "a crash point is missing; a plan without any is written 'baseline'"
MISSHAPEN = (
    "a crash point is a boundary and its occurrence, such as tool:after#1 in the lab, "
    "effect:before#2 of an agent, append:after#1 of a store, call:after#3 of a program"
)
PLANS = st.builds(CrashPlan, st.lists(st.builds(CrashPoint, BOUNDARIES, NUMBERS)).map(tuple))


def test_boundaries_are_in_the_order_of_the_protocol() -> None:
    assert list(Boundary) == [
        "claim:before", "claim:after", "tool:before", "tool:after", "ack:before", "ack:after",
    ]  # fmt: skip


@given(PLANS)
def test_plan_survives_its_one_line_text(plan: CrashPlan) -> None:
    text = str(plan)
    assert (CrashPlan.parse(text), len(text.splitlines())) == (plan, 1)


@given(st.lists(st.sampled_from(["tool", ":", "after", "#", "2", "0", ";", " ", BASELINE])))
def test_text_is_a_plan_with_one_meaning_or_refused(tokens: list[str]) -> None:
    with contextlib.suppress(PlanRefused):
        plan = CrashPlan.parse("".join(tokens))
        assert CrashPlan.parse(str(plan)) == plan


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("baseline", ()),
        ("tool:after", (CrashPoint(Boundary.TOOL_AFTER, 1),)),
        ("tool:after#2", (CrashPoint(Boundary.TOOL_AFTER, 2),)),
        ("tool:after#1; ack:before", (CrashPoint("tool:after"), CrashPoint("ack:before"))),
        ("append#3:before#2", (CrashPoint("append#3:before", 2),)),
        (" effect:after\n", (CrashPoint("effect:after"),)),
    ],
    ids=["baseline", "first-is-implied", "second", "two-lives", "persistence-call", "blanks"],
)
def test_plan_is_read(text: str, points: tuple[CrashPoint, ...]) -> None:
    assert CrashPlan.parse(text).points == points


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", MISSING),
        ("tool:after;", MISSING),
        ("tool", MISSHAPEN),
        ("tool:during", MISSHAPEN),
        ("tool:after#0", MISSHAPEN),
        ("tool:after#01", MISSHAPEN),
        ("tool:after#-1", MISSHAPEN),
        ("tool:after#\u0661", MISSHAPEN),
        ("Tool:after", MISSHAPEN),
        ("baseline;tool:after", MISSHAPEN),
        (f"{'a' * 201}:after", MISSHAPEN),
    ],
    ids=[
        "empty", "empty-point", "no-side", "no-such-side", "zeroth", "leading-zero", "negative",
        "other-digits", "capital", "baseline-and-a-point", "name-too-long",
    ],
)  # fmt: skip
def test_plan_is_refused_with_its_reason(text: str, reason: str) -> None:
    with pytest.raises(PlanRefused) as refused:
        CrashPlan.parse(text)
    assert refused.value.reason == reason


@pytest.mark.parametrize(
    ("boundary", "occurrence", "text"),
    [
        ("tool", 1, "tool"),
        ("tool:after", 0, "tool:after#0"),
        ("a:after", 10**9, f"a:after#{10**9}"),
    ],
    ids=["no-side", "zeroth", "too-many"],
)
def test_point_that_has_no_text_cannot_be_made(boundary: str, occurrence: int, text: str) -> None:
    with pytest.raises(PlanRefused) as refused:
        CrashPoint(boundary, occurrence)
    assert refused.value.text == text
