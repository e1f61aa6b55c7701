"""The receipt of a campaign as large as one likes, made without running it."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from resumeproof.domain.conformance import (
    Certificate,
    ConformanceReport,
    ProofTerms,
    Scenario,
)
from resumeproof.domain.contract import ToolContract
from resumeproof.domain.course import Course, EffectName, Undisturbed
from resumeproof.domain.verdict import Finding, FindingKind
from resumeproof.evidence.proof_receipt import CONFORM, write_proofs
from resumeproof.evidence.reading import read_receipt
from resumeproof.evidence.receipt import RECEIPT_NAME


def campaign(scenarios: int = 10_000, *, failing_in: int = 7) -> dict[str, Any]:
    """A large campaign, every so many scenarios of which failed for a reason of its own."""
    effects = scenarios // 2
    findings: list[Finding] = []
    tried: list[Scenario] = []
    for number in range(1, effects + 1):
        for side, committed in (("before", number - 1), ("after", number)):
            plan = f"effect:{side}#{number}"
            course = Course((committed,), ((1, effects),))
            if len(tried) % failing_in == 0 and committed:
                course = Course((committed,), ((1, committed), (committed, effects)))
                detail = f"effect 'pay' with key 'job-{committed}' happened 2 times"
                findings.append(Finding(FindingKind.EFFECT_REPLAYED, committed, detail, plan))
            tried.append(Scenario(plan, f"run-{number}-{side}", course=course))
    report = ConformanceReport(
        crash_points=effects,
        findings=findings,
        certificate=Certificate(*[len(tried)] * 7),
        scenarios=tried,
        replay="resumeproof conform agent.py:Agent",
        terms=ProofTerms("agent.py:Agent", [], ToolContract("agent")),
        undisturbed=Undisturbed(
            tuple(f"effect:{s}#{n}" for n in range(1, effects + 1) for s in ("before", "after")),
            tuple(EffectName("pay", f"job-{number}") for number in range(1, effects + 1)),
        ),
    )
    assert report.terms is not None
    with TemporaryDirectory() as directory:
        write_proofs(Path(directory), CONFORM, [(report.terms, report)])
        return read_receipt(Path(directory) / RECEIPT_NAME)
