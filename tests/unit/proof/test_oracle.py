from __future__ import annotations

from typing import Any

import pytest

from resumeproof import Effect, Lookup, ToolContract, Unknown
from resumeproof.proof.oracle import (
    NO_STATE,
    Place,
    Seen,
    ambiguity_hidden,
    is_ambiguous,
    judge,
    judge_baseline,
)

A, B = Effect("send", "a", "a"), Effect("send", "b", "b")
UNKEYED = Effect("send", "c")
PLACE = Place("effect:after#1", 1)
BASELINE = Seen([A, B, UNKEYED], {"done": ["a", "b"]}, {"done": ["a", "b"]})


def scenario(effects: Any = (A, B, UNKEYED), state: Any = None, **other: Any) -> Seen:
    state = {"done": ["a", "b"]} if state is None else state
    return Seen(**{"effects": effects, "state": state, "reread": state, **other})


JUDGED: dict[str, tuple[Seen, list[str]]] = {
    "the same": (scenario(), []),
    "another order": (scenario((UNKEYED, B, A)), []),
    "one more": (scenario((A, A, B, UNKEYED)), ["effect_replayed"]),
    "one more without a key": (scenario((A, B, UNKEYED, UNKEYED)), ["effect_replayed"]),
    "one that the baseline never had": (
        scenario((A, B, UNKEYED, Effect("x"))),
        ["effect_replayed"],
    ),
    "one less": (scenario((A, UNKEYED)), ["effect_lost"]),
    "one less without a key": (scenario((A, B)), ["effect_lost"]),
    "another payload without a key": (
        scenario((A, B, Effect("send", "d"))),
        ["effect_lost", "effect_replayed"],
    ),
    "one less, and in doubt": (
        scenario((A, UNKEYED), {"done": ["a", Unknown("b")]}, doubts=["b"]),
        [],
    ),
    "one less, and another in doubt": (
        scenario((A, UNKEYED), {"done": [Unknown("a"), "b"]}, doubts=["a"]),
        ["effect_lost"],
    ),
    "one less without a key, and something in doubt": (scenario((A, B), doubts=["x"]), []),
    "empty": (scenario(state={"done": []}), ["state_lost"]),
    "not durable": (scenario(reread={"done": ["a"]}), ["state_lost"]),
    "diverged": (scenario(state={"done": ["a", "a"]}), ["resume_diverged"]),
    "diverged, with a doubt that was told": (
        scenario(state={"done": ["a", "?"]}, doubts=["b"], doubts_told=True),
        [],
    ),
    "no state to show": (scenario(state=NO_STATE), []),
    "raised": (scenario((A,), raised="ValueError: no"), ["resume_crashed"]),
    "raised after a replay": (
        scenario((A, A), raised="ValueError: no"),
        ["effect_replayed", "resume_crashed"],
    ),
    "hung": (scenario((A,), hung=True, raised="it did not end"), ["resume_hung"]),
    "left something behind": (scenario(orphans=2), ["orphan_process"]),
    "left a lock behind": (
        scenario(orphans=1, locked=frozenset({"subject/lock"})),
        ["lock_leaked", "orphan_process"],
    ),
}


@pytest.mark.parametrize(("seen", "kinds"), JUDGED.values(), ids=JUDGED)
def test_what_a_scenario_breaks(seen: Seen, kinds: list[str]) -> None:
    findings = judge(PLACE, BASELINE, seen)
    assert sorted(map(str, (finding.kind for finding in findings))) == sorted(kinds)
    assert {(finding.plan, finding.crash_after) for finding in findings} <= {("effect:after#1", 1)}


def test_what_the_baseline_did_twice_is_no_replay() -> None:
    assert judge(PLACE, Seen([A, A, UNKEYED, UNKEYED]), Seen([UNKEYED, A, UNKEYED, A])) == []


def test_an_empty_state_is_what_an_empty_baseline_has() -> None:
    assert judge(PLACE, Seen([A], {}, {}), Seen([A], {}, {})) == []


def test_the_details_say_what_differs() -> None:
    seen = scenario((A, A, UNKEYED), {"done": ["a"]})
    assert [finding.detail for finding in judge(PLACE, BASELINE, seen)] == [
        "effect 'send' with key 'a' happened 2 times, 1 in the baseline",
        "effect 'send' with key 'b' happened 0 times, 1 in the baseline",
        "final state {'done': ['a']}, the baseline's {'done': ['a', 'b']}",
    ]


BASELINES: dict[str, tuple[Seen, list[str]]] = {
    "sound": (BASELINE, []),
    "no state": (Seen([A]), []),
    "objects that define no equality": (Seen([A], [Exception], [Exception]), []),
    "only in memory": (Seen([A], ["a"], []), ["state_lost"]),
    "left a process behind": (Seen([A], orphans=1), ["orphan_process"]),
}


@pytest.mark.parametrize(("seen", "kinds"), BASELINES.values(), ids=BASELINES)
def test_what_the_baseline_itself_breaks(seen: Seen, kinds: list[str]) -> None:
    findings = judge_baseline(seen)
    assert [(finding.kind, finding.plan) for finding in findings] == [
        (kind, "baseline") for kind in kinds
    ]


AMBIGUOUS = {
    "nothing promised": (ToolContract("t"), True),
    "a lookup that lags": (ToolContract("t", lookup=Lookup.EVENTUAL), True),
    "a consistent lookup": (ToolContract("t", lookup=Lookup.CONSISTENT), False),
    "idempotent": (ToolContract("t", idempotent=True), False),
    "idempotent for a while": (ToolContract("t", idempotent=True, key_lifetime_seconds=9.0), True),
}


@pytest.mark.parametrize(("contract", "ambiguous"), AMBIGUOUS.values(), ids=AMBIGUOUS)
def test_where_there_can_be_ambiguity(contract: ToolContract, ambiguous: bool) -> None:
    assert is_ambiguous(contract) is ambiguous


HIDDEN = {
    "nothing in flight": (scenario(), False),
    "reported": (scenario(in_flight="a", doubts=["a"]), False),
    "recorded as known": (scenario(in_flight="a", doubts=["b"]), True),
    "raised": (scenario(in_flight="a", raised="ValueError"), False),
    "hung": (scenario(in_flight="a", hung=True), False),
}


@pytest.mark.parametrize(("seen", "hidden"), HIDDEN.values(), ids=HIDDEN)
def test_a_guess_that_is_recorded_as_known_is_found(seen: Seen, hidden: bool) -> None:
    finding = ambiguity_hidden(PLACE, seen)
    assert (finding is not None) is hidden
