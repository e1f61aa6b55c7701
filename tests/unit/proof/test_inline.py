"""The in-process model, as suites that were written for it expect it."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from resumeproof import Context, InjectedCrash, conform
from resumeproof.domain.conformance import ConformanceReport
from resumeproof.errors import SubjectFailed

Store = dict[str, Any]


def was_sent(ctx: Context, key: str) -> bool:
    keys = ctx.effects.keys()
    return key in keys


class Stores:
    """Memory that outlives the played deaths, one piece for each scenario."""

    def __init__(self) -> None:
        self.by_run_id: dict[str, Store] = defaultdict(lambda: {"done": []})

    def of(self, ctx: Context) -> Store:
        return self.by_run_id[ctx.run_id]


class Agent:
    def __init__(self, ctx: Context, store: Store) -> None:
        self.ctx = ctx
        self._store = store

    def step(self, item: str) -> None:
        if item in self._store["done"]:
            return
        if self.is_due(item):
            self.ctx.effect("send", item, key=item)
        self._store["done"].append(item)

    def is_due(self, item: str) -> bool:
        return not was_sent(self.ctx, item)

    def state(self) -> Any:
        return sorted(self._store["done"])


class Repeating(Agent):
    def is_due(self, item: str) -> bool:
        return True


def played(agent: Any, inputs: list[str], **options: Any) -> ConformanceReport:
    stores = Stores()
    return conform(lambda ctx: agent(ctx, stores.of(ctx)), inputs, isolation="inline", **options)


def told(report: ConformanceReport) -> list[tuple[str, int]]:
    return [(finding.kind, finding.crash_after) for finding in report.findings]


def test_an_agent_that_reconciles_passes() -> None:
    report = played(Agent, ["a", "b", "c"])
    assert (report.passed, bool(report), report.crash_points, report.findings) == (
        True,
        True,
        3,
        [],
    )


def test_a_repeated_key_is_a_replay_after_each_effect() -> None:
    report = played(Repeating, ["a", "b"])
    assert (told(report), "crash after effect #2: effect 'send' with key 'b'" in str(report)) == (
        [("effect_replayed", 1), ("effect_replayed", 2)],
        True,
    )


def test_the_lives_of_a_scenario_share_its_run_id() -> None:
    lives: list[tuple[str, int]] = []

    class Counted(Agent):
        def __init__(self, ctx: Context, store: Store) -> None:
            super().__init__(ctx, store)
            lives.append((ctx.run_id, len(ctx.effects.effects)))

    played(Counted, ["a", "b"])
    assert lives == [("run", 0), ("run-1", 0), ("run-1", 1), ("run-2", 0), ("run-2", 2)]


def test_a_key_repeated_by_design_is_no_finding() -> None:
    class Twice(Agent):
        def step(self, item: str) -> None:
            for time in range(2):
                if self.ctx.effects.keys().count(item) <= time:
                    self.ctx.effect("send", item, key=item)

    assert played(Twice, ["a", "b"]).passed


def test_a_key_that_never_comes_again_is_lost() -> None:
    class Giving(Agent):
        def step(self, item: str) -> None:
            if not self.is_resumed:
                super().step(item)

        def __init__(self, ctx: Context, store: Store) -> None:
            super().__init__(ctx, store)
            self.is_resumed = bool(ctx.effects.keys())

    assert told(played(Giving, ["a", "b"])) == [
        ("effect_lost", 1),
        ("state_lost", 1),
        ("resume_diverged", 2),
    ]


def test_effects_without_keys_are_not_compared() -> None:
    class Unkeyed(Agent):
        def step(self, item: str) -> None:
            self.ctx.effect("send", item)

        def state(self) -> Any:
            return None

    report = played(Unkeyed, ["a", "b"])
    assert (report.passed, report.crash_points) == (True, 2)


# -- the state ------------------------------------------------------------------------------------


class Changing(Agent):
    """Leaves another state in each scenario but the baseline."""

    left: Any = None

    def state(self) -> Any:
        return super().state() if self.ctx.run_id == "run" else self.left


STATES = {
    "lost": ([], [("state_lost", 1)]),
    "lost with its shape kept": ({"done": [], "more": {}}, [("state_lost", 1)]),
    "diverged": (["ghost"], [("resume_diverged", 1)]),
    "zero is something": (0, [("resume_diverged", 1)]),
}


@pytest.mark.parametrize(("left", "findings"), STATES.values(), ids=STATES)
def test_the_final_state_is_held_against_the_baselines(
    left: Any, findings: list[tuple[str, int]]
) -> None:
    agent = type("Left", (Changing,), {"left": left})
    assert told(played(agent, ["a"])) == findings


def test_without_state_the_public_attributes_are_compared() -> None:
    class Open:
        def __init__(self, ctx: Context, store: Store) -> None:
            self.ctx = ctx
            self.sent: list[str] = []
            self._secret = ctx.run_id

        def step(self, item: str) -> None:
            if not was_sent(self.ctx, item):
                self.ctx.effect("send", item, key=item)
                self.sent.append(item)

    assert told(played(Open, ["a", "b"])) == [("resume_diverged", 1), ("state_lost", 2)]


def test_a_subject_without_attributes_has_no_state() -> None:
    class Slotted:
        __slots__ = ("ctx",)

        def __init__(self, ctx: Context, store: Store) -> None:
            self.ctx = ctx

        def step(self, item: str) -> None:
            if not was_sent(self.ctx, item):
                self.ctx.effect("send", item, key=item)

    assert played(Slotted, ["a"]).passed


# -- played deaths --------------------------------------------------------------------------------


def test_except_exception_does_not_swallow_the_crash() -> None:
    class Catching(Repeating):
        def step(self, item: str) -> None:
            try:
                super().step(item)
            except Exception:
                self._store["done"].append(item)

    assert told(played(Catching, ["a"])) == [("effect_replayed", 1)]


def test_a_dead_life_has_no_more_effects() -> None:
    class Clinging(Agent):
        def step(self, item: str) -> None:
            try:
                super().step(item)
            finally:
                self.ctx.effect("clean up", key=f"clean {self.ctx.effects.keys()}")

    report = played(Clinging, ["a"], plan="effect:before#1")
    assert "clean" not in " ".join(f.detail for f in report.findings if f.kind == "effect_replayed")


def test_before_and_after_by_request() -> None:
    class Hasty(Agent):
        def step(self, item: str) -> None:
            if item not in self._store["done"]:
                self._store["done"].append(item)
                self.ctx.effect("send", item, key=item)

    report = played(Hasty, ["a", "b"], when=("before", "after"))
    assert (told(report), [scenario.run_id for scenario in report.scenarios]) == (
        [("effect_lost", 0), ("effect_lost", 1)],
        ["run-1-before", "run-1", "run-2-before", "run-2"],
    )


def test_the_resume_is_killed_as_well_at_depth_two() -> None:
    report = played(Repeating, ["a"], depth=2)
    assert [scenario.plan for scenario in report.scenarios] == [
        "effect:after#1",
        "effect:after#1;effect:after#1",
    ]


def raising(error: BaseException) -> Any:
    class Raising(Agent):
        def step(self, item: str) -> None:
            if self.ctx.effects.keys():
                raise error
            super().step(item)

    return Raising


RAISED = {
    "an exception": (RuntimeError("no"), "RuntimeError: no (test_inline.py:"),
    "the crash itself": (InjectedCrash("again"), "InjectedCrash: again (test_inline.py:"),
    "an exit": (SystemExit(0), "SystemExit: 0 (test_inline.py:"),
}


@pytest.mark.parametrize(("error", "detail"), RAISED.values(), ids=RAISED)
def test_a_resume_that_raises_has_crashed(error: BaseException, detail: str) -> None:
    (finding,) = played(raising(error), ["a"]).findings
    assert (finding.kind, finding.crash_after) == ("resume_crashed", 1)
    assert detail in finding.detail


def test_an_interruption_is_nobodys_finding() -> None:
    with pytest.raises(KeyboardInterrupt):
        played(raising(KeyboardInterrupt()), ["a"])


def test_a_death_that_was_not_played_is_invalid() -> None:
    shared: Store = {"done": []}
    report = conform(lambda ctx: Agent(ctx, shared), ["a"], isolation="inline")
    assert (report.passed, report.invalid) == (
        False,
        ["effect:after#1: planned a death at effect:after#1, but it ended by itself"],
    )


def test_a_subject_that_fails_without_a_crash_shows_where() -> None:
    class Failing(Agent):
        def step(self, item: str) -> None:
            raise KeyError(item)

    with pytest.raises(SubjectFailed, match=r"KeyError: 'a' \(test_inline.py:\d+\)") as failed:
        played(Failing, ["a"])
    assert isinstance(failed.value.__cause__, KeyError)


def test_each_scenario_has_a_directory_of_its_own_that_ends_with_it() -> None:
    places: dict[str, Path] = {}

    class Filing(Agent):
        def step(self, item: str) -> None:
            places.setdefault(self.ctx.run_id, self.ctx.directory)
            (self.ctx.directory / item).touch()
            super().step(item)

        def state(self) -> Any:
            return [path.name for path in self.ctx.directory.iterdir()]

    assert played(Filing, ["a"], run_id="../run").passed
    assert (len(set(places.values())), [path for path in places.values() if path.exists()]) == (
        2,
        [],
    )
