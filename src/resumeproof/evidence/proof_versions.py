"""Proofs as receipt files of every version tell of them, in one form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from resumeproof.domain.conformance import AT_EFFECTS


def proofs_of(receipt: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The proofs that a receipt file of any version tells of, in the form of the newest one."""
    if receipt["schema_version"] == 1:
        return (_whole(_of_version_1(receipt)),)
    return tuple(map(_whole, receipt["proofs"]))


def _whole(proof: Mapping[str, Any]) -> Mapping[str, Any]:
    """With what a proof need not say."""
    terms = {"at": AT_EFFECTS, "ignored": [], **proof["terms"]}
    return {"not_covered": [], **proof, "terms": terms}


def _of_version_1(receipt: Mapping[str, Any]) -> Mapping[str, Any]:
    """A receipt file that is one proof itself, and tells nothing of how its scenarios went."""
    terms = receipt["terms"]
    scenarios = [{**scenario, "course": None, "note": None} for scenario in receipt["scenarios"]]
    return {
        "absorbed": 0,
        "crashes_at": "effect",
        "effects": [],
        "exploration": None,
        "undisturbed": {"effects": 0, "passed": [], "state": None, "words": []},
        "unshareable": None,
        **receipt,
        "scenarios": scenarios,
        "terms": {**terms, "mode": terms["kill"]},
    }
