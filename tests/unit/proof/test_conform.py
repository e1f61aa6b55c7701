from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import pytest

import resumeproof
from resumeproof import Context, conform
from resumeproof.errors import PayloadRefused, PlanRefused, SubjectFailed, UsageRefused
from resumeproof.proof.conform import chosen_isolation


class Silent:
    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx

    def step(self, item: Any) -> None:
        pass


MISUSE: dict[str, tuple[dict[str, Any], str]] = {
    "factory": ({"factory": 7}, "the factory is no callable: int"),
    "inputs": ({"inputs": 7}, "inputs is not iterable: int"),
    "run id": ({"run_id": ""}, "run_id must be a text that is not empty, not ''"),
    "isolation": (
        {"isolation": "thread"},
        "isolation 'thread' is none of process, inline, spawn",
    ),
    "kill": ({"kill": "term"}, "kill 'term' is none of exit86, sigkill"),
    "when is empty": ({"when": ()}, "when names the sides before, after, and is empty"),
    "when is unknown": (
        {"when": ("before", "during")},
        "when names the sides before, after, and is 'during'",
    ),
    "depth": ({"depth": 0}, "depth must be a whole number of at least 1, not 0"),
    "depth is no number": ({"depth": "2"}, "depth must be a whole number of at least 1, not '2'"),
    "jobs": ({"jobs": 0}, "jobs must be a whole number of at least 1, not 0"),
    "time-out": ({"timeout_seconds": 0}, "timeout_seconds must be more than 0, not 0"),
    "directory": ({"directory": "nowhere"}, "directory 'nowhere' is no directory"),
    "keep": ({"keep": "here"}, "keep is for one plan alone: name it with plan="),
    "at something else": ({"at": "writes"}, "at 'writes' is none of effects, calls"),
    "files that are not compared": (
        {"ignore": ["*.log"]},
        "ignore is for final files, compared at 'calls' only",
    ),
    "played deaths at calls": (
        {"at": "calls", "isolation": "inline"},
        "at 'calls' takes isolation 'process' only, and is 'inline'",
    ),
    "another death at calls": (
        {"at": "calls", "kill": "exit86"},
        "at 'calls' takes kill 'sigkill' only, and is 'exit86'",
    ),
    "sides of calls": (
        {"at": "calls", "when": "before"},
        "at 'calls' takes no when: each call is before the next one and after the last",
    ),
    "a spawned object": (
        {"isolation": "spawn"},
        (
            'isolation "spawn" takes the factory as a text, "module:factory": another interpreter '
            "must be able to import it"
        ),
    ),
    "a name without a factory": (
        {"factory": "module", "isolation": "spawn"},
        "'module' names no factory: it is written module:factory",
    ),
    "a path for a name": (
        {"factory": "agents/mine.py:make"},
        "'agents/mine.py:make' names no factory: it is written module:factory",
    ),
}


@pytest.mark.parametrize(("misuse", "message"), MISUSE.values(), ids=MISUSE)
def test_misuse_is_refused_in_one_line(misuse: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"factory": Silent, "inputs": ["a"], **misuse}
    with pytest.raises(UsageRefused) as refused:
        conform(**arguments)
    assert str(refused.value) == message


def test_a_plan_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(PlanRefused):
        conform(Silent, ["a"], plan="effect")


# -- the isolation -------------------------------------------------------------------------------


def test_the_argument_comes_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RESUMEPROOF_ISOLATION", "spawn")
    assert (chosen_isolation(None), chosen_isolation("inline")) == ("spawn", "inline")


@pytest.mark.parametrize("value", ["", None], ids=["empty", "unset"])
def test_nothing_said_is_process(value: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RESUMEPROOF_ISOLATION", raising=False)
    if value is not None:
        monkeypatch.setenv("RESUMEPROOF_ISOLATION", value)
    assert chosen_isolation(None) == "process"


def test_a_wrong_environment_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RESUMEPROOF_ISOLATION", "Inline")
    with pytest.raises(UsageRefused, match="RESUMEPROOF_ISOLATION 'Inline' is none of process"):
        conform(Silent, ["a"])


def test_without_fork_deaths_are_played(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RESUMEPROOF_ISOLATION", raising=False)
    monkeypatch.delattr(os, "fork")
    assert chosen_isolation(None) == "inline"
    with pytest.raises(UsageRefused, match="isolation 'process' needs fork"):
        chosen_isolation("process")


# -- inputs and subjects ---------------------------------------------------------------------------


class Counting(Silent):
    def step(self, item: Any) -> None:
        self.ctx.effect("charge", key=str(item))


@pytest.mark.parametrize(("isolation", "findings"), [("process", 4), ("inline", 3)])
def test_an_iterator_is_read_once_for_all_lives(isolation: Any, findings: int) -> None:
    report = conform(Counting, (str(number) for number in range(2)), isolation=isolation)
    assert (report.crash_points, len(report.findings)) == (2, findings), str(report)


FAILING = {
    "step": "ValueError: no such job (test_conform.py:",
    "exit": "SystemExit: 3 (test_conform.py:",
    "base": f"{__name__}.Gone: it is gone (test_conform.py:",
}


class Gone(BaseException):
    pass


class Failing(Silent):
    def step(self, item: Any) -> None:
        if item == "exit":
            raise SystemExit(3)
        if item == "base":
            raise Gone("it is gone")
        raise ValueError("no such job")


@pytest.mark.parametrize(("item", "message"), FAILING.items(), ids=FAILING)
def test_a_subject_that_fails_without_a_crash_is_told_with_the_place(
    item: str, message: str
) -> None:
    with pytest.raises(SubjectFailed) as failed:
        conform(Failing, [item], isolation="process")
    assert str(failed.value).startswith(
        f"the subject failed without a crash, in the baseline: {message}"
    )


class Unpicklable(Counting):
    def state(self) -> Any:
        return {"jobs": [1, 2], "pool": Pool()}


class Pool:
    def __init__(self) -> None:
        self.name = "pool"
        self.lock = threading.Lock()


def test_a_state_that_cannot_be_pickled_names_the_attribute() -> None:
    with pytest.raises(PayloadRefused, match=r"^state\['pool'\]\.lock \(lock\) cannot be pickled"):
        conform(Unpicklable, ["a"], isolation="process")


def test_a_payload_that_cannot_be_pickled_names_the_attribute() -> None:
    class Sending(Silent):
        def step(self, item: Any) -> None:
            self.ctx.effect("charge", {"lock": threading.Lock()})

    with pytest.raises(PayloadRefused, match=r"^payload\['lock'\] \(lock\) cannot be pickled"):
        conform(Sending, ["a"], isolation="process")


# -- the report -----------------------------------------------------------------------------------


@pytest.mark.parametrize("isolation", ["process", "inline"])
def test_a_report_knows_its_terms(isolation: Any) -> None:
    terms = conform(Counting, iter("ab"), isolation=isolation, run_id="r", depth=2).terms
    assert terms is not None
    assert (terms.subject, terms.inputs, terms.isolation, terms.run_id, terms.depth) == (
        f"{Counting.__module__}:Counting",
        ("a", "b"),
        isolation,
        "r",
        2,
    )


def test_each_finding_says_how_to_see_it_again() -> None:
    report = conform(Counting, ["a"], isolation="inline")
    assert "      replay: conform(..., plan='effect:after#1')" in str(report).splitlines()


def test_progress_hears_of_each_scenario() -> None:
    heard: list[Any] = []

    class Listening:
        def start(self, expected: int) -> None:
            heard.append(expected)

        def advance(self, findings: Any) -> None:
            heard.append([str(finding.kind) for finding in findings])

    conform(Counting, ["a"], isolation="inline", progress=Listening())
    assert heard == [1, ["effect_replayed"]]


def test_public_names_are_handed_on() -> None:
    assert {name: getattr(resumeproof, name).__name__ for name in PUBLIC} == {
        name: name for name in PUBLIC
    }


PUBLIC = [
    "ConformanceReport",
    "Context",
    "Effect",
    "EffectLog",
    "Finding",
    "InjectedCrash",
    "Lookup",
    "ToolContract",
    "Unknown",
    "conform",
]


def test_closures_and_local_classes_are_subjects(tmp_path: Path) -> None:
    class Local(Counting):
        def step(self, item: Any) -> None:
            if self.ctx.lookup(str(item)) is None:
                super().step(item)

    assert conform(lambda ctx: Local(ctx), ["a"], isolation="process").passed
