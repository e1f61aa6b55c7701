"""The pytest plugin, in test runs of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

AGENT = """
import json, pytest

class Agent:
    def __init__(self, ctx):
        self.ctx = ctx
        self.file = ctx.directory / "done.json"
        self.done = json.loads(self.file.read_text()) if self.file.exists() else []

    def step(self, item):
        if item in self.done:
            return
        if self.ctx.lookup(item) is None:
            self.ctx.effect("charge", item, key=item)
        self.done.append(item)
        self.file.write_text(json.dumps(self.done))

    def state(self):
        return self.done

class Broken(Agent):
    def step(self, item):
        if item not in self.done:
            self.ctx.effect("charge", item, key=item)
            self.done.append(item)
            self.file.write_text(json.dumps(self.done))
"""
PASSES = f"{AGENT}\ndef test_it(conform):\n    assert conform(Agent, ['a']).crash_points == 1\n"
FAILS = f"{AGENT}\ndef test_it(conform):\n    conform(Broken, ['a'])\n"


def run(pytester: pytest.Pytester, source: str, *arguments: str, ini: str = "") -> pytest.RunResult:
    """Run pytest in a process of its own, with nothing but the plugins that are asked for."""
    pytester.makepyfile(test_it=source)
    pytester.makeini(f"[pytest]\naddopts = -p no:cacheprovider\n{ini}")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        return pytester.runpytest_subprocess("-p", "resumeproof", *arguments)


def test_pytest_finds_the_plugin_where_it_is_installed(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_it=PASSES)
    pytester.runpytest_subprocess("-p", "no:asyncio").assert_outcomes(passed=1)


def test_the_fixture_returns_the_report_of_a_proof_that_passed(pytester: pytest.Pytester) -> None:
    run(pytester, PASSES).assert_outcomes(passed=1)


def test_a_failure_shows_findings_and_replays_and_none_of_our_own_stack(
    pytester: pytest.Pytester,
) -> None:
    result = run(pytester, FAILS)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            ">       conform(Broken, ['a'])",
            "E       AssertionError: conformance: FAIL, 1 effect(s) crashed at, 1 finding(s)",
            "E         [[]effect_replayed[]] crash after effect #1: *",
            "E             replay: pytest test_it.py::test_it --resumeproof-plan 'effect:after#1'",
        ]
    )
    result.stdout.no_fnmatch_line("*pytest_plugin*")
    result.stdout.no_fnmatch_line("*conform.py*")


def test_an_agent_that_fails_by_itself_is_told_without_our_own_stack(
    pytester: pytest.Pytester,
) -> None:
    fails = f"""{AGENT}
def test_it(conform):
    conform(lambda ctx: None, ["a"])
"""
    result = run(pytester, fails)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            ">       conform(lambda ctx: None, [[]'a'[]])".replace("'", '"'),
            "E       resumeproof.errors.SubjectFailed: the subject failed without a crash, *",
        ]
    )
    result.stdout.no_fnmatch_line("*pytest_plugin*")
    result.stdout.no_fnmatch_line("*conform.py*")


def test_a_proof_of_nothing_passes_with_a_warning(pytester: pytest.Pytester) -> None:
    nothing = """
class Idle:
    def __init__(self, ctx):
        pass

    def step(self, job):
        pass

def test_it(conform):
    conform(Idle, ["a"])
"""
    result = run(pytester, nothing)
    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(["*test_it.py:9: PytestWarning: conformance: PASS, but nothing*"])


def test_a_failure_is_brought_down_to_the_fewest_inputs(pytester: pytest.Pytester) -> None:
    result = run(pytester, FAILS.replace("['a']", "['a', 'b', 'c']"))
    result.stdout.fnmatch_lines(["E         fewest inputs that still fail: [[]'a'[]]"])


def test_a_failure_can_be_expected(pytester: pytest.Pytester) -> None:
    source = f"""{AGENT}
def test_it(conform):
    with pytest.raises(AssertionError, match="effect_replayed"):
        conform(Broken, ["a"])
"""
    run(pytester, source).assert_outcomes(passed=1)


def test_a_finding_is_replayed_alone_and_kept(pytester: pytest.Pytester) -> None:
    kept = ("--resumeproof-plan", "effect:after#1", "--resumeproof-keep", "kept")
    result = run(pytester, FAILS, "test_it.py::test_it", *kept)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*1 crash points enumerated, 1 kills fired*"])
    assert (pytester.path / "kept/life-1/ending.txt").read_text() == (
        "signal 9 (SIGKILL), at effect:after#1\n"
    )


# -- the isolation ---------------------------------------------------------------------------

TELLS = f"""{AGENT}
import os
from resumeproof import conform as imported

def test_fixture(conform):
    print("fixture:", conform(Agent, ["a"]).terms.isolation)

def test_import():
    print("import:", imported(Agent, ["a"]).terms.isolation)
"""

CHOSEN = {
    "by default": ({}, "", (), "process"),
    "by the environment": ({"RESUMEPROOF_ISOLATION": "inline"}, "", (), "inline"),
    "by the ini file": ({}, "resumeproof_isolation = inline", (), "inline"),
    "the environment before the ini file": (
        {"RESUMEPROOF_ISOLATION": "process"},
        "resumeproof_isolation = inline",
        (),
        "process",
    ),
    "the option before all": (
        {"RESUMEPROOF_ISOLATION": "process"},
        "resumeproof_isolation = process",
        ("--resumeproof-isolation=inline",),
        "inline",
    ),
}


@pytest.mark.parametrize(
    ("environment", "ini", "arguments", "isolation"), CHOSEN.values(), ids=CHOSEN
)
def test_the_isolation_of_a_run_holds_for_the_fixture_and_for_what_is_imported(
    environment: dict[str, str],
    ini: str,
    arguments: tuple[str, ...],
    isolation: str,
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("RESUMEPROOF_ISOLATION", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    result = run(pytester, TELLS, "-s", *arguments, ini=ini)
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(
        [
            f"resumeproof: isolation {isolation}",
            f"*fixture: {isolation}",
            f"*import: {isolation}",
        ]
    )


REFUSED = {
    "isolation": (("--resumeproof-isolation=threads",), "", "*'threads' is none of process, *"),
    "timeout": ((), "resumeproof_timeout_seconds = soon", "*timeout_seconds is no number: 'soon'"),
    "jobs": ((), "resumeproof_jobs = 1.5", "*resumeproof_jobs is no number: '1.5'"),
    "keep": (("--resumeproof-keep=kept",), "", "*--resumeproof-keep is for one plan*"),
}


@pytest.mark.parametrize(("arguments", "ini", "message"), REFUSED.values(), ids=REFUSED)
def test_a_wrong_option_is_refused_before_any_test(
    arguments: tuple[str, ...], ini: str, message: str, pytester: pytest.Pytester
) -> None:
    result = run(pytester, PASSES, *arguments, ini=ini)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([message])


def test_the_time_out_of_the_ini_file_bounds_each_life(pytester: pytest.Pytester) -> None:
    source = f"""{AGENT}
class Hanging(Agent):
    def step(self, item):
        if self.ctx.lookup(item) is not None and not self.done:
            threading.Event().wait()
        super().step(item)

import threading

def test_it(conform):
    conform(Hanging, ["a"])
"""
    result = run(pytester, source, ini="resumeproof_timeout_seconds = 0.5")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E*[[]resume_hung[]] crash after effect #1*"])


# -- what is written ---------------------------------------------------------------------------


def test_each_report_is_written_by_test(pytester: pytest.Pytester) -> None:
    source = f"""{AGENT}
@pytest.mark.parametrize("item", ["a/b", "a:b"])
def test_it(conform, item):
    conform(Agent, [item])

class Test:
    def test_two(self, conform):
        conform(Agent, ["a"])
        conform(Broken, ["a"])
"""
    run(pytester, source, "--resumeproof-report=reports").assert_outcomes(passed=2, failed=1)
    reports = pytester.path / "reports"
    told = {str(path.parent.relative_to(reports)): _told(path) for path in reports.rglob("*.json")}
    assert told == {
        "test_it.py/test_it-a-b-241feda6": (True, PASSED),
        "test_it.py/test_it-a-b-70ddd14a": (True, PASSED),
        "test_it.py/Test/test_two": (True, PASSED),
        "test_it.py/Test/test_two-2": (False, FAILED),
    }


PASSED = "conformance: PASS, 1 effect(s) crashed at, 0 finding(s)"
FAILED = "conformance: FAIL, 1 effect(s) crashed at, 1 finding(s)"


def _told(receipt: Path) -> tuple[bool, str]:
    text = receipt.with_name("report.txt").read_text()
    return json.loads(receipt.read_text())["passed"], text.splitlines()[0]


# -- beside other plugins ------------------------------------------------------------------------


def test_under_xdist(pytester: pytest.Pytester) -> None:
    source = f"""{AGENT}
@pytest.mark.parametrize("item", range(4))
def test_it(conform, item):
    assert conform(Agent, [str(item)]).terms.isolation == "inline"
"""
    result = run(pytester, source, "-p", "xdist", "-n2", "--resumeproof-isolation=inline")
    result.assert_outcomes(passed=4)


def test_under_xdist_with_real_deaths(pytester: pytest.Pytester) -> None:
    source = f"""{AGENT}
@pytest.mark.parametrize("agent", [Agent, Broken, Agent, Broken])
def test_it(conform, agent):
    conform(agent, ["a"])
"""
    result = run(pytester, source, "-p", "xdist", "-n2")
    result.assert_outcomes(passed=2, failed=2)


@pytest.mark.parametrize("isolation", ["process", "inline"])
def test_from_an_async_test(isolation: str, pytester: pytest.Pytester) -> None:
    source = f"""{AGENT}
import asyncio

class Async(Agent):
    async def step(self, item):
        await asyncio.sleep(0)
        super().step(item)

    async def state(self):
        await asyncio.sleep(0)
        return super().state()

@pytest.mark.asyncio
async def test_it(conform):
    asyncio.get_running_loop().call_later(3600, print, "never")
    await asyncio.sleep(0)
    assert conform(Async, ["a", "b"]).crash_points == 2
    await asyncio.sleep(0)
"""
    chosen = f"--resumeproof-isolation={isolation}"
    loop = "asyncio_default_fixture_loop_scope = function"
    result = run(pytester, source, "-p", "asyncio", chosen, ini=loop)
    result.assert_outcomes(passed=1)


def test_under_coverage(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(agent=AGENT)
    source = "from agent import *\ndef test_it(conform):\n    conform(Agent, ['a'])\n    Agent\n"
    result = run(
        pytester, source, "-p", "pytest_cov", "--cov=agent", "--cov=test_it", "--cov-report=term"
    )
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["test_it.py * 0 *100%", "TOTAL *"])
    assert [path.name for path in pytester.path.glob(".coverage*")] == [".coverage"]


@pytest.mark.parametrize("arguments", [["-s"], ["--capture=sys"], ["--capture=tee-sys"], []])
def test_with_each_way_to_capture(arguments: list[str], pytester: pytest.Pytester) -> None:
    source = f"""{AGENT}
class Printing(Agent):
    def step(self, item):
        print("from a life, " * 1000)
        super().step(item)

def test_it(conform):
    print("before, ", end="")
    conform(Printing, ["a"])
    print("after.")
"""
    result = run(pytester, source, "-rP", *arguments)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*before, after."])
    result.stdout.no_fnmatch_line("*from a life*")


def test_a_run_that_proves_nothing_does_not_pay_for_it(pytester: pytest.Pytester) -> None:
    source = """
import sys

PAID_FOR = ("resumeproof.proof", "resumeproof.crash", "resumeproof.stores", "resumeproof.domain")

def test_it():
    assert [name for name in sys.modules if name.startswith(PAID_FOR)] == []
"""
    run(pytester, source).assert_outcomes(passed=1)
