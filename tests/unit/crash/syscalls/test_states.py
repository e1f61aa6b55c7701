from __future__ import annotations

import pytest

from resumeproof.crash.plan import CrashPlan, CrashPoint
from resumeproof.crash.syscalls import operations as op
from resumeproof.crash.syscalls.states import (
    KillState,
    Output,
    is_kill_point,
    kill_state,
    kill_states,
)
from resumeproof.errors import PlanRefused
from tests.unit.crash.syscalls.recordings import recording

SAVED = recording(
    op.Create(1, "a", 0o644),
    op.Write(1, "a", 4000, b"x" * 5000),
    op.Sync(1, "a"),
    op.Print(b"one\n"),
    op.SyncDirectory(""),
    op.Print(b"two\n"),
)


def test_every_boundary_is_in_one_state_and_a_sync_makes_none() -> None:
    states = kill_states(SAVED)

    assert [(state.ordinal, state.cut, state.stands_for) for state in states] == [
        (0, None, 1),
        (1, None, 2),
        (2, 96, 1),
        (2, 4192, 1),
        (2, None, 4),
        (4, None, 4),
        (6, None, 1),
    ]
    assert sum(state.stands_for for state in states) == 2 * 6 + 2


def test_a_sync_behind_a_cut_write_is_counted_with_the_whole_write() -> None:
    states = kill_states(recording(op.Sync(1, "a"), op.Write(1, "a", 0, bytes(5000))))

    assert [(state.ordinal, state.cut, state.stands_for) for state in states] == [
        (0, None, 3),
        (2, 4096, 1),
        (2, None, 1),
    ]


def test_every_state_has_a_plan_that_leads_back_to_it() -> None:
    plans = [str(state.point) for state in kill_states(SAVED)]

    assert plans == [
        "call:before#1",
        "call:after#1",
        "write-cut96:after#2",
        "write-cut4192:after#2",
        "call:after#2",
        "call:after#4",
        "call:after#6",
    ]
    for plan, state in zip(plans, kill_states(SAVED), strict=True):
        (point,) = CrashPlan.parse(plan).points
        assert is_kill_point(point)
        read = kill_state(point, SAVED)
        assert (read.ordinal, read.cut) == (state.ordinal, state.cut)


def test_before_a_call_is_after_the_one_before_it() -> None:
    assert kill_state(CrashPoint("call:before", 3), SAVED) == KillState(2)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("call:after#7", "there are 6 calls"),
        ("write-cut95:after#2", r"can be cut after \[96, 4192\] bytes"),
        ("write-cut96:after#3", "can be cut after no bytes"),
        ("tool:after#1", "call:after#K"),
    ],
)
def test_a_plan_of_no_state_is_refused(text: str, reason: str) -> None:
    with pytest.raises(PlanRefused, match=reason):
        kill_state(CrashPoint.parse(text), SAVED)


def test_what_was_printed_by_a_call_includes_its_own() -> None:
    output = Output(SAVED)

    assert [output.by(ordinal) for ordinal in (0, 3, 4, 5, 6)] == [
        b"",
        b"",
        b"one\n",
        b"one\n",
        b"one\ntwo\n",
    ]
