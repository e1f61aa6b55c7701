from __future__ import annotations

from pathlib import Path

import pytest

from resumeproof import Context, Effect, EffectLog, InjectedCrash, Lookup, ToolContract
from resumeproof.errors import KeyConflict, LookupNotOffered
from resumeproof.proof.context import ReceiverLog
from resumeproof.stores.receiver import Receiver, make_receiver


def test_a_log_holds_the_effects_in_order() -> None:
    log = EffectLog()
    context = Context("r", log)
    context.effect("send", 1, key="a")
    context.effect("send", 2)
    assert (log.effects, log.keys(), context.run_id) == (
        [Effect("send", 1, "a", 0), Effect("send", 2, None, 1)],
        ["a"],
        "r",
    )


def test_a_crash_follows_the_effect() -> None:
    log = EffectLog()
    context = Context("r", log, crash_at=2)
    context.effect("send", key="a")
    with pytest.raises(InjectedCrash, match=r"^crash after effect #2 \(send\)$"):
        context.effect("send", key="b")
    assert log.keys() == ["a", "b"]


def test_a_crash_is_no_exception_that_a_subject_would_catch() -> None:
    assert not issubclass(InjectedCrash, Exception)


def test_each_boundary_is_told_once_and_in_order() -> None:
    told: list[tuple[str, int, int]] = []
    log = EffectLog()
    context = Context(
        "r", log, at_boundary=lambda name, ordinal: told.append((name, ordinal, len(log.effects)))
    )
    context.effect("send")
    context.effect("send")
    assert told == [
        ("effect:before", 1, 0),
        ("effect:after", 1, 1),
        ("effect:before", 2, 1),
        ("effect:after", 2, 2),
    ]


def test_the_first_effect_of_a_key_is_looked_up() -> None:
    context = Context("r", EffectLog())
    context.effect("send", 1, key="a")
    context.effect("send", 2, key="a")
    assert (context.lookup("a"), context.lookup("b")) == (Effect("send", 1, "a", 0), None)


def test_a_context_of_ones_own_has_no_directory() -> None:
    with pytest.raises(ValueError, match="this context has no directory"):
        print(Context("r", EffectLog()).directory)


def test_whether_the_run_id_was_read_is_known() -> None:
    context = Context("r", EffectLog())
    before = context.run_id_was_read
    assert (before, context.run_id, context.run_id_was_read) == (False, "r", True)


def test_doubts_are_noted() -> None:
    context = Context("r", EffectLog())
    context.in_doubt("a")
    assert context.doubts == ["a"]


def test_a_tool_without_a_lookup_shows_nothing() -> None:
    context = Context("r", EffectLog(), contract=ToolContract("bank"))
    context.effect("send", key="a")
    with pytest.raises(LookupNotOffered):
        context.lookup("a")
    with pytest.raises(LookupNotOffered):
        print(context.effects)


# -- with a receiver behind it -----------------------------------------------------------------


def receiver(path: Path, contract: ToolContract, seconds: list[float]) -> Receiver:
    if not path.exists():
        make_receiver(path)
    return Receiver(path, contract, lambda: seconds[0])


CONSISTENT = ToolContract("bank", lookup=Lookup.CONSISTENT)


def test_the_next_life_sees_the_effects_of_the_last(tmp_path: Path) -> None:
    first = receiver(tmp_path / "r", CONSISTENT, [0.0])
    Context("r", ReceiverLog(first, 1)).effect("send", {"a": (1, 2)}, key="k")
    first.close()
    second = receiver(tmp_path / "r", CONSISTENT, [0.0])
    context = Context("r", ReceiverLog(second, 2), contract=CONSISTENT)
    seen = (context.effects.effects, context.effects.keys(), context.lookup("k"))
    second.close()
    effect = Effect("send", {"a": (1, 2)}, "k", 0)
    assert seen == ([effect], ["k"], effect)


def test_an_idempotent_receiver_answers_with_the_first_effect(tmp_path: Path) -> None:
    opened = receiver(tmp_path / "r", ToolContract("bank", idempotent=True), [0.0])
    log = ReceiverLog(opened, 1)
    answers = [log.record("send", "a", key="k").seq for _ in range(2)]
    with pytest.raises(KeyConflict):
        log.record("send", "b", key="k")
    kept = len(log.effects)
    opened.close()
    assert (answers, kept) == ([0, 0], 1)


def test_an_eventual_lookup_lags(tmp_path: Path) -> None:
    contract = ToolContract("bank", lookup=Lookup.EVENTUAL, lookup_lag_seconds=5.0)
    seconds = [0.0]
    opened = receiver(tmp_path / "r", contract, seconds)
    context = Context("r", ReceiverLog(opened, 1), contract=contract)
    context.effect("send", key="k")
    at_once = context.lookup("k")
    seconds[0] = 6.0
    later = context.lookup("k")
    opened.close()
    assert (at_once, later) == (None, Effect("send", None, "k", 0))
