"""The receipt file of a proof: of its schema, whole, and in agreement with itself."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from resumeproof.domain.conformance import ConformanceReport
from resumeproof.domain.verdict import FindingKind
from resumeproof.errors import EvidenceBroken, StoreNotFound
from resumeproof.evidence.proof_receipt import (
    CONFORM,
    PROOF_SCHEMA_VERSION,
    SHAPES,
    TEXT_NAME,
    write_proofs,
)
from resumeproof.evidence.receipt import RECEIPT_NAME
from resumeproof.evidence.shape import receipt_schema, shape_problem
from resumeproof.evidence.verify import verify
from tests.unit.evidence.proofs import HOSTILE, failed, nothing, passed, terms

SCHEMA = receipt_schema("conform")
STANDARD = Draft202012Validator(SCHEMA)

REPORTS = {
    "passed": passed(),
    "failed": failed(),
    "hostile": failed(HOSTILE),
    "nothing proved": nothing(),
}
every_report = pytest.mark.parametrize("report", REPORTS.values(), ids=REPORTS)


def test_it_is_a_schema_of_draft_2020_12() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert (SCHEMA["$id"], SCHEMA["properties"]["schema_version"]["const"]) == (
        f"urn:resumeproof:proof-receipt:{PROOF_SCHEMA_VERSION}",
        PROOF_SCHEMA_VERSION,
    )


def test_the_schema_knows_every_kind_of_finding() -> None:
    assert SCHEMA["$defs"]["finding"]["properties"]["kind"]["enum"] == list(FindingKind)


@every_report
def test_what_is_written_is_of_the_schema(report: ConformanceReport, tmp_path: Path) -> None:
    write_proofs(tmp_path, CONFORM, [(terms(HOSTILE), report)])
    receipt = json.loads((tmp_path / RECEIPT_NAME).read_text())
    assert (list(STANDARD.iter_errors(receipt)), shape_problem(receipt)) == ([], None)


TOTALS = {
    "passed": {"scenarios": 2, "findings": 0, "invalid": 0},
    "failed": {"scenarios": 3, "findings": 3, "invalid": 1},
    "hostile": {"scenarios": 3, "findings": 3, "invalid": 1},
    "nothing proved": {"scenarios": 0, "findings": 0, "invalid": 0},
}


@pytest.mark.parametrize("name", REPORTS)
def test_what_is_written_holds(name: str, tmp_path: Path) -> None:
    write_proofs(tmp_path, CONFORM, [(terms(HOSTILE), REPORTS[name])])
    verified = verify(tmp_path)
    assert (verified.totals, verified.extended) == (TOTALS[name], ())


def test_two_writings_of_one_report_are_the_same_bytes(tmp_path: Path) -> None:
    written = []
    for name in ("one", "two"):
        directory = tmp_path / name
        directory.mkdir()
        write_proofs(directory, CONFORM, [(terms(), failed())])
        written.append([file.read_bytes() for file in sorted(directory.iterdir())])
    assert (len(written[0]), written[0]) == (3, written[1])


def test_what_json_cannot_hold_is_told_by_its_repr(tmp_path: Path) -> None:
    receipt = write_proofs(tmp_path, CONFORM, [(terms(), passed())])
    assert receipt["proofs"][0]["inputs"] == [{"id": 1}, {"repr": "(2, 3)"}]


def test_the_text_is_the_report_with_what_is_not_printable_escaped(tmp_path: Path) -> None:
    report = passed()
    report.nondeterminism = "\x1b[2J"
    write_proofs(tmp_path, CONFORM, [(terms(), report)])
    assert (tmp_path / TEXT_NAME).read_text() == f"{report}\n".replace("\x1b", r"\u001b")


PUT: dict[str, tuple[str, object, str]] = {
    "no finding": ("findings", [], "scenarios/1/verdict"),
    "a finding of nowhere": ("findings/1/plan", "effect:after#7", "findings/1/plan"),
    "a finding of another": ("findings/0/plan", "effect:before#1", "scenarios/0/verdict"),
    "no plan": ("findings/1/plan", "", "the shape of /proofs/0/findings/1/plan"),
    "no kind": ("findings/1/kind", "lost", "the shape of /proofs/0/findings/1/kind"),
    "a verdict": ("scenarios/1/verdict", "passed", "scenarios/1/verdict"),
    "a verdict without reason": ("scenarios/0/verdict", "invalid", "scenarios/0/verdict"),
    "a reason without verdict": ("scenarios/0/invalid", "no kill", "scenarios/0/verdict"),
    "a plan twice": ("scenarios/0/plan", "effect:after#1", "scenarios"),
    "a run id twice": ("scenarios/0/run_id", "run-1", "scenarios"),
    "another kill": ("scenarios/0/kill", "exit86", "scenarios/0/kill"),
    "effects of nowhere": ("scenarios/1/course/effects", [[1, 9]], "scenarios/1/course/effects"),
    "effects backwards": ("scenarios/1/course/effects", [[2, 1]], "scenarios/1/course/effects"),
    "half a run": ("scenarios/1/course/effects/0", [1], "the shape of /proofs/0/scenarios/1"),
    "fewer effects in the end": (
        "scenarios/1/course/committed", [4], "scenarios/1/course/committed"
    ),
    "no scenario": ("scenarios", [], "certificate/enumerated"),
    "more enumerated": ("certificate/enumerated", 4, "certificate/enumerated"),
    "fewer fired": ("certificate/fired", 1, "certificate/fired"),
    "more verified": ("certificate/verified", 4, "certificate/verified"),
    "fewer judged": ("certificate/judged", 1, "certificate/judged"),
    "more states than images": ("certificate/states", 3, "certificate/states"),
    "more images than deaths": ("certificate/byte_images", 3, "certificate/byte_images"),
    "more resumed than judged": ("certificate/resumed", 3, "certificate/resumed"),
    "passed after all": ("passed", True, "passed"),
    "nothing proved": ("nothing_proved", True, "nothing_proved"),
    "a strange member": ("strange", 1, "the shape of /proofs/0"),
}  # fmt: skip


@pytest.mark.parametrize(("place", "value", "named"), PUT.values(), ids=PUT)
def test_what_was_changed_is_named(place: str, value: object, named: str, tmp_path: Path) -> None:
    write_proofs(tmp_path, CONFORM, [(terms(), failed())])
    found = named_after(tmp_path, f"proofs/0/{place}", value)
    assert found.startswith(named if named.startswith("the shape") else f"proofs/0/{named}")


OUTSIDE: dict[str, tuple[str, object, str]] = {
    "passed after all": ("passed", True, "passed"),
    "another sum": ("certificate/fired", 9, "certificate/fired"),
    "no proof": ("proofs", [], "the shape of /proofs"),
    "a kind of run with another schema": ("kind", "demo", "the shape of the document"),
    "no kind of run": ("kind", "prove", "the shape of the document"),
    "a version of later": ("schema_version", 3, "the shape of /schema_version"),
}


@pytest.mark.parametrize(("place", "value", "named"), OUTSIDE.values(), ids=OUTSIDE)
def test_what_was_changed_of_the_whole_is_named(
    place: str, value: object, named: str, tmp_path: Path
) -> None:
    write_proofs(tmp_path, CONFORM, [(terms(), failed())])
    assert named_after(tmp_path, place, value) == named


def named_after(directory: Path, place: str, value: object) -> str:
    """What is named broken once the member at a place has another value."""
    path = directory / RECEIPT_NAME
    receipt = json.loads(path.read_text())
    *steps, last = place.split("/")
    inner: Any = receipt
    for step in steps:
        inner = inner[int(step) if step.isdigit() else step]
    inner[int(last) if last.isdigit() else last] = value
    path.write_text(json.dumps(receipt))
    with pytest.raises(EvidenceBroken) as caught:
        verify(directory)
    return caught.value.what


OLDER = Path(__file__).with_name("older")


@pytest.mark.parametrize("version", [1])
def test_a_receipt_file_of_an_older_schema_is_still_read(version: int) -> None:
    directory = OLDER / f"proof-receipt-{version}"
    assert verify(directory).totals == {"scenarios": 3, "findings": 3, "invalid": 1}


def test_one_of_an_older_schema_is_checked_as_it_was(tmp_path: Path) -> None:
    shutil.copytree(OLDER / "proof-receipt-1", tmp_path, dirs_exist_ok=True)
    assert named_after(tmp_path, "scenarios/1/verdict", "passed") == "scenarios/1/verdict"


def test_several_proofs_are_one_receipt_file(tmp_path: Path) -> None:
    proofs = [(terms("one"), passed()), (terms("two"), failed()), (terms("three"), nothing())]
    receipt = write_proofs(tmp_path, SHAPES, proofs)
    assert verify(tmp_path).totals == {"scenarios": 5, "findings": 3, "invalid": 1}
    told = [proof["subject"] for proof in receipt["proofs"]]
    assert (told, receipt["passed"]) == (["one", "two", "three"], False)
    assert receipt["certificate"]["enumerated"] == 5


def test_a_changed_text_is_named(tmp_path: Path) -> None:
    write_proofs(tmp_path, CONFORM, [(terms(), failed())])
    (tmp_path / TEXT_NAME).write_text("conformance: PASS\n")
    with pytest.raises(EvidenceBroken) as caught:
        verify(tmp_path)
    assert (caught.value.path, caught.value.what) == (str(tmp_path / TEXT_NAME), "its SHA-256")


def test_a_missing_text_is_named(tmp_path: Path) -> None:
    write_proofs(tmp_path, CONFORM, [(terms(), failed())])
    (tmp_path / TEXT_NAME).unlink()
    with pytest.raises(StoreNotFound) as caught:
        verify(tmp_path)
    assert caught.value.path == str(tmp_path / TEXT_NAME)
