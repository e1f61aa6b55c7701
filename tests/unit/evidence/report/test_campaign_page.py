"""The page of proofs: its verdict in one sentence, what it rests on, and how little it needs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from resumeproof.domain.conformance import ConformanceReport, Exploration, Scenario
from resumeproof.domain.verdict import Finding, FindingKind
from resumeproof.evidence.proof_receipt import CONFORM, EXPLORE, write_proofs
from resumeproof.evidence.reading import read_receipt
from resumeproof.evidence.receipt import RECEIPT_NAME
from resumeproof.evidence.report.campaign import FINDINGS_AT_MOST, page
from resumeproof.evidence.report.campaign_data import DETAIL_LENGTH_MIN, campaign_data
from resumeproof.evidence.report.page import Tone
from tests.unit.evidence.proofs import failed, nothing, passed, terms


def written(place: Path, reports: Sequence[ConformanceReport], kind: str = CONFORM) -> Any:
    write_proofs(place, kind, [(terms(), report) for report in reports])
    return read_receipt(place / RECEIPT_NAME)


def unsure() -> ConformanceReport:
    report = passed()
    report.nondeterminism = "one and the other"
    return report


def invalid() -> ConformanceReport:
    report = passed()
    report.scenarios[1] = replace(report.scenarios[1], invalid="it did not die")
    report.invalid = ["effect:after#1: it did not die"]
    return report


def of_its_own() -> ConformanceReport:
    report = passed()
    report.findings = [Finding(FindingKind.STATE_LOST, 0, "it was never durable")]
    return report


def alone() -> ConformanceReport:
    report = passed()
    report.scenarios = report.scenarios[:1]
    report.certificate = replace(report.certificate, enumerated=1, fired=1, verified=1, judged=1)
    report.certificate = replace(report.certificate, byte_images=1, states=1, resumed=1)
    return report


VERDICTS = {
    "passed": ([passed()], Tone.GOOD, "agent:make survived all 2 crashes."),
    "one": ([alone()], Tone.GOOD, "agent:make survived the one crash that was tried."),
    "several": ([passed(), passed()], Tone.GOOD, "2 subjects survived all 4 crashes."),
    "nothing": (
        [nothing()], Tone.DOUBT, "Nothing was proved of agent:make: there was nothing to crash at.",
    ),
    "unsure": (
        [unsure()], Tone.DOUBT,
        "agent:make survived 2 crashes, but two runs without a crash differ.",
    ),
    "failed": (
        [failed()], Tone.BAD,
        "agent:make did not survive 1 of 3 crashes. 1 of 3 crashes did not happen as planned.",
    ),
    "invalid": ([invalid()], Tone.BAD, "1 of 2 crashes did not happen as planned."),
    "without a crash": (
        [of_its_own()], Tone.BAD, "agent:make broke a guarantee without a crash.",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("reports", "tone", "verdict"), VERDICTS.values(), ids=VERDICTS)
def test_the_verdict_is_one_sentence(
    reports: Sequence[ConformanceReport], tone: Tone, verdict: str, tmp_path: Path
) -> None:
    made = page(written(tmp_path, reports))
    assert (made.tone, made.verdict) == (tone, verdict)


def limits(receipt: Any) -> list[str]:
    (grounds, *_) = page(receipt).sections
    (_, limits) = grounds.iterfind("div[@class='proved']/div")
    return ["".join(item.itertext()) for item in limits.iter("li")]


def test_what_was_not_proved_is_said(tmp_path: Path) -> None:
    (power, *more) = limits(written(tmp_path, [unsure()]))
    assert power.startswith("A power cut")
    assert more == [
        "A second crash, while it resumes.",
        "No verdict is certain, for two runs without a crash differ: one and the other",
        "A provider's own word: the ledger here stands in for one.",
    ]


def test_an_exploration_says_what_it_did_not_cover(tmp_path: Path) -> None:
    report = passed()
    report.exploration = Exploration(
        "./writer",
        "./writer",
        kill_safe=True,
        power_safe=False,
        device_model="a disk",
        not_covered=("a shared mapping",),
    )
    assert limits(written(tmp_path, [report], EXPLORE)) == [
        "A second crash, while it resumes.",
        "Not covered: a shared mapping.",
    ]


def test_the_table_ends_where_nobody_reads_on(tmp_path: Path) -> None:
    report = passed()
    report.scenarios = [
        Scenario(f"effect:after#{number}", f"run-{number}") for number in range(1, 101)
    ]
    report.findings = [
        Finding(FindingKind.EFFECT_LOST, 1, "gone", scenario.plan) for scenario in report.scenarios
    ]
    report.certificate = replace(
        report.certificate, enumerated=100, fired=100, verified=100, judged=100
    )
    (found,) = [s for s in page(written(tmp_path, [report])).sections if s.get("id") == "findings"]
    rows = [len(list(table.iterfind("tbody/tr"))) for table in found.iter("table")]
    assert rows == [1, FINDINGS_AT_MOST]


def test_details_share_the_room_that_there_is(tmp_path: Path) -> None:
    report = failed("x" * 1_000_000)
    receipt = written(tmp_path, [report])
    proof = dict(receipt["proofs"][0])
    proof["findings"] = [
        {**proof["findings"][0], "detail": f"{number} {'y' * 5_000}"} for number in range(15_000)
    ]
    texts = campaign_data([proof])["texts"]
    longest = max(len(text) for text in texts if "y" in text)
    assert longest < DETAIL_LENGTH_MIN + len("... [5,006 characters]")
    assert len(json.dumps(texts)) < 5_000_000
