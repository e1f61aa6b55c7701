"""`conform(at="calls")`: lives die at each durable system call."""

from __future__ import annotations

import json
import mmap
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from resumeproof import ConformanceReport, Context, conform
from resumeproof.domain.verdict import FindingKind
from resumeproof.errors import PlanRefused, StraceMissing, SubjectFailed
from resumeproof.evidence.proof_receipt import CONFORM, write_proofs
from resumeproof.evidence.proof_versions import proofs_of
from resumeproof.evidence.shape import shape_problem
from resumeproof.evidence.verify import verify
from tests.crash.syscalls.programs import needs_strace

pytestmark = [pytest.mark.crash, needs_strace]

REPLAYED, DIVERGED = FindingKind.EFFECT_REPLAYED, FindingKind.RESUME_DIVERGED


class Writer:
    """Notes each item in a list that is replaced whole."""

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self.file = ctx.directory / "done.json"
        self.done = json.loads(self.file.read_text()) if self.file.exists() else []

    def step(self, item: str) -> None:
        if item not in self.done:
            self.act(item)
            self.done.append(item)
            self.replace(self.file, json.dumps(self.done))

    def act(self, item: str) -> None:
        pass

    def replace(self, file: Path, text: str) -> None:
        beside = file.with_suffix(".tmp")
        beside.write_text(text)
        beside.replace(file)

    def state(self) -> Any:
        return self.done


class Paying(Writer):
    def act(self, item: str) -> None:
        self.ctx.effect("pay", item, key=item)


class Asking(Writer):
    def act(self, item: str) -> None:
        if self.ctx.lookup(item) is None:
            self.ctx.effect("pay", item, key=item)


class Logging(Writer):
    def act(self, item: str) -> None:
        with (self.ctx.directory / "agent.log").open("a") as log:
            log.write(f"at {item}\n")


class Idle(Writer):
    def step(self, item: str) -> None:
        pass


class RemembersWhereItLies(Writer):
    def act(self, item: str) -> None:
        self.replace(self.ctx.directory / "place", str(self.ctx.directory))


class NeverTheSame(Writer):
    def act(self, item: str) -> None:
        self.replace(self.ctx.directory / "pid", str(os.getpid()))


class WritesElsewhere(Writer):
    elsewhere: Path

    def act(self, item: str) -> None:
        self.elsewhere.write_text(item)


class Mapping(Writer):
    def act(self, item: str) -> None:
        with open(self.ctx.directory / "mapped", "w+b") as file:
            file.truncate(mmap.PAGESIZE)
            with mmap.mmap(file.fileno(), mmap.PAGESIZE) as memory:
                memory[0] = 1


class WritesPages(Writer):
    """Writes more than a page at once, and takes what it finds for whole."""

    def act(self, item: str) -> None:
        pages = self.ctx.directory / "pages"
        if not pages.exists() or not pages.stat().st_size:
            with open(pages, "wb", buffering=0) as file:
                file.write(b"x" * 10_000)


class AsksOnce(Asking):
    """Asks only if it finds its note, which it takes away first: safe once."""

    def act(self, item: str) -> None:
        note = self.ctx.directory / "note"
        if note.exists():
            note.unlink()
            super().act(item)
        else:
            note.touch()
            self.ctx.effect("pay", item, key=item)


def proved(agent: Any, inputs: tuple[str, ...] = ("a",), **options: Any) -> ConformanceReport:
    return conform(agent, inputs, at="calls", **options)


@cache
def paying() -> ConformanceReport:
    """Of one that pays twice; several tests look at it."""
    return proved(Paying)


def kinds(report: ConformanceReport) -> set[FindingKind]:
    return {finding.kind for finding in report.findings}


# -- what it finds ----------------------------------------------------------------------------


def test_effects_with_us_are_counted_at_calls_as_well() -> None:
    report = paying()
    assert kinds(report) == {REPLAYED}
    detail = report.findings[0].detail
    assert (
        "effect 'pay' with key 'a' happened 2 times, 1 in the baseline; it dies between" in detail
    )
    assert "to the receiver's ledger, and call" in detail
    assert "to done.tmp; confirmed: a life was killed there, and left the same" in detail


def test_an_effect_stands_among_the_calls_where_it_happened() -> None:
    told = paying().undisturbed
    place = told.passed.index("effect:after#1")
    assert told.words[place - 1].startswith("pwrite64 the receiver's ledger, ")
    assert told.words[place + 1] == "openat done.tmp"
    assert len(told.passed) == len(told.words) == 2 * paying().crash_points + 1


def test_one_that_asks_is_safe_at_calls_as_well() -> None:
    report = proved(Asking, ("a", "b"))
    assert (report.passed, report.invalid, report.certificate.adds_up) == (True, [], True)
    assert report.certificate.enumerated == len(report.scenarios) > report.certificate.resumed


def test_files_alone_prove_something() -> None:
    report = proved(Writer)
    told = report.passed, report.nothing_proved, report.crashes_at, report.nondeterminism
    assert told == (True, False, "durable call", None)
    assert f"{report.certificate.enumerated} states rebuilt as crash points" in str(report)


def test_neither_effects_nor_files_prove_nothing() -> None:
    report = proved(Idle)
    assert (report.passed, report.nothing_proved, report.crash_points) == (True, True, 0)
    assert report.headline.endswith("nothing proved: the subject has no durable call")


def test_a_local_class_over_a_closure_is_recorded_like_any_other() -> None:
    names = ["done.json", "more.json"]

    class Local(Writer):
        def act(self, item: str) -> None:
            self.replace(self.ctx.directory / names[1], item)

    report = proved(Local)
    assert report.passed, str(report)
    assert any("rename more.tmp to more.json" in words for words in report.undisturbed.words)


def test_a_write_of_several_pages_is_torn_at_each() -> None:
    report = proved(WritesPages)
    torn = {finding.plan.partition("#")[0] for finding in report.findings}
    assert torn == {"write-cut4096:after", "write-cut8192:after"}
    assert kinds(report) == {DIVERGED}
    assert all("are torn after the first" in finding.detail for finding in report.findings)
    assert all("; confirmed: " in finding.detail for finding in report.findings)


def test_what_is_ignored_is_not_compared() -> None:
    condemned = proved(Logging)
    assert "agent.log holds the line 'at a' 2 time(s), 1 without a crash" in str(condemned)
    report = proved(Logging, ignore=["*.log"])
    assert report.passed, str(report)
    assert report.terms is not None
    assert (report.terms.at, report.terms.ignored) == ("calls", ("*.log",))


def test_files_that_differ_without_a_crash_are_named_and_not_compared() -> None:
    report = proved(NeverTheSame)
    assert (report.passed, report.nondeterminism) == (True, "what they left: pid")


def test_what_an_agent_writes_elsewhere_is_said_to_be_not_covered(tmp_path: Path) -> None:
    class Here(WritesElsewhere):
        elsewhere = tmp_path / "elsewhere"

    report = proved(Here)
    assert report.not_covered == (f"it wrote outside of ctx.directory: {tmp_path / 'elsewhere'}",)
    assert f"  note: {report.not_covered[0]}" in str(report)


def test_what_no_call_shows_makes_the_proof_invalid() -> None:
    report = proved(Mapping)
    reason = "the recorded calls do not account for what the program left: mapped"
    assert {scenario.invalid for scenario in report.scenarios} == {reason}
    assert "a writable shared mapping of mapped" in report.not_covered
    certificate = report.certificate
    assert (report.passed, certificate.verified, certificate.resumed) == (False, 0, 0)


def test_one_that_writes_down_where_it_lies_is_resumed_where_it_lay() -> None:
    report = proved(RemembersWhereItLies, ("a", "b"), jobs=2)
    assert (report.passed, report.nondeterminism) == (True, None), str(report)


def test_an_agent_that_fails_without_a_crash() -> None:
    class Failing(Writer):
        def act(self, item: str) -> None:
            raise RuntimeError("out of paper")

    with pytest.raises(SubjectFailed, match="in the baseline: RuntimeError: out of paper"):
        proved(Failing)


def test_without_strace_it_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(StraceMissing, match="apt-get install strace"):
        proved(Writer)


# -- one plan, several deaths, several workers -------------------------------------------------


def test_a_finding_is_replayed_by_its_plan_alone(tmp_path: Path) -> None:
    plan = paying().findings[0].plan
    kept = tmp_path / "kept"
    report = proved(Paying, plan=plan, keep=kept)
    assert ([finding.plan for finding in report.findings], kinds(report)) == ([plan], {REPLAYED})
    ending = (kept / "life-1" / "ending.txt").read_text()
    assert ending == f"rebuilt as a kill leaves it at {plan}\n"
    left = [
        [file.name for file in (kept / life / "scenario" / "subject").iterdir()]
        for life in ("life-1", "life-2")
    ]
    assert left == [[], ["done.json"]]


def test_before_a_call_is_after_the_one_before() -> None:
    number = int(paying().findings[0].plan.partition("#")[2]) + 1
    report = proved(Paying, plan=f"call:before#{number}")
    assert [finding.plan for finding in report.findings] == [f"call:before#{number}"]


@pytest.mark.parametrize("plan", ["call:after#999", "effect:after#1", "write-cut7:after#1"])
def test_a_plan_that_no_life_comes_to_is_refused(plan: str) -> None:
    with pytest.raises(PlanRefused):
        proved(Paying, plan=plan)


def test_only_a_second_death_shows_what_is_safe_once() -> None:
    once = proved(AsksOnce, ignore=["note"])
    assert once.passed, str(once)
    twice = proved(AsksOnce, ignore=["note"], depth=2)
    assert kinds(twice) == {REPLAYED}
    plan = twice.findings[0].plan
    assert plan.count(";") == 1
    assert all("; confirmed: " in finding.detail for finding in twice.findings)
    alone = proved(AsksOnce, ignore=["note"], plan=plan)
    assert [finding.plan for finding in alone.findings] == [plan]


def test_the_report_does_not_hang_on_how_many_workers_there_are() -> None:
    one, two = (proved(Asking, jobs=jobs, depth=2) for jobs in (1, 2))
    assert (one.findings, one.scenarios, one.certificate) == (
        two.findings,
        two.scenarios,
        two.certificate,
    )


def test_what_is_not_deduplicated_is_resumed_each_time() -> None:
    report = proved(Asking, dedupe=False)
    assert report.certificate.resumed == report.certificate.enumerated
    assert report.passed, str(report)


def test_a_receipt_file_of_it_is_whole(tmp_path: Path) -> None:
    report = paying()
    assert report.terms is not None
    receipt = write_proofs(tmp_path, CONFORM, [(report.terms, report)])
    (proof,) = receipt["proofs"]
    assert (proof["terms"]["at"], proof["terms"]["ignored"]) == ("calls", [])
    assert verify(tmp_path).totals["scenarios"] == len(report.scenarios)
    page = (tmp_path / "report.html").read_text()
    assert "its directory rebuilt as a death at each of its calls leaves it" in page
    assert "Every death was a real one" not in page


def test_a_receipt_file_that_does_not_say_where_lives_died_is_read(tmp_path: Path) -> None:
    report = paying()
    assert report.terms is not None
    receipt = write_proofs(tmp_path, CONFORM, [(report.terms, report)])
    proof = receipt["proofs"][0]
    del proof["terms"]["at"], proof["terms"]["ignored"], proof["not_covered"]
    assert shape_problem(receipt) is None
    (read,) = proofs_of(receipt)
    assert (read["terms"]["at"], read["terms"]["ignored"], read["not_covered"]) == (
        "effects",
        [],
        [],
    )


@pytest.mark.parametrize(
    ("member", "wrong"), [("at", "writes"), ("at", None), ("ignored", "*.log")]
)
def test_a_receipt_file_that_says_it_wrongly_is_refused(
    member: str, wrong: object, tmp_path: Path
) -> None:
    report = paying()
    assert report.terms is not None
    receipt = write_proofs(tmp_path, CONFORM, [(report.terms, report)])
    receipt["proofs"][0]["terms"][member] = wrong
    problem = shape_problem(receipt)
    assert problem is not None
    assert problem[0] == f"/proofs/0/terms/{member}"
