"""`conform`: a proof from the command line, its exit statuses, its evidence and its replay."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli.agents import lay_out
from tests.cli.desk import TIMEOUT_SECONDS, Desk, environment, on_a_terminal

JOBS = ("--inputs", "jobs.json")
BROKEN = ("conform", "agent:Broken", *JOBS)
UNSHRUNK = (*BROKEN, "--no-shrink")
MENDED = ("conform", "agent:Mended", *JOBS)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A desk at which somebody's agents lie."""
    path = tmp_path / "desk"
    path.mkdir()
    lay_out(path)
    return Desk(path)


# -- what it comes to ------------------------------------------------------------------------


def test_a_safe_agent_passes(desk: Desk) -> None:
    document = desk.done(*MENDED)
    assert (document["passed"], document["findings"], document["crash_points"]) == (True, [], 2)
    assert document["certificate"] == {
        "enumerated": 4, "fired": 4, "verified": 4, "judged": 4,
        "byte_images": 4, "states": 4, "resumed": 4,
    }  # fmt: skip


def test_an_unsafe_agent_is_found_at_each_effect(desk: Desk) -> None:
    ran = desk.call(*BROKEN)
    assert (ran.status, ran.stderr) == (1, "")
    assert [(each["kind"], each["plan"]) for each in ran.document["findings"]] == [
        ("effect_replayed", "effect:after#1"),
        ("effect_replayed", "effect:after#2"),
    ]
    assert {each["plan"]: each["verdict"] for each in ran.document["scenarios"]} == {
        "effect:before#1": "passed",
        "effect:after#1": "failed",
        "effect:before#2": "passed",
        "effect:after#2": "failed",
    }


def test_text_is_the_report(desk: Desk) -> None:
    ran = desk.call(*MENDED, "--format", "text")
    report = (
        "conformance: PASS, 2 effect(s) crashed at, 0 finding(s)\n"
        "  4 crash points enumerated, 4 kills fired, 4 verified, 4 scenarios judged; "
        "4 images, 4 states, 4 resumed\n"
    )
    assert (ran.status, ran.stdout, ran.stderr) == (0, report, "")


@pytest.mark.parametrize(("words", "colour"), [(MENDED, 32), (UNSHRUNK, 31)], ids=["pass", "fail"])
def test_the_verdict_has_its_colour_on_a_terminal(
    words: tuple[str, ...], colour: int, desk: Desk
) -> None:
    _, shown = on_a_terminal(desk, *words)
    assert f"\x1b[{colour}m\x1b[1mconformance: " in shown


def test_a_terminal_sees_a_bar_that_leaves_nothing(desk: Desk) -> None:
    _, shown = on_a_terminal(desk, *MENDED, env={"NO_COLOR": "1"})
    bar, _, report = shown.rpartition("\r")
    assert ("[" in bar, "0/4" in bar, report.startswith("conformance: PASS")) == (True, True, True)


TARGETS = {
    "a module": "agent:Mended",
    "a file": "agent.py:Mended",
    "a file elsewhere": "../desk/agent.py:Mended",
    "within a class": "agent:Factories.mended",
}


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_a_target_is_a_module_or_a_file(target: str, desk: Desk) -> None:
    document = desk.done("conform", target, *JOBS)
    assert (document["subject"], document["passed"]) == (target, True)


def test_inputs_may_stand_on_the_command_line(desk: Desk) -> None:
    words = [word for value in ("one", '{"a": [1]}', '"1"', "2") for word in ("--input", value)]
    assert desk.done("conform", "agent:Mended", *words)["inputs"] == ["one", {"a": [1]}, "1", 2]


def test_what_an_agent_prints_stays_out_of_the_document(desk: Desk) -> None:
    ran = desk.call("conform", "agent:Chatty", *JOBS, "--isolation", "inline")
    assert (ran.status, ran.document["passed"], "charging one" in ran.stderr) == (0, True, True)


ISOLATIONS = {
    "process": (("--isolation", "process"), {}, "process", 4),
    "spawn": (("--isolation", "spawn"), {}, "spawn", 4),
    "inline": (("--isolation", "inline"), {}, "inline", 2),
    "by the environment": ((), {"RESUMEPROOF_ISOLATION": "inline"}, "inline", 2),
}


@pytest.mark.parametrize(
    ("words", "env", "isolation", "judged"), ISOLATIONS.values(), ids=ISOLATIONS
)
def test_lives_are_isolated_as_asked(
    words: tuple[str, ...], env: dict[str, str], isolation: str, judged: int, desk: Desk
) -> None:
    document = desk.call(*MENDED, *words, env=env).document
    assert (document["terms"]["isolation"], document["certificate"]["judged"]) == (
        isolation,
        judged,
    )


def test_depth_two_kills_the_resume_as_well(desk: Desk) -> None:
    document = desk.done(*MENDED, "--depth", "2")
    plans = [each["plan"] for each in document["scenarios"]]
    assert (document["passed"], "effect:before#1;effect:after#1" in plans) == (True, True)


CONTRACTS = {
    "absorbs a repeat": (("--mode", "idempotent"), 0, []),
    "does not": (("--mode", "non_idempotent"), 1, ["effect_replayed"] * 2),
}


@pytest.mark.parametrize(("words", "status", "kinds"), CONTRACTS.values(), ids=CONTRACTS)
def test_the_receiver_keeps_its_contract(
    words: tuple[str, ...], status: int, kinds: list[str], desk: Desk
) -> None:
    ran = desk.call(*UNSHRUNK, *words)
    found = [each["kind"] for each in ran.document["findings"]]
    assert (ran.status, found) == (status, kinds)


@pytest.mark.parametrize(("words", "status"), [((), 2), (("--allow-empty",), 0)], ids=str)
def test_nothing_proved_is_no_success(words: tuple[str, ...], status: int, desk: Desk) -> None:
    ran = desk.call("conform", "agent:Idle", *JOBS, *words)
    assert (ran.status, ran.document["nothing_proved"]) == (status, True)


def test_a_failing_report_is_shrunk(desk: Desk) -> None:
    assert desk.call(*BROKEN).document["fewest_inputs"] == ["one"]


def test_shrinking_may_be_left_out(desk: Desk) -> None:
    assert desk.call(*BROKEN, "--no-shrink").document["fewest_inputs"] is None


# -- replay ----------------------------------------------------------------------------------


def test_what_a_finding_prints_replays_it_alone_and_keeps_its_directories(desk: Desk) -> None:
    shown = desk.call(*BROKEN, "--timeout", "20", "--format", "text").stdout
    commands = [line.partition("replay: ")[2] for line in shown.splitlines() if "replay: " in line]
    ran = subprocess.run(
        ["sh", "-c", commands[1]],
        cwd=desk.path,
        capture_output=True,
        env=environment(),
        timeout=TIMEOUT_SECONDS,
        text=True,
    )
    document = json.loads(ran.stdout)
    kept = desk.path / "resumeproof-replay"
    assert (ran.returncode, ran.stderr, document["kept"]) == (1, "", str(kept))
    assert [each["plan"] for each in document["findings"]] == ["effect:after#2"]
    assert [each["plan"] for each in document["scenarios"]] == ["effect:after#2"]
    assert document["terms"]["timeout_seconds"] == 20
    assert [
        (kept / life / "ending.txt").read_text()
        + (kept / life / "scenario/subject/done.json").read_text()
        for life in ("life-1", "life-2")
    ] == ['signal 9 (SIGKILL), at effect:after#2\n["one"]', 'exit 0\n["one", "two"]']


def test_a_replay_never_overwrites_another(desk: Desk) -> None:
    plan = ("--plan", "effect:after#1")
    kept = [desk.call(*BROKEN, *plan).document["kept"] for _ in range(2)]
    named = desk.call(*BROKEN, *plan, "--keep", "here").document["kept"]
    again = desk.call(*BROKEN, *plan, "--keep", "here")
    assert [Path(each).name for each in (*kept, named)] == [
        "resumeproof-replay",
        "resumeproof-replay-2",
        "here",
    ]
    assert again.refusal == (2, "output_not_empty", 1, True)


def test_a_plan_that_is_never_reached_is_invalid(desk: Desk) -> None:
    ran = desk.call(*MENDED, "--plan", "effect:after#7")
    (scenario,) = ran.document["scenarios"]
    assert (ran.status, scenario["verdict"], ran.document["passed"]) == (1, "invalid", False)


def test_the_baseline_can_be_carried_out_alone(desk: Desk) -> None:
    document = desk.done(*MENDED, "--plan", "baseline")
    assert (document["scenarios"], document["kept"], document["crash_points"]) == ([], None, 2)


def test_the_replay_says_all_that_decides_the_scenario(desk: Desk) -> None:
    words = (
        "agent.py:Broken", "--input", "it's", "--input", "1", "--isolation", "spawn",
        "--kill", "exit86", "--timeout", "9.5", "--lookup", "eventual", "--lookup-lag", "0.5",
    )  # fmt: skip
    ran = desk.call("conform", *words, "--jobs", "1", "--when", "after", "--no-shrink")
    assert shlex.split(ran.document["replay"])[-len(words) :] == [*words]


# -- evidence --------------------------------------------------------------------------------


def test_the_report_directory_verifies(desk: Desk) -> None:
    desk.call(*UNSHRUNK, "--report", "evidence")
    assert sorted(path.name for path in (desk.path / "evidence").iterdir()) == [
        "receipt.json",
        "report.html",
        "report.txt",
    ]
    assert desk.done("verify", "evidence")["totals"] == {
        "scenarios": 4,
        "findings": 2,
        "invalid": 0,
    }


def test_a_changed_receipt_file_does_not_verify(desk: Desk) -> None:
    desk.call(*UNSHRUNK, "--report", "evidence")
    receipt = desk.path / "evidence" / "receipt.json"
    receipt.write_text(receipt.read_text().replace('"passed": false', '"passed": true'))
    ran = desk.call("verify", "evidence")
    assert (*ran.refusal, ran.document["error"]["what"]) == (
        7, "evidence_broken", 1, True, "proofs/0/passed",
    )  # fmt: skip


def test_two_proofs_leave_the_same_bytes(desk: Desk) -> None:
    for name in ("one", "two"):
        desk.call(*UNSHRUNK, "--report", name)
    one, two = (
        {path.name: path.read_bytes() for path in (desk.path / name).iterdir()}
        for name in ("one", "two")
    )
    assert (len(one), one) == (3, two)


def test_evidence_is_never_overwritten(desk: Desk) -> None:
    (desk.path / "evidence").mkdir()
    (desk.path / "evidence" / "file").touch()
    assert desk.call(*MENDED, "--report", "evidence").refusal == (2, "output_not_empty", 1, True)


def test_junit_has_a_case_for_each_scenario(desk: Desk) -> None:
    desk.call(*UNSHRUNK, "--junit", "junit.xml")
    (suite,) = ElementTree.parse(desk.path / "junit.xml").getroot()
    assert (suite.attrib["tests"], suite.attrib["failures"]) == ("5", "2")


def test_the_jobs_summary_is_appended_to(desk: Desk) -> None:
    summary = desk.path / "summary.md"
    summary.write_text("before\n")
    ran = desk.call(*UNSHRUNK, env={"GITHUB_STEP_SUMMARY": str(summary)})
    before, _, rest = summary.read_text().partition("\n")
    assert (ran.status, ran.stderr, before) == (1, "", "before")
    assert rest.startswith("### resumeproof: agent\\:Broken\n")


def test_a_summary_that_cannot_be_written_changes_no_verdict(desk: Desk) -> None:
    ran = desk.call(*MENDED, env={"GITHUB_STEP_SUMMARY": str(desk.path / "missing" / "file")})
    assert (ran.status, "summary cannot be written" in ran.stderr) == (0, True)


def test_findings_are_annotations_on_github(desk: Desk) -> None:
    ran = desk.call(*UNSHRUNK, env={"GITHUB_ACTIONS": "true"})
    assert [line.partition("::crash")[0] for line in ran.stderr.splitlines()] == [
        "::error title=resumeproof%3A effect_replayed in agent%3ABroken"
    ] * 2


def test_a_hostile_file_name_and_key_are_text_wherever_they_are_told(desk: Desk) -> None:
    name = "ag<b>\x1b[2J\u202e&'.py"
    agent = (desk.path / "agent.py").read_text().replace('key=f"charge:', 'key=f"<b>\\x1b\\u202e:')
    (desk.path / name).write_text(agent)
    written = ("--report", "evidence", "--junit", "junit.xml")
    ran = desk.call("conform", f"{name}:Broken", *JOBS, *written, "--format", "text")
    evidence = {file.name: file.read_text() for file in (desk.path / "evidence").iterdir()}
    told = [ran.stdout, ran.stderr, *evidence.values()]
    assert (ran.status, [text for text in told if "\x1b" in text or "\u202e" in text]) == (1, [])
    assert r"<b>\x1b\u202e:one" in evidence["report.txt"]
    (suite,) = ElementTree.parse(desk.path / "junit.xml").getroot()
    assert suite.attrib["name"].startswith(r"resumeproof ag<b>\u001b[2J")


# -- what is refused -------------------------------------------------------------------------

REFUSED_TARGETS = {
    "no colon": ("agent", "a target is written module:factory, or path/to/file.py:factory"),
    "no module": ("missing:make", "there is no module missing"),
    "no package": ("missing.part:make", "there is no module missing"),
    "no file": ("missing.py:make", "there is no such file"),
    "no attribute": ("agent:make", "agent has no make"),
    "no callable": ("agent:number", "it is no factory but of type int"),
    "raises": ("raises.py:make", "importing it raised ZeroDivisionError: division by zero"),
    "exits": ("exits:make", "importing it raised SystemExit: 3 (exits.py:1)"),
    "does not parse": ("unparsed.py:make", "importing it raised SyntaxError: invalid syntax"),
    "lacks a module": ("lacking:make", "importing it raised ModuleNotFoundError: No module named"),
    "the name of another": ("part/json.py:make", "another module is called json; rename the file"),
}


@pytest.mark.parametrize(("target", "reason"), REFUSED_TARGETS.values(), ids=REFUSED_TARGETS)
def test_a_target_that_leads_nowhere_is_one_clear_line(
    target: str, reason: str, desk: Desk
) -> None:
    (desk.path / "part").mkdir()
    for name, text in {
        "raises": "1 / 0\n",
        "exits": "raise SystemExit(3)\n",
        "unparsed": "def\n",
        "lacking": "import nowhere\n",
        "part/json": "def make(ctx): pass\n",
    }.items():
        (desk.path / f"{name}.py").write_text(text)
    ran = desk.call("conform", target, *JOBS)
    message = ran.document["error"]["message"]
    assert ran.refusal == (2, "factory_refused", 1, True)
    assert message.startswith(f"{target}: {reason}"), message


REFUSED_INPUTS = {
    "none": ((), "usage"),
    "two sources": ((*JOBS, "--input", "1"), "usage"),
    "no file": (("--inputs", "missing.json"), "usage_refused"),
    "no JSON": (("--inputs", "agent.py"), "usage_refused"),
    "no array": (("--inputs", "object.json"), "usage_refused"),
    "no UTF-8": (("--inputs", "latin.json"), "usage_refused"),
    "a directory": (("--inputs", "."), "usage_refused"),
}


@pytest.mark.parametrize(("words", "code"), REFUSED_INPUTS.values(), ids=REFUSED_INPUTS)
def test_inputs_are_an_array_from_one_source(words: tuple[str, ...], code: str, desk: Desk) -> None:
    (desk.path / "object.json").write_text('{"a": 1}')
    (desk.path / "latin.json").write_bytes(b'["\xe9"]')
    assert desk.call("conform", "agent:Mended", *words).refusal == (2, code, 1, True)


REFUSED_OPTIONS = {
    "keep without a plan": (("--keep", "here"), "usage"),
    "depth beside a plan": (("--plan", "effect:after#1", "--depth", "2"), "usage"),
    "sides beside a plan": (("--plan", "effect:after#1", "--when", "after"), "usage"),
    "a plan that is none": (("--plan", "effect"), "plan_refused"),
    "a lag without an eventual lookup": (("--lookup-lag", "1"), "usage"),
    "a lifetime of no key": (("--key-lifetime", "1"), "usage"),
    "no time": (("--timeout", "0"), "usage"),
    "no jobs": (("--jobs", "0"), "usage"),
    "no such directory": (("--directory", "missing"), "usage_refused"),
    "JUnit nowhere": (("--junit", "missing/junit.xml"), "usage_refused"),
}


@pytest.mark.parametrize(("words", "code"), REFUSED_OPTIONS.values(), ids=REFUSED_OPTIONS)
def test_options_that_make_no_sense_are_refused(
    words: tuple[str, ...], code: str, desk: Desk
) -> None:
    before = desk.files()
    assert desk.call(*MENDED, *words).refusal == (2, code, 1, True)
    assert {name: data for name, data in desk.files().items() if "pycache" not in name} == before


def test_an_isolation_that_does_not_exist_is_refused(desk: Desk) -> None:
    ran = desk.call(*MENDED, env={"RESUMEPROOF_ISOLATION": "magic"})
    assert ran.refusal == (2, "usage_refused", 1, True)


def test_an_agent_that_fails_without_a_crash_cannot_be_proved(desk: Desk) -> None:
    ran = desk.call("conform", "agent:Failing", *JOBS)
    assert ran.refusal == (2, "subject_failed", 1, True)
    assert ran.document["error"]["reason"] == "RuntimeError: out of paper (agent.py:33)"
