"""`report`: a page beside the receipt file, or where it is wanted; and colours in a timeline."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Worked
from tests.cli.desk import ROOT, Desk, on_a_terminal

DEMO = ROOT / "demo-output"
PAGE = (DEMO / "report.html").read_bytes()


@pytest.fixture
def evidence(desk: Desk) -> Desk:
    """A desk on which a demo's receipt file lies, and nothing else of it."""
    (desk.path / "demo").mkdir()
    shutil.copy(DEMO / "receipt.json", desk.path / "demo")
    return desk


PLACES: dict[str, tuple[tuple[str, ...], str]] = {
    "a directory": (("demo",), "demo/report.html"),
    "a receipt file": (("demo/receipt.json",), "demo/report.html"),
    "elsewhere": (("demo", "--output", "crash.html"), "crash.html"),
}


@pytest.mark.parametrize(("words", "place"), PLACES.values(), ids=PLACES)
def test_the_page_is_made_from_the_receipt_file_alone(
    evidence: Desk, words: tuple[str, ...], place: str
) -> None:
    ran = evidence.call("report", *words)
    assert (ran.status, ran.document) == (
        0, {"receipt": "demo/receipt.json", "kind": "demo", "report": place},
    )  # fmt: skip
    assert (evidence.path / place).read_bytes() == PAGE
    assert len(evidence.files()) == 2


def test_a_report_is_written_anew(evidence: Desk) -> None:
    (evidence.path / "demo" / "report.html").write_text("<!DOCTYPE html>\nof yesterday")
    ran = evidence.run("report", "demo", "--format", "text")
    assert (ran.status, ran.stdout) == (0, "demo/report.html shows demo/receipt.json\n")
    assert (evidence.path / "demo" / "report.html").read_bytes() == PAGE


OTHERS = {"a receipt file": "demo/receipt.json", "a directory": "demo"}


@pytest.mark.parametrize("place", OTHERS.values(), ids=OTHERS)
def test_what_is_no_report_is_not_overwritten(evidence: Desk, place: str) -> None:
    before = evidence.files()
    ran = evidence.run("report", "demo", "--output", place)
    assert ran.refusal == (2, "usage_refused", 1, True)
    assert evidence.files() == before


def test_a_directory_that_is_missing_is_refused(evidence: Desk) -> None:
    ran = evidence.run("report", "demo", "--output", "nowhere/report.html")
    assert ran.refusal == (7, "store_unavailable", 1, True)


REFUSED = {
    "missing": (None, (5, "store_not_found", 1, True)),
    "no JSON": (b"{", (7, "evidence_broken", 1, True)),
    "another shape": (b"{}", (7, "evidence_broken", 1, True)),
    "facts that nobody writes": (
        (DEMO / "receipt.json").read_bytes().replace(b'"attempt_started"', b'"attempt_s"'),
        (7, "evidence_broken", 1, True),
    ),
}


@pytest.mark.parametrize(("receipt", "refusal"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_receipt_is_refused(
    desk: Desk, receipt: bytes | None, refusal: tuple[int, str, int, bool]
) -> None:
    if receipt is not None:
        (desk.path / "receipt.json").write_bytes(receipt)
    before = desk.files()
    assert desk.call("report", "receipt.json").refusal == refusal
    assert desk.files() == before


def test_the_example_of_a_demo_holds(desk: Desk) -> None:
    assert desk.run("demo").status == 0
    page = desk.path / "resumeproof-demo" / "report.html"
    written = page.read_bytes()
    page.unlink()
    assert desk.call("report", "resumeproof-demo").status == 0
    assert page.read_bytes() == written
    assert desk.call("verify", "resumeproof-demo").status == 0


# -- colours in a timeline -----------------------------------------------------------------------

COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def test_a_timeline_is_coloured_on_a_terminal_and_says_the_same_without(worked: Worked) -> None:
    desk, workflow_id = worked("unknown")
    words = ("timeline", "--workflow", workflow_id)
    coloured = on_a_terminal(desk, *words)[1]
    plain = on_a_terminal(desk, *words, env={"NO_COLOR": "1"})[1]
    assert COLOUR.sub("", coloured) == plain
    assert not COLOUR.search(plain)
    red = [line for line in coloured.splitlines() if "\x1b[31m" in line]
    assert [COLOUR.sub("", line).split("  ")[0] for line in red] == ["knows no outcome"]


def test_a_timeline_in_a_pipe_has_no_colour(worked: Worked, tmp_path: Path) -> None:
    desk, workflow_id = worked("unknown")
    ran = desk.run("timeline", "--workflow", workflow_id, "--format", "text")
    assert (ran.status, "\x1b" in ran.stdout) == (0, False)
