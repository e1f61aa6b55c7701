"""The receipt file of each kind of run fits its published schema, and so do those of older ones."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from resumeproof.domain.conformance import Exploration
from resumeproof.evidence.proof_receipt import PROOF_KINDS, write_proofs
from resumeproof.evidence.reading import read_receipt
from resumeproof.evidence.receipt import RECEIPT_NAME
from resumeproof.evidence.report import render
from resumeproof.evidence.shape import SCHEMA_FILES, receipt_schema
from resumeproof.evidence.verify import verify
from tests.unit.evidence.proofs import failed, passed, terms

ROOT = Path(__file__).parents[3]
OLDER = Path(__file__).with_name("older")
SCHEMAS = [
    (kind, int(file.removesuffix(".json").rpartition("-")[2]))
    for kind, files in SCHEMA_FILES.items()
    for file in files
]


def of_kind(kind: str, place: Path) -> Path:
    """A receipt file as a run of this kind writes it."""
    if kind == "demo":
        return ROOT / "demo-output" / RECEIPT_NAME
    report = failed()
    if kind == "explore":
        subject = terms().subject
        report.exploration = Exploration(subject, subject, None, False, False, "a disk", ("",))
        cut = "power.l1:after#2"
        lost = replace(report.scenarios[0], plan=cut, kill="power_loss", note="lost: 1")
        report.scenarios[0] = lost
        words = ("open",) * len(report.undisturbed.passed)
        report.undisturbed = replace(report.undisturbed, words=words)
    others = [(terms(), passed())] if kind == "shapes" else []
    write_proofs(place, kind, [(terms(), report), *others])
    return place / RECEIPT_NAME


@pytest.mark.parametrize(("kind", "version"), SCHEMAS)
def test_each_is_a_schema_that_names_its_version(kind: str, version: int) -> None:
    schema = receipt_schema(kind, version)
    Draft202012Validator.check_schema(schema)
    assert schema["properties"]["schema_version"]["const"] == version


def test_every_kind_has_one() -> None:
    assert set(SCHEMA_FILES) == {"demo"} | PROOF_KINDS


@pytest.mark.parametrize("kind", SCHEMA_FILES)
def test_a_receipt_file_is_of_its_schema(kind: str, tmp_path: Path) -> None:
    path = of_kind(kind, tmp_path)
    receipt = json.loads(path.read_text())
    assert problems(receipt) == []
    assert receipt["kind"] == kind
    assert verify(path).extended == ()


@pytest.mark.parametrize("directory", sorted(OLDER.iterdir()), ids=lambda it: it.name)
def test_one_of_an_older_schema_is_still_verified_and_drawn(directory: Path) -> None:
    receipt = read_receipt(directory / RECEIPT_NAME)
    assert (problems(receipt), verify(directory).extended) == ([], ())
    assert receipt["schema_version"] < newest(receipt["kind"])["const"]
    assert render(receipt).startswith("<!DOCTYPE html>")


@pytest.mark.parametrize("kind", SCHEMA_FILES)
def test_the_same_receipt_is_the_same_page(kind: str, tmp_path: Path) -> None:
    path = of_kind(kind, tmp_path)
    assert render(read_receipt(path)) == render(read_receipt(path))


def problems(receipt: Mapping[str, Any]) -> list[str]:
    schema = receipt_schema(receipt["kind"], receipt["schema_version"])
    return [error.message for error in Draft202012Validator(schema).iter_errors(receipt)]


def newest(kind: str) -> Mapping[str, Any]:
    version: Mapping[str, Any] = receipt_schema(kind)["properties"]["schema_version"]
    return version
