"""The receipt file of a proof: what was done to a subject, and what was found.

Its scenarios are gone by then, and no database lies beside it. What can be re-checked is that it is
whole, that it agrees with itself, and that the text beside it is the one it was written with.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from resumeproof.domain.conformance import ConformanceReport, ProofTerms
from resumeproof.domain.printable import shown
from resumeproof.errors import EvidenceBroken
from resumeproof.evidence.files import file_digest, write_durably
from resumeproof.evidence.receipt import RECEIPT_NAME, SCHEMA_VERSION, environment

TEXT_NAME: Final = "report.txt"
PROOF_KIND: Final = "conform"

Problem = tuple[str, str]

_AT_MOST: Final = {"states": "byte_images", "byte_images": "judged", "resumed": "judged"}
"""Each figure of a certificate that cannot be above another: equal images are judged as one."""


def write_proof(directory: Path, terms: ProofTerms, report: ConformanceReport) -> dict[str, Any]:
    """Write `receipt.json` and `report.txt` into a directory, and return the receipt file.

    Raises `StoreUnavailable`.
    """
    text = directory / TEXT_NAME
    write_durably(text, "".join(f"{shown(line)}\n" for line in str(report).splitlines()))
    receipt = {
        "environment": environment(),
        "kind": PROOF_KIND,
        "schema_version": SCHEMA_VERSION,
        "text": {"file": text.name, "sha256": file_digest(text, "report")},
        **proof_json(terms, report),
    }
    # In ASCII, since what a subject says of itself may hold lone surrogates.
    write_durably(directory / RECEIPT_NAME, json.dumps(receipt, indent=2, sort_keys=True) + "\n")
    return receipt


def proof_json(terms: ProofTerms, report: ConformanceReport) -> dict[str, Any]:
    """A proof as JSON: its terms, its findings, and what they rest on."""
    fewest = report.fewest_inputs
    return {
        "subject": terms.subject,
        "passed": report.passed,
        "nothing_proved": report.nothing_proved,
        "crash_points": report.crash_points,
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
        "terms": _terms(terms),
        "inputs": list(map(_plain, terms.inputs)),
        "scenarios": [
            {
                "plan": scenario.plan,
                "kill": terms.kill,
                "run_id": scenario.run_id,
                "verdict": str(verdict),
                "invalid": scenario.invalid,
            }
            for scenario, verdict in report.verdicts()
        ],
    }


def _terms(terms: ProofTerms) -> dict[str, Any]:
    return {
        "contract": terms.contract.to_json(),
        "dedupe": terms.dedupe,
        "depth": terms.depth,
        "isolation": terms.isolation,
        "kill": terms.kill,
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


# -- checking it again -----------------------------------------------------------------------


def check_proof(receipt: Mapping[str, Any], path: Path) -> dict[str, int]:
    """Check a proof's receipt file, which has its shape already, and return its totals.

    Raises `EvidenceBroken` for the first thing that does not hold, and `StoreNotFound` where the
    text beside it is missing.
    """
    problem = next(_problems(receipt), None)
    if problem is not None:
        raise EvidenceBroken(str(path), *problem)
    text = path.parent / receipt["text"]["file"]
    if file_digest(text, "report") != receipt["text"]["sha256"]:
        raise EvidenceBroken(str(text), "its SHA-256", "the report was changed")
    invalid = sum(scenario["verdict"] == "invalid" for scenario in receipt["scenarios"])
    return {
        "scenarios": len(receipt["scenarios"]),
        "findings": len(receipt["findings"]),
        "invalid": invalid,
    }


def _problems(receipt: Mapping[str, Any]) -> Iterator[Problem]:
    scenarios: Sequence[Mapping[str, Any]] = receipt["scenarios"]
    yield from _problems_of_scenarios(receipt, scenarios)
    yield from _problems_of_certificate(receipt["certificate"], scenarios)
    plans = {scenario["plan"] for scenario in scenarios} | {"baseline"}
    for index, finding in enumerate(receipt["findings"]):
        if finding["plan"] not in plans:
            yield f"findings/{index}/plan", f"there is no scenario {finding['plan']}"
    failed = bool(receipt["findings"]) or any(each["verdict"] == "invalid" for each in scenarios)
    if receipt["passed"] is failed:
        yield "passed", f"it says {receipt['passed']}, and the findings say otherwise"
    if receipt["nothing_proved"] is not (receipt["crash_points"] == 0):
        yield "nothing_proved", f"{receipt['crash_points']} effects were crashed at"


def _problems_of_scenarios(
    receipt: Mapping[str, Any], scenarios: Sequence[Mapping[str, Any]]
) -> Iterator[Problem]:
    found = {finding["plan"] for finding in receipt["findings"]}
    for member in ("plan", "run_id"):
        counted = Counter(scenario[member] for scenario in scenarios)
        for name, times in counted.items():
            if times > 1:
                yield "scenarios", f"{member} {name} is there {times} times"
    for index, scenario in enumerate(scenarios):
        if scenario["kill"] != receipt["terms"]["kill"]:
            yield f"scenarios/{index}/kill", f"the terms say {receipt['terms']['kill']}"
        due = "failed" if scenario["plan"] in found else "passed"
        due = due if scenario["invalid"] is None else "invalid"
        if scenario["verdict"] != due:
            yield (
                f"scenarios/{index}/verdict",
                f"it says {scenario['verdict']}, and was to be {due}",
            )


def _problems_of_certificate(
    certificate: Mapping[str, int], scenarios: Sequence[Mapping[str, Any]]
) -> Iterator[Problem]:
    if certificate["enumerated"] != len(scenarios):
        told = f"{certificate['enumerated']} enumerated, and {len(scenarios)} scenarios are told of"
        yield "certificate/enumerated", told
    valid = sum(scenario["invalid"] is None for scenario in scenarios)
    for member in ("fired", "verified", "judged"):
        count = certificate[member]
        # An invalid scenario may have come this far, and need not.
        if not valid <= count <= len(scenarios):
            yield f"certificate/{member}", f"it says {count}, of {valid} valid scenarios"
    # What has other bytes may mean the same, and each image is resumed once at least.
    for fewer, more in (
        ("states", "byte_images"),
        ("byte_images", "judged"),
        ("resumed", "judged"),
    ):
        if certificate[fewer] > certificate[more]:
            told = f"{certificate[fewer]}, of {certificate[more]} {more}"
            yield f"certificate/{fewer}", told
