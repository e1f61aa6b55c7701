"""What the map of a campaign is drawn from: every scenario, as little as a page can do with.

A text that is told often is there once, and scenarios are lists whose places `campaign.js` knows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from resumeproof.domain.conformance import PLAN_PLACE, with_plan
from resumeproof.domain.verdict import GUARANTEE
from resumeproof.evidence.report.marks import paths
from resumeproof.evidence.report.markup import DISPLAYED_AT_MOST, displayed

VERDICTS: Final = ("passed", "failed", "invalid")
DETAILS_SIZE_MAX: Final = 1_500_000
"""Characters of all findings' details: 10,000 scenarios are to be open at once, on a phone too."""

DETAIL_LENGTH_MIN: Final = 100


def campaign_data(proofs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The document that `campaign.js` reads; all its texts are as a page shows them."""
    findings = sum(len(proof["findings"]) for proof in proofs)
    fair = DETAILS_SIZE_MAX // (findings or 1)
    texts = _Texts(max(DETAIL_LENGTH_MIN, min(DISPLAYED_AT_MOST, fair)))
    told = [_proof(proof, texts) for proof in proofs]
    return {
        "guarantees": {str(kind): text for kind, text in GUARANTEE.items()},
        "marks": paths(),
        "proofs": told,
        "texts": texts.all,
        "verdicts": VERDICTS,
    }


_USUAL: Final[Sequence[object]] = ([], 0, -1, 0)
"""What a course ends with that ended well, backwards."""


class _Texts:
    """Texts by their number; each is there once."""

    def __init__(self, length_max: int) -> None:
        self.all: list[str] = []
        self._length_max = length_max
        self._numbers: dict[str, int] = {}

    def number(self, text: str | None) -> int:
        """-1 for no text."""
        if text is None:
            return -1
        shown = displayed(text, self._length_max)
        if shown not in self._numbers:
            self._numbers[shown] = len(self.all)
            self.all.append(shown)
        return self._numbers[shown]


def _proof(proof: Mapping[str, Any], texts: _Texts) -> dict[str, Any]:
    terms, undisturbed, replay = proof["terms"], proof["undisturbed"], proof["replay"]
    findings: dict[str, list[list[Any]]] = {}
    for finding in proof["findings"]:
        told = [finding["kind"], texts.number(finding["detail"])]
        findings.setdefault(finding["plan"], []).append(told)
    return {
        "at": displayed(proof["crashes_at"]),
        "effects": [_effect(effect) for effect in proof["effects"]],
        "expected": undisturbed["effects"],
        "explored": proof["exploration"] is not None,
        "kill": terms["kill"],
        "mode": displayed(terms["mode"]),
        "name": displayed(proof["subject"]),
        "passed": list(map(displayed, undisturbed["passed"])),
        "replay": None if replay is None else displayed(with_plan(replay, PLAN_PLACE)),
        "resumed": proof["exploration"] is None or proof["exploration"]["resume"] != "none",
        "scenarios": [
            _scenario(scenario, findings, terms["kill"], texts) for scenario in proof["scenarios"]
        ],
        "state": None if undisturbed["state"] is None else displayed(undisturbed["state"]),
        "words": list(map(displayed, undisturbed["words"])),
    }


def _effect(effect: Mapping[str, Any]) -> list[str]:
    """Its kind, and what tells it from others of its kind."""
    key = effect["key"] if effect["key"] is not None else effect["payload"]
    return [displayed(effect["kind"], 60), displayed(str(key), 120)]


def _scenario(
    scenario: Mapping[str, Any],
    findings: Mapping[str, list[list[Any]]],
    kill: str,
    texts: _Texts,
) -> list[Any]:
    course = scenario["course"]
    return [
        displayed(scenario["plan"]),
        VERDICTS.index(scenario["verdict"]),
        findings.get(scenario["plan"], 0),
        texts.number(scenario["invalid"]),
        texts.number(scenario["note"]),
        0 if scenario["kill"] == kill else scenario["kill"],
        0 if course is None else _course(course, texts),
    ]


def _course(course: Mapping[str, Any], texts: _Texts) -> list[Any]:
    told: list[Any] = [
        course["committed"],
        course["effects"],
        course["absorbed"],
        texts.number(course["raised"]),
        int(course["hung"]),
        list(map(displayed, course["doubts"])),
    ]
    # Most scenarios end well and answer nothing twice: what is left out is that.
    for usual in _USUAL:
        if told[-1] != usual:
            break
        told.pop()
    return told
