"""Checking a receipt file of proofs: it agrees with itself, and with the text beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from resumeproof.errors import EvidenceBroken
from resumeproof.evidence.exploration_check import problems_of_exploration
from resumeproof.evidence.files import file_digest
from resumeproof.evidence.proof_versions import proofs_of

Problem = tuple[str, str]

_AT_MOST: Final = {"states": "byte_images", "byte_images": "judged", "resumed": "judged"}
"""Each figure of a certificate that cannot be above another: equal images are judged as one."""


def check_proofs(receipt: Mapping[str, Any], path: Path) -> dict[str, int]:
    """Check a receipt file of proofs, which has its shape already, and return its totals.

    Raises `EvidenceBroken` for the first thing that does not hold, and `StoreNotFound` where the
    text beside it is missing.
    """
    problem = next(_problems(receipt), None)
    if problem is not None:
        raise EvidenceBroken(str(path), *problem)
    text = path.parent / receipt["text"]["file"]
    if file_digest(text, "report") != receipt["text"]["sha256"]:
        raise EvidenceBroken(str(text), "its SHA-256", "the report was changed")
    proofs = proofs_of(receipt)
    scenarios = [scenario for proof in proofs for scenario in proof["scenarios"]]
    return {
        "scenarios": len(scenarios),
        "findings": sum(len(proof["findings"]) for proof in proofs),
        "invalid": sum(scenario["verdict"] == "invalid" for scenario in scenarios),
    }


def _problems(receipt: Mapping[str, Any]) -> Iterator[Problem]:
    proofs = proofs_of(receipt)
    for index, proof in enumerate(proofs):
        place = "" if receipt["schema_version"] == 1 else f"proofs/{index}/"
        for member, detail in _problems_of_proof(proof):
            yield f"{place}{member}", detail
    if receipt["passed"] is not all(proof["passed"] for proof in proofs):
        yield "passed", f"it says {receipt['passed']}, and the proofs say otherwise"
    for member, count in receipt["certificate"].items():
        summed = sum(proof["certificate"][member] for proof in proofs)
        if count != summed:
            yield f"certificate/{member}", f"it says {count}, and the proofs come to {summed}"


def _problems_of_proof(proof: Mapping[str, Any]) -> Iterator[Problem]:
    scenarios: Sequence[Mapping[str, Any]] = proof["scenarios"]
    yield from _problems_of_scenarios(proof, scenarios)
    yield from _problems_of_certificate(proof["certificate"], scenarios)
    plans = {scenario["plan"] for scenario in scenarios} | {"baseline"}
    for index, finding in enumerate(proof["findings"]):
        if finding["plan"] not in plans:
            yield f"findings/{index}/plan", f"there is no scenario {finding['plan']}"
    failed = bool(proof["findings"]) or any(each["verdict"] == "invalid" for each in scenarios)
    if proof["passed"] is failed:
        yield "passed", f"it says {proof['passed']}, and the findings say otherwise"
    if proof["nothing_proved"] is not (proof["crash_points"] == 0):
        yield "nothing_proved", f"{proof['crash_points']} effects were crashed at"
    if proof["exploration"] is not None:
        yield from problems_of_exploration(proof)


def _problems_of_scenarios(
    proof: Mapping[str, Any], scenarios: Sequence[Mapping[str, Any]]
) -> Iterator[Problem]:
    found = {finding["plan"] for finding in proof["findings"]}
    for member in ("plan", "run_id"):
        counted = Counter(scenario[member] for scenario in scenarios)
        for name, times in counted.items():
            if times > 1:
                yield "scenarios", f"{member} {name} is there {times} times"
    for index, scenario in enumerate(scenarios):
        kills = {proof["terms"]["kill"], "power_loss"}
        if scenario["kill"] not in kills:
            yield f"scenarios/{index}/kill", f"the terms say {proof['terms']['kill']}"
        due = "failed" if scenario["plan"] in found else "passed"
        due = due if scenario["invalid"] is None else "invalid"
        if scenario["verdict"] != due:
            yield (
                f"scenarios/{index}/verdict",
                f"it says {scenario['verdict']}, and was to be {due}",
            )
        if scenario["course"] is not None:
            yield from _problems_of_course(scenario["course"], f"scenarios/{index}/course", proof)


def _problems_of_course(
    course: Mapping[str, Any], place: str, proof: Mapping[str, Any]
) -> Iterator[Problem]:
    """Effects are only ever added, and each of them is one that the proof names."""
    known = len(proof["effects"])
    for run in course["effects"]:
        if len(run) != 2 or not run[0] <= run[1] <= known:
            yield f"{place}/effects", f"{run} are no effects of {known}"
            return
    in_all = sum(last - first + 1 for first, last in course["effects"])
    counts = [*course["committed"], in_all]
    if counts != sorted(counts):
        yield f"{place}/committed", f"{counts[:-1]} effects at its deaths, and {in_all} in the end"


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
    for fewer, more in _AT_MOST.items():
        if certificate[fewer] > certificate[more]:
            told = f"{certificate[fewer]}, of {certificate[more]} {more}"
            yield f"certificate/{fewer}", told
