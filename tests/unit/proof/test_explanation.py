from __future__ import annotations

from dataclasses import replace

import pytest

from resumeproof.crash.plan import CrashPoint
from resumeproof.crash.syscalls import operations as op
from resumeproof.crash.syscalls.power import PowerLoss
from resumeproof.crash.syscalls.states import KillState
from resumeproof.proof.explanation import explained, kill_in_words
from tests.unit.crash.syscalls.recordings import recording, tree

PROMISE = op.Print(b"saved\n")

KILLED = {
    KillState(2, 4096): "state: the 5000 bytes of {2}, are torn after the first 4096",
    KillState(1): "state: cut to 0 bytes by {1}, and written again only by {2}",
    KillState(2): "the program dies between {2}, to state, and {3}, to other",
    KillState(0): "the program dies before {1}, to state",
    KillState(4): "the program dies after {4}, to there",
}


@pytest.mark.parametrize("state", KILLED, ids=lambda state: str(state.point))
def test_a_kill_in_words(state: KillState) -> None:
    made = recording(
        op.Truncate(1, "state", 0),
        op.Write(1, "state", 0, b"x" * 5000),
        op.Write(2, "other", 0, b"y"),
        op.Rename("other", "there"),
        PROMISE,
    )
    calls = [f"call {call.ordinal}, {call.name}" for call in made.calls]

    assert kill_in_words(made, state) == KILLED[state].format("", *calls)


def test_a_domain_that_loses_its_power_alone_is_told_with_what_the_other_kept() -> None:
    made = recording(
        (0, op.Write(1, "journal", 0, b"claimed")),
        (1, op.Write(2, "ledger/effects", 0, b"effect")),
        domains=["", "ledger"],
    )
    origin = tree(journal=b"")
    origin.apply(op.MakeDirectory("ledger", 0o755))
    origin.apply(op.Create(2, "ledger/effects", 0o644))
    power = PowerLoss(made, origin, 100)

    assert explained(CrashPoint.parse("power.d0.l1:after#2"), made, origin, power) == (
        (
            "journal: appended to without fsync; after a power cut it can be empty (since call 1, "
            "write; no later call syncs it)"
        ),
        ".: lost its power alone",
        "ledger/effects: kept what was done to it meanwhile, up to call 2, write",
    )


def test_a_plan_of_a_kill_is_explained_as_one() -> None:
    made = recording(op.Create(1, "f", 0o644))

    assert explained(CrashPoint("call:before"), made, tree(), None) == (
        "the program dies before call 1, create, to f",
    )


def test_who_made_a_call_is_told_where_that_says_something() -> None:
    made = recording(op.Create(1, "n.new", 0o644), op.Rename("n.new", "n"), PROMISE)
    sh, mv = op.Process(100, None, ("sh", "count.sh")), op.Process(101, 0, ("mv", "n.new", "n"))
    moved = replace(made.calls[1], process=1)
    made = replace(made, calls=[made.calls[0], moved, made.calls[2]], processes=[sh, mv])
    power = PowerLoss(made, tree(), 100)

    (told,) = explained(CrashPoint.parse("call:after#1"), made, tree(), None)
    assert "between call 1, create by `sh count.sh`, to n.new, and call 2, rename by `mv" in told
    (told,) = explained(CrashPoint.parse("power.l2:after#3"), made, tree(), power)
    assert "(since call 2, rename by `mv n.new n`; " in told
