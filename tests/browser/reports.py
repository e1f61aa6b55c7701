"""The reports that the browser opens, made as anybody makes them: a run, its receipt, its page."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from resumeproof.crash.plan import CrashPlan
from resumeproof.domain.conformance import (
    Certificate,
    ConformanceReport,
    Proof,
    ProofTerms,
    Scenario,
)
from resumeproof.domain.contract import ToolContract
from resumeproof.domain.course import Course, EffectName, Undisturbed
from resumeproof.domain.verdict import Finding, FindingKind
from resumeproof.evidence.proof_receipt import CONFORM, SHAPES, write_proofs
from resumeproof.evidence.proof_versions import proofs_of
from resumeproof.evidence.reading import read_receipt
from resumeproof.evidence.receipt import RECEIPT_NAME
from resumeproof.evidence.report import render
from resumeproof.proof.conform import conform
from resumeproof.proof.context import Context
from resumeproof.proof.progress import Silence
from resumeproof.proof.shapes import SHAPES as WORKFLOWS
from resumeproof.proof.shapes.disturbance import Mode
from resumeproof.proof.shapes.run import Cell, prove_cell
from resumeproof.stores.protocols import JournalFormat

ROOT = Path(__file__).parents[2]
OLDER = ROOT / "tests" / "unit" / "evidence" / "older" / "proof-receipt-1" / "receipt.json"
HOSTILE = "<img src=x onerror='window.harmed=1'>\"'`&amp;</script>\x1b[2J\x00\u202e\ud800 ]]>--"
EXPLORE = (sys.executable, "-m", "resumeproof", "explore")
INPUTS = ("a", "b", "c")


class Careful:
    """Asks what it did, and does no more."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx

    def step(self, item: str) -> None:
        if self._ctx.lookup(item) is None:
            self._ctx.effect("pay", {"to": item}, key=item)

    def state(self) -> list[str]:
        return self._ctx.effects.keys()


class Careless(Careful):
    """Pays again for all that it was fed, and cannot pay for the last one twice."""

    def step(self, item: str) -> None:
        if item == INPUTS[-1] and self._ctx.lookup(item) is not None:
            raise ValueError(f"{item} was paid")
        self._ctx.effect("pay", {"to": item}, key=item)


class Forgetful(Careful):
    """Notes that it paid before it pays, so that a death between the two loses the payment."""

    def step(self, item: str) -> None:
        paid = self._ctx.directory / item
        if not paid.exists():
            paid.touch()
            self._ctx.effect("pay", {"to": item}, key=item)


@dataclass(frozen=True)
class Written:
    """A page on disk, and the receipt that it was made from."""

    page: Path
    receipt: dict[str, Any]

    @property
    def proofs(self) -> list[dict[str, Any]]:
        return [dict(proof) for proof in proofs_of(self.receipt)]

    @property
    def plans(self) -> list[tuple[int, str]]:
        """Every scenario, by the number of its proof and its plan."""
        return [
            (number, scenario["plan"])
            for number, proof in enumerate(self.proofs)
            for scenario in proof["scenarios"]
        ]


def demo() -> dict[str, Any]:
    return read_receipt(ROOT / "demo-output" / "receipt.json")


def hostile_demo() -> dict[str, Any]:
    """The demo, had its people and its tool had other names."""
    receipt = demo()
    for workflow in receipt["workflows"]:
        workflow["action"]["arguments"] = {HOSTILE: [HOSTILE]}
        workflow["action"]["tool"] = HOSTILE
        workflow["key"] = HOSTILE
        for record in workflow["timeline"]:
            for member in ("actor", "key", "tool", "note"):
                if member in record["facts"]:
                    record["facts"][member] = HOSTILE * 1_000
    for row in receipt["ledger"]["effects"]:
        row["key"] = row["tool"] = HOSTILE
    return receipt


def proof(agent: Callable[[Context], object], **options: Any) -> dict[str, Any]:
    report = conform(agent, INPUTS, jobs=1, **options)
    report.replay = "resumeproof conform agent.py:Agent"
    return _written(CONFORM, [report])


def passing() -> dict[str, Any]:
    return proof(Careful, depth=2)


def failing() -> dict[str, Any]:
    return proof(Careless)


def losing() -> dict[str, Any]:
    return proof(Forgetful)


def shapes() -> dict[str, Any]:
    """A death at one call, a failure of another, which is no death, and a stop at each."""
    proved: list[tuple[str, JournalFormat, Mode, str | None]] = [
        ("effect_chain", JournalFormat.JSON, Mode.SIGKILL, "commit:after#4"),
        ("effect_chain", JournalFormat.JSON, Mode.ENOSPC, "append:after#2"),
        ("tool_approval", JournalFormat.SQLITE, Mode.STOP, None),
    ]
    reports = [
        prove_cell(
            Cell(WORKFLOWS[name], journal_format, mode),
            depth=1,
            jobs=1,
            progress=Silence(),
            plan=None if plan is None else CrashPlan.parse(plan),
        )
        for name, journal_format, mode, plan in proved
    ]
    return _written(SHAPES, reports)


def exploration() -> dict[str, Any]:
    """A program that does not survive a power cut; skipped where there is no strace."""
    if shutil.which("strace") is None:
        pytest.skip("there is no strace here: apt-get install strace")
    examples = ROOT / "examples" / "explore"
    asked = ["--power-loss", "--no-resume", "--check", f"{examples / 'state_check.py'}:check"]
    program = [sys.executable, str(examples / "replaced.py"), "file"]
    with TemporaryDirectory() as directory:
        report = Path(directory, "report")
        place = Path(directory, "place")
        place.mkdir()
        ran = subprocess.run(
            [*EXPLORE, "--report", str(report), *asked, "--jobs", "1", "--", *program],
            cwd=place,
            capture_output=True,
            timeout=60,
        )
        assert ran.returncode == 1, ran.stderr
        return read_receipt(report / RECEIPT_NAME)


def older() -> dict[str, Any]:
    return read_receipt(OLDER)


def hostile_proof() -> dict[str, Any]:
    """A proof of whose texts the subject chose every one."""
    findings = [Finding(kind, 1, HOSTILE, "effect:after#1") for kind in FindingKind]
    report = ConformanceReport(
        crash_points=1,
        crashes_at=HOSTILE,
        findings=[*findings, Finding(FindingKind.STATE_LOST, 1, "x" * 1_000_000, "effect:after#1")],
        certificate=Certificate(2, 2, 2, 2, byte_images=2, states=2, resumed=2),
        scenarios=[
            Scenario("effect:before#1", "run-1-before", invalid=HOSTILE, note=HOSTILE),
            Scenario(
                "effect:after#1",
                "run-1",
                note=HOSTILE,
                course=Course(
                    (1,), ((1, 1), EffectName(HOSTILE, None, HOSTILE)), HOSTILE, doubts=(HOSTILE,)
                ),
            ),
        ],
        nondeterminism=HOSTILE,
        unshareable=HOSTILE,
        fewest_inputs=[HOSTILE],
        replay=HOSTILE,
        terms=ProofTerms(HOSTILE, [HOSTILE], ToolContract(HOSTILE), mode=HOSTILE),
        undisturbed=Undisturbed((HOSTILE,), (EffectName(HOSTILE, HOSTILE),), HOSTILE, (HOSTILE,)),
    )
    return _written(CONFORM, [report])


def write(receipt: dict[str, Any], page: Path) -> Written:
    page.write_text(render(receipt), encoding="utf-8")
    return Written(page, receipt)


def _written(kind: str, reports: list[ConformanceReport]) -> dict[str, Any]:
    """The receipt file, as it is read again."""
    proofs: list[Proof] = [(report.terms, report) for report in reports if report.terms]
    with TemporaryDirectory() as directory:
        write_proofs(Path(directory), kind, proofs)
        return read_receipt(Path(directory) / RECEIPT_NAME)
