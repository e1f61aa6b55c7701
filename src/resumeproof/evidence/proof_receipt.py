"""The receipt file of proofs: what was done to subjects, and what was found.

Its scenarios are gone by then, and no database lies beside it. What can be re-checked is that it is
whole, that it agrees with itself, and that the text beside it is the one it was written with.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from resumeproof.domain.conformance import (
    ConformanceReport,
    Proof,
    ProofTerms,
    Scenario,
    Verdict,
    total,
)
from resumeproof.domain.course import Course, EffectName
from resumeproof.domain.printable import shown
from resumeproof.evidence.files import file_digest, write_durably
from resumeproof.evidence.receipt import RECEIPT_NAME, environment
from resumeproof.evidence.report import REPORT_NAME, write_report

TEXT_NAME: Final = "report.txt"
CONFORM: Final = "conform"
SHAPES: Final = "shapes"
EXPLORE: Final = "explore"
PROOF_KINDS: Final = frozenset({CONFORM, SHAPES, EXPLORE})
PROOF_SCHEMA_VERSION: Final = 2


def write_proofs(directory: Path, kind: str, proofs: Sequence[Proof]) -> dict[str, Any]:
    """Write `receipt.json`, `report.txt` and `report.html`, and return what the first one holds.

    `kind` is one of `PROOF_KINDS`. Raises `StoreUnavailable`.
    """
    text = directory / TEXT_NAME
    lines = [line for proof in proofs for line in _lines(proof, alone=len(proofs) == 1)]
    write_durably(text, "".join(f"{shown(line)}\n" for line in lines))
    receipt = {
        "certificate": asdict(total([report for _, report in proofs])),
        "environment": environment(),
        "kind": kind,
        "passed": all(report.passed for _, report in proofs),
        "proofs": [proof_json(terms, report) for terms, report in proofs],
        "schema_version": PROOF_SCHEMA_VERSION,
        "text": {"file": text.name, "sha256": file_digest(text, "report")},
    }
    # In ASCII, since what a subject says of itself may hold lone surrogates.
    written = json.dumps(receipt, indent=1, sort_keys=True) + "\n"
    write_durably(directory / RECEIPT_NAME, written)
    # From what was written, as `resumeproof report` does it.
    write_report(directory / REPORT_NAME, json.loads(written))
    return receipt


def _lines(proof: Proof, *, alone: bool) -> list[str]:
    terms, report = proof
    told = str(report).splitlines()
    return told if alone else [f"{terms.subject}:", *told, ""]


def proof_json(terms: ProofTerms, report: ConformanceReport) -> dict[str, Any]:
    """A proof as JSON: its terms, its findings, and what they rest on."""
    fewest = report.fewest_inputs
    effects = _Effects(report.undisturbed.effects)
    scenarios = [
        _scenario(scenario, verdict, terms, effects) for scenario, verdict in report.verdicts()
    ]
    return {
        "subject": terms.subject,
        "passed": report.passed,
        "nothing_proved": report.nothing_proved,
        "crash_points": report.crash_points,
        "crashes_at": report.crashes_at,
        "findings": [
            {
                "kind": str(finding.kind),
                "crash_after": finding.crash_after,
                "detail": finding.detail,
                "plan": finding.plan,
            }
            for finding in report.findings
        ],
        "nondeterminism": report.nondeterminism,
        "fewest_inputs": None if fewest is None else list(map(_plain, fewest)),
        "replay": report.replay,
        "scored": None if report.scored is None else asdict(report.scored),
        "certificate": asdict(report.certificate),
        "shared_prefixes": report.shared_prefixes,
        "unshareable": report.unshareable,
        "absorbed": report.absorbed,
        "terms": _terms(terms),
        "inputs": list(map(_plain, terms.inputs)),
        "undisturbed": {
            "effects": len(report.undisturbed.effects),
            "passed": list(report.undisturbed.passed),
            "state": report.undisturbed.state,
            "words": list(report.undisturbed.words),
        },
        "effects": [asdict(effect) for effect in effects.names],
        "scenarios": scenarios,
        "exploration": _exploration(report),
        "not_covered": list(report.not_covered),
    }


def _exploration(report: ConformanceReport) -> dict[str, Any] | None:
    told = report.exploration
    if told is None:
        return None
    return asdict(told) | {"domains": list(told.domains), "not_covered": list(told.not_covered)}


def _scenario(
    scenario: Scenario, verdict: Verdict, terms: ProofTerms, effects: _Effects
) -> dict[str, Any]:
    return {
        "plan": scenario.plan,
        "kill": scenario.kill or terms.kill,
        "run_id": scenario.run_id,
        "verdict": str(verdict),
        "invalid": scenario.invalid,
        "note": scenario.note,
        "course": None if scenario.course is None else _course(scenario.course, effects),
    }


def _course(course: Course, effects: _Effects) -> dict[str, Any]:
    return {
        "absorbed": course.absorbed,
        "committed": list(course.committed),
        "doubts": list(course.doubts),
        "effects": effects.runs(course),
        "hung": course.hung,
        "raised": course.raised,
    }


class _Effects:
    """Every effect of a proof once, by its number."""

    def __init__(self, undisturbed: Sequence[EffectName]) -> None:
        self.names = list(undisturbed)
        self._others: dict[EffectName, int] = {}

    def runs(self, course: Course) -> list[list[int]]:
        return [
            [self._number(part)] * 2 if isinstance(part, EffectName) else list(part)
            for part in course.effects
        ]

    def _number(self, other: EffectName) -> int:
        if other not in self._others:
            self.names.append(other)
            self._others[other] = len(self.names)
        return self._others[other]


def _terms(terms: ProofTerms) -> dict[str, Any]:
    return {
        "at": terms.at,
        "contract": terms.contract.to_json(),
        "dedupe": terms.dedupe,
        "depth": terms.depth,
        "ignored": list(terms.ignored),
        "isolation": terms.isolation,
        "kill": terms.kill,
        "mode": terms.mode or terms.kill,
        "plan": terms.plan,
        "run_id": terms.run_id,
        "timeout_seconds": terms.timeout_seconds,
        "when": list(terms.when),
    }


def _plain(value: object) -> object:
    """The value where JSON holds it unchanged, else what Python calls it."""
    try:
        if _same(json.loads(json.dumps(value, allow_nan=False)), value):
            return value
    except (TypeError, ValueError, RecursionError):
        pass
    return {"repr": repr(value)}


def _same(found: object, value: object) -> bool:
    """Whether two values are equal, and made of the same types all the way down."""
    if type(found) is not type(value):
        return False
    if isinstance(found, dict) and isinstance(value, dict):
        return found.keys() == value.keys() and all(_same(found[key], value[key]) for key in found)
    if isinstance(found, list) and isinstance(value, list):
        return len(found) == len(value) and all(map(_same, found, value))
    return found == value
