"""Somebody else's runtime, killed and failed at every call of its store."""

from __future__ import annotations

import errno
import re
import threading
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from resumeproof import ConformanceReport
from resumeproof.errors import PlanRefused, SubjectFailed, UsageRefused
from resumeproof.proof.told import CREATED_AT, created, write
from resumeproof.stores.json_journal import JsonJournal
from resumeproof.stores.sqlite_journal import SqliteJournal
from resumeproof.testing import CountedCalls, StoreSeen, faulty, prove_store
from tests.docs.blocks import blocks

ROOT = Path(__file__).parent.parent.parent
HARNESS = ROOT / "examples" / "harness"
CALLS = {"append", "save"}

pytestmark = pytest.mark.crash


@pytest.fixture(autouse=True)
def _examples_are_importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(HARNESS)


def proved(name: str, **options: Any) -> ConformanceReport:
    toy = import_module("prove_toy")
    run = import_module(name).run
    return prove_store(toy.Store, run, toy.look, CALLS, ends={"completed"}, **options)


def found(report: ConformanceReport) -> list[tuple[str, str]]:
    return [(str(finding.kind), finding.plan) for finding in report.findings]


RESUME = [("record_ahead", "save:before#1"), ("record_ahead", "append:after#1")]
COMPLETION = [
    ("state_ahead", "append:before#2"),
    ("terminal_missing", "append:before#2"),
    ("state_ahead", "save:after#2"),
    ("terminal_missing", "save:after#2"),
]


@pytest.mark.parametrize("kill", ["sigkill", "exit86"])
def test_both_inversions_are_found_by_name(kill: Any) -> None:
    report = proved("toy_runtime", kill=kill)
    certificate = report.certificate
    assert (found(report), report.crash_points) == ([*RESUME, *COMPLETION], 4)
    assert (certificate.enumerated, certificate.adds_up) == (8, True)


def test_each_finding_says_how_to_see_it_again() -> None:
    report = proved("toy_runtime")
    replays = re.findall(r"^      replay: prove_store\(\.\.\., plan='(.*)'\)$", str(report), re.M)
    assert replays == [plan for _, plan in [*RESUME, *COMPLETION]]
    again = [found(proved("toy_runtime", plan=plan)) for plan in dict.fromkeys(replays)]
    assert [each for findings in again for each in findings] == [*RESUME, *COMPLETION]


@pytest.mark.parametrize("depth", [1, 2])
def test_mended_it_has_none(depth: int) -> None:
    report = proved("toy_runtime_mended", depth=depth)
    assert (report.passed, report.certificate.adds_up, str(report).count("\n")) == (True, True, 1)


SWALLOWED = "the state says that 'resumed' happened, and no record does ({} at {} was swallowed)"


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO], ids=errno.errorcode.get)
def test_an_append_that_fails_in_silence_shows(error: int) -> None:
    report = proved("toy_runtime", error=error)
    name = errno.errorcode[error]
    assert found(report) == [("state_ahead", "append:before#1"), *COMPLETION]
    assert report.findings[0].detail == SWALLOWED.format(name, "append:before#1")
    assert f"replay: prove_store(..., error=errno.{name}, plan='append:before#1')" in str(report)
    assert (report.certificate.enumerated, report.certificate.adds_up) == (8, True)


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO], ids=errno.errorcode.get)
def test_mended_no_error_does_harm(error: int) -> None:
    report = proved("toy_runtime_mended", error=error)
    assert (report.passed, report.certificate.verified) == (True, 8)


def test_what_the_lives_left_is_kept(tmp_path: Path) -> None:
    proved("toy_runtime", plan="save:after#2", keep=tmp_path / "kept")
    life = tmp_path / "kept" / "life-1"
    assert (life / "ending.txt").read_text() == "signal 9 (SIGKILL), at save:after#2\n"
    assert (life / "scenario" / "store" / "records.txt").read_text() == "resumed\n"


# -- other runtimes --------------------------------------------------------------------------------


class Lines:
    """A store of one file: each line is a record, or a saved state."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / "lines"

    def append(self, record: str) -> None:
        self._write(f"record {record}")

    async def save(self, status: str) -> None:
        self._write(f"state {status}")

    def _write(self, line: str) -> None:
        with self.path.open("a") as file:
            file.write(f"{line}\n")

    def of(self, kind: str) -> list[str]:
        lines = self.path.read_text().splitlines() if self.path.exists() else []
        return [line.removeprefix(f"{kind} ") for line in lines if line.startswith(kind)]


def look_at_lines(directory: Path) -> StoreSeen:
    store = Lines(directory)
    return StoreSeen(store.of("record"), sorted(set(store.of("state"))), output=store.of("state"))


async def well(store: Lines) -> None:
    if "done" not in store.of("record"):
        store.append("done")
    if "done" not in store.of("state"):
        await store.save("done")


async def saved_first(store: Lines) -> None:
    if "done" not in store.of("state"):
        await store.save("done")
        store.append("done")


async def again_and_again(store: Lines) -> None:
    store.append("done")
    await store.save("done")


async def never_recorded(store: Lines) -> None:
    if "done" not in store.of("state"):
        await store.save("done")


def in_a_thread(store: Lines) -> None:
    def work() -> None:
        if "done" not in store.of("record"):
            store.append("done")
        if "done" not in store.of("state"):
            store._write("state done")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


RUNTIMES: dict[str, tuple[Callable[[Lines], Any], list[tuple[str, str]]]] = {
    "async": (well, []),
    "with threads": (in_a_thread, []),
    "saves first": (
        saved_first,
        [
            ("state_ahead", "append:before#1"),
            ("terminal_missing", "append:before#1"),
            ("state_ahead", "save:after#1"),
            ("terminal_missing", "save:after#1"),
        ],
    ),
    "never records its end": (
        never_recorded,
        [
            (kind, plan)
            for plan in ("baseline", "save:before#1", "save:after#1")
            for kind in ("state_ahead", "terminal_missing")
        ],
    ),
    "never looks": (
        again_and_again,
        [
            ("terminal_repeated", "save:before#1"),
            ("terminal_repeated", "append:after#1"),
            ("resume_diverged", "save:after#1"),
            ("terminal_repeated", "save:after#1"),
        ],
    ),
}


MADE: dict[Callable[[Lines], Any], set[str]] = {in_a_thread: {"append"}, never_recorded: {"save"}}


@pytest.mark.parametrize(("run", "findings"), RUNTIMES.values(), ids=RUNTIMES)
def test_other_runtimes(run: Callable[[Lines], Any], findings: list[tuple[str, str]]) -> None:
    report = prove_store(Lines, run, look_at_lines, MADE.get(run, CALLS), ends={"done"})
    assert (found(report), report.certificate.adds_up) == (findings, True)


def test_a_runtime_none_of_whose_calls_are_named_proves_nothing() -> None:
    with pytest.warns(UserWarning, match="^never called without a crash: write$"):
        report = prove_store(Lines, well, look_at_lines, {"write"})
    assert str(report) == (
        "conformance: PASS, but nothing proved: the subject has no persistence call"
    )


def test_a_call_that_is_named_and_never_made_is_warned_of(tmp_path: Path) -> None:
    """A slip in a name would leave out the kills at that call, and pass all the sooner."""
    calls = {"append": "add", "sawe": "save", "flush": "flush"}
    with pytest.warns(UserWarning, match="^never called without a crash: flush, sawe$"):
        report = prove_store(Lines, well, look_at_lines, calls, ends={"done"})
    assert report.passed
    with pytest.warns(UserWarning, match="flush"):
        prove_store(
            Lines, well, look_at_lines, CALLS | {"flush"}, plan="append:after#1", keep=tmp_path
        )


async def fails(store: Lines) -> None:
    raise ValueError("no")


REFUSED: dict[str, tuple[dict[str, Any], type[Exception]]] = {
    "kept without a plan": ({"keep": "kept"}, UsageRefused),
    "no depth": ({"depth": 0}, UsageRefused),
    "an unknown death": ({"kill": "softly"}, UsageRefused),
    "no number of an error": ({"error": 0}, UsageRefused),
    "no calls": ({"calls": ()}, UsageRefused),
    "a plan that cannot be read": ({"plan": "append"}, PlanRefused),
    "a runtime that fails by itself": ({"run": fails}, SubjectFailed),
}


@pytest.mark.parametrize(("options", "error"), REFUSED.values(), ids=REFUSED)
def test_what_makes_no_sense_is_refused(options: dict[str, Any], error: type[Exception]) -> None:
    asked: dict[str, Any] = {"run": well, "calls": CALLS, **options}
    with pytest.raises(error):
        prove_store(Lines, look=look_at_lines, **asked)


# -- our own stores, and the document --------------------------------------------------------------


JOURNALS = {"sqlite": SqliteJournal, "json": JsonJournal}


@pytest.mark.parametrize("kind", JOURNALS.values(), ids=JOURNALS)
def test_our_own_journals_can_be_wrapped(kind: Any, tmp_path: Path) -> None:
    counted = CountedCalls(lambda boundary, number: None)
    kind.create(tmp_path / "journal", journal_id="j", created_at=CREATED_AT)
    with kind.open(tmp_path / "journal") as journal:
        write(faulty(journal, CALLS, counted), None, created("w"))
    assert counted.passed == [
        ("append:before", 1),
        ("append:after", 1),
        ("save:before", 1),
        ("save:after", 1),
    ]


@pytest.mark.parametrize("name", ["toy_runtime.py", "toy_runtime_mended.py", "prove_toy.py"])
def test_the_document_shows_the_example_as_it_is(name: str) -> None:
    shown = [block.text for block in blocks((ROOT / "docs/harness.md").read_text(), "python")]
    source = (HARNESS / name).read_text()
    assert any(text in source and len(text) > 250 for text in shown)
