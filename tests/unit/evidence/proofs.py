"""Proofs to tell of: one that passed, one that failed in every way, one that proved nothing."""

from __future__ import annotations

from resumeproof.domain.conformance import (
    Ambiguity,
    Certificate,
    ConformanceReport,
    ProofTerms,
    Scenario,
)
from resumeproof.domain.contract import Lookup, ToolContract
from resumeproof.domain.course import Course, EffectName, Undisturbed
from resumeproof.domain.verdict import Finding, FindingKind

HOSTILE = "\x1b[2J\x00|`<b>&amp;\ud800\u202e]]>--%0A::error::\r\n@everyone $x$ https://e.test"
"""What a subject may say: escapes of a terminal, of XML, of Markdown and of a workflow command."""

CONTRACT = ToolContract("agent", lookup=Lookup.CONSISTENT)


def terms(subject: str = "agent:make") -> ProofTerms:
    return ProofTerms(subject, [{"id": 1}, (2, 3)], CONTRACT)


def passed() -> ConformanceReport:
    return ConformanceReport(
        crash_points=1,
        certificate=Certificate(2, 2, 2, 2, byte_images=2, states=2, resumed=2),
        scenarios=[
            Scenario("effect:before#1", "run-1-before", course=Course((0,), ((1, 1),))),
            Scenario("effect:after#1", "run-1", course=Course((1,), ((1, 1),))),
        ],
        undisturbed=Undisturbed(
            ("effect:before#1", "effect:after#1"), (EffectName("charge", "job-1"),), "['job-1']"
        ),
    )


def nothing() -> ConformanceReport:
    return ConformanceReport()


def failed(detail: str = "'charge' happened 2 times") -> ConformanceReport:
    """Findings of the baseline and of one scenario, and another scenario that is invalid."""
    return ConformanceReport(
        crash_points=2,
        findings=[
            Finding(FindingKind.STATE_LOST, 0, detail),
            Finding(FindingKind.EFFECT_REPLAYED, 1, detail, "effect:after#1"),
            Finding(FindingKind.RESUME_CRASHED, 1, detail, "effect:after#1"),
        ],
        certificate=Certificate(3, 2, 2, 2, byte_images=2, states=1, resumed=2),
        scenarios=[
            Scenario("effect:before#1", "run-1-before", course=Course((0,), ((1, 2),))),
            Scenario(
                "effect:after#1",
                "run-1",
                course=Course((1,), ((1, 1), EffectName("charge", detail), (1, 1)), raised=detail),
            ),
            Scenario("effect:before#2", "run-2-before", detail),
        ],
        undisturbed=Undisturbed(
            tuple(f"effect:{side}#{number}" for number in (1, 2) for side in ("before", "after")),
            (EffectName("charge", "job-1"), EffectName(detail, None, detail)),
            detail,
        ),
        invalid=[f"effect:before#2: {detail}"],
        nondeterminism=detail,
        scored=Ambiguity(1, 1, 2, 0),
        fewest_inputs=[detail],
        replay="resumeproof conform agent:make --inputs jobs.json",
    )
