"""`resumeproof shapes`: the matrix for people, the document for programs, and what they rest on."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import signal
import subprocess
from xml.etree import ElementTree

import pytest

from resumeproof.cli.shapes import MODE_NAMES, SHAPE_NAMES
from resumeproof.proof.shapes import SHAPES
from resumeproof.proof.shapes.disturbance import Mode
from tests.cli.desk import COMMAND, TIMEOUT_SECONDS, Desk, environment

ONE = ("--shape", "wait_until", "--journal", "json", "--mode", "sigkill", "--jobs", "1")
CERTIFICATE = (
    "60 crash points enumerated, 60 kills fired, 60 verified, 60 scenarios judged; "
    "23 images, 23 states, 23 resumed; 4 calls answered with an earlier receipt"
)


def test_the_names_that_help_lists_are_those_of_the_shapes() -> None:
    assert (tuple(SHAPES), tuple(Mode)) == (SHAPE_NAMES, MODE_NAMES)


@pytest.mark.slow
def test_the_matrix_and_the_certificate(desk: Desk) -> None:
    ran = desk.call("shapes", *ONE, "--format", "text")
    assert (ran.status, ran.stderr, ran.stdout.splitlines()) == (
        0,
        "",
        [
            "shape       journal  sigkill",
            "wait_until  json     60 kills, passed",
            "",
            f"shapes: PASS, 0 finding(s); {CERTIFICATE}",
        ],
    )


@pytest.mark.slow
def test_one_plan_alone_and_its_evidence(desk: Desk) -> None:
    plan = "append:after#3;save:before#1"
    written = ("--report", "evidence", "--junit", "junit.xml")
    summary = desk.path / "summary.md"
    env = {"GITHUB_STEP_SUMMARY": str(summary)}
    ran = desk.call("shapes", *ONE, "--plan", plan, *written, env=env)
    document = json.loads(ran.stdout)
    verified = desk.call("verify", "evidence")
    assert (ran.status, document["passed"], document["certificate"]["verified"]) == (0, True, 1)
    assert (verified.status, json.loads(verified.stdout)["totals"]["scenarios"]) == (0, 1)
    cases = ElementTree.parse(desk.path / "junit.xml").getroot().iter("testcase")
    assert [case.attrib["name"] for case in cases] == ["baseline", plan]
    assert summary.read_text().startswith("### resumeproof: wait\\_until on json, sigkill\n")


@pytest.mark.slow
def test_a_plan_that_no_life_comes_to_is_invalid(desk: Desk) -> None:
    ran = desk.call("shapes", *ONE, "--plan", "append:before#1000")
    document = json.loads(ran.stdout)
    reason = "append:before#1000: planned a death at append:before#1000, but it ended by itself"
    assert (ran.status, document["passed"], document["proofs"][0]["invalid"]) == (
        1,
        False,
        [f"{reason} with exit 0"],
    )


def test_ctrl_c_says_how_far_it_came(desk: Desk) -> None:
    """A terminal shows that the second proof has begun, which takes far longer than the first."""
    controller, terminal = pty.openpty()
    words = ("--shape", "tool_approval", "--shape", "entity_visit", "--journal", "json")
    with subprocess.Popen(
        [*COMMAND, "shapes", *words, "--jobs", "1"],
        cwd=desk.path,
        env=environment({"TERM": "xterm", "NO_COLOR": "1"}),
        stdout=subprocess.PIPE,
        stderr=terminal,
    ) as process:
        os.close(terminal)
        seen = b""
        while b"entity_visit on json" not in seen:
            seen += os.read(controller, 4096)
        process.send_signal(signal.SIGINT)
        document, _ = process.communicate(timeout=TIMEOUT_SECONDS)
        with contextlib.suppress(OSError):  # Linux's word for the end of a terminal
            while piece := os.read(controller, 4096):
                seen += piece
    os.close(controller)
    assert (process.returncode, json.loads(document)["error"]["code"]) == (130, "interrupted")
    assert b"resumeproof: so far: 1 proof(s) done, 0 failed; of the next: " in seen, seen
