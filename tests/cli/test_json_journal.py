"""Every command that looks, on a journal of JSON files."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from resumeproof.proof.shapes import SHAPES
from resumeproof.proof.shapes.subject import JOURNAL_NAME, LEDGER_NAME
from resumeproof.stores.json_form import IDENTITY_NAME, STATE_NAME, TIMELINE_NAME, WORKFLOWS_NAME
from resumeproof.stores.protocols import JournalFormat
from tests.cli.desk import LEDGER, Desk
from tests.unit.evidence.shaped import driven

IN = ("--journal", "journal")


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory) -> tuple[Desk, str]:
    """A desk with one workflow that died after its effect, and was resumed."""
    desk = Desk(tmp_path_factory.mktemp("master"))
    workflow_id = desk.create("--key", "k1", "--journal-format", "json", *IN)
    desk.done("approve", "--workflow", workflow_id, "--actor", "alice", *IN)
    died = desk.run("resume", "--workflow", workflow_id, "--crash-at", "tool:after", *IN)
    assert died.status == 86, died
    desk.done("resume", "--workflow", workflow_id, *IN)
    return desk, workflow_id


@pytest.fixture
def worked(master: tuple[Desk, str], tmp_path: Path) -> tuple[Desk, str]:
    desk, workflow_id = master
    return desk.copy_to(tmp_path / "desk"), workflow_id


def test_every_command_that_looks_tells_what_there_is(worked: tuple[Desk, str]) -> None:
    desk, workflow_id = worked
    before = desk.files()
    shown = desk.done("show", "--workflow", workflow_id, *IN)
    (listed,) = desk.done("list", *IN)["workflows"]
    none = desk.done("list", "--status", "unknown", *IN)["workflows"]
    totals = desk.done("effects", *IN)["totals"]
    counters = desk.done("health", *IN)["counters"]
    entries = desk.done("timeline", "--workflow", workflow_id, *IN)["entries"]
    assert (shown["status"], shown["recoveries"], shown["receipt"]["replayed"]) == (
        "completed", 1, True,
    )  # fmt: skip
    assert (listed["id"], listed["status"], none) == (workflow_id, "completed", [])
    assert (totals["effects"], totals["invocations"], set(counters.values())) == (1, 2, {0})
    assert [entry["what"] for entry in entries] == [
        "created", "approved", "attempt_started", "call applied", "attempt_started",
        "call replayed", "effect_acknowledged", "completed",
    ]  # fmt: skip
    assert desk.files() == before


def test_the_picture_is_that_of_a_database(worked: tuple[Desk, str]) -> None:
    desk, workflow_id = worked
    drawn = desk.call("timeline", "--workflow", workflow_id, "--format", "text", *IN).stdout
    assert [said in drawn for said in ("its driver died", "life 2 ended", "EFFECT 1 applied")] == [
        True
    ] * 3


def test_what_a_death_left_is_cut_off_and_counted(worked: tuple[Desk, str]) -> None:
    desk, _ = worked
    created = desk.create("--key", "k2", *IN)
    path = desk.path / "journal" / WORKFLOWS_NAME / created / TIMELINE_NAME
    with path.open("ab") as timeline:
        timeline.write(b'{"at":')
    ran = desk.call("approve", "--workflow", created, "--actor", "alice", *IN)
    counters = desk.done("health", *IN)["counters"]
    assert (ran.status, "a torn line of 6 bytes was cut off" in ran.stderr) == (0, True)
    assert counters["cut_off"] == 1


def flip(path: Path) -> None:
    data = path.read_bytes()
    middle = len(data) // 2
    path.write_bytes(data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :])


def cut(path: Path) -> None:
    *lines, _ = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines))


def complete(path: Path) -> None:
    text = path.read_text()
    assert '"status": "completed"' in text
    path.write_text(text.replace('"status": "completed"', '"status": "unknown"'))


DAMAGES: dict[str, tuple[str, Callable[[Path], None]]] = {
    "a record": (TIMELINE_NAME, flip),
    "a cut tail": (TIMELINE_NAME, cut),
    "a status by hand": (STATE_NAME, complete),
    "a byte of the row": (STATE_NAME, flip),
    "a lost timeline": (TIMELINE_NAME, Path.unlink),
    "a lost row": (STATE_NAME, Path.unlink),
}


@pytest.mark.parametrize(("name", "damage"), DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_workflow_is_refused_and_left_alone(
    name: str, damage: Callable[[Path], None], worked: tuple[Desk, str]
) -> None:
    desk, workflow_id = worked
    damage(desk.path / "journal" / WORKFLOWS_NAME / workflow_id / name)
    before = desk.files()
    ran = [
        desk.call(command, "--workflow", workflow_id, *IN)
        for command in ("show", "timeline", "resume")
    ]
    assert [each.refusal for each in ran] == [(7, "journal_damaged", 1, True)] * 3
    assert desk.files() == before


def empty(path: Path) -> None:
    shutil.rmtree(path)
    path.mkdir()


NO_JOURNALS: dict[str, Callable[[Path], None]] = {
    "an empty directory": empty,
    "another file": lambda path: flip(path / IDENTITY_NAME),
    "no workflows": lambda path: shutil.rmtree(path / WORKFLOWS_NAME),
}


@pytest.mark.parametrize("spoil", NO_JOURNALS.values(), ids=NO_JOURNALS)
def test_a_directory_that_is_no_journal_is_refused(
    spoil: Callable[[Path], None], worked: tuple[Desk, str]
) -> None:
    desk, workflow_id = worked
    spoil(desk.path / "journal")
    before = desk.files()
    commands = (("list",), ("health",), ("show", "--workflow", workflow_id))
    ran = [desk.call(*command, "--journal", "journal") for command in commands]
    assert [each.refusal for each in ran] == [(7, "store_refused", 1, True)] * 3
    assert desk.files() == before


# -- verify ----------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["subworkflow", "steer_drain"])
def evidence_master(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Desk:
    """A shape's evidence, in `evidence`."""
    desk = Desk(tmp_path_factory.mktemp("evidence"))
    (desk.path / "evidence").mkdir()
    driven(SHAPES[request.param], JournalFormat.JSON, desk.path / "evidence", "tool:after#1")
    return desk


@pytest.fixture
def evidence(evidence_master: Desk, tmp_path: Path) -> Desk:
    return evidence_master.copy_to(tmp_path / "desk with evidence")


def test_evidence_of_many_calls_in_json_files_holds(evidence: Desk) -> None:
    before = evidence.files()
    ran = evidence.done("verify", "evidence")
    assert (ran["verified"], ran["extended"]) == (True, [])
    assert ran["totals"]["replays"] == 1
    assert evidence.files() == before


@pytest.mark.parametrize("name", [STATE_NAME, TIMELINE_NAME])
def test_a_changed_json_file_is_named_with_7(name: str, evidence: Desk) -> None:
    place = evidence.path / "evidence" / JOURNAL_NAME / WORKFLOWS_NAME
    directory = sorted(place.iterdir())[0]
    flip(directory / name)
    ran = evidence.call("verify", "evidence")
    assert (ran.status, "workflow" in ran.stderr, len(ran.stderr.splitlines())) == (7, True, 1)


def test_a_changed_effect_of_many_is_named_with_7(evidence: Desk) -> None:
    Desk(evidence.path / "evidence").sql(
        LEDGER_NAME, "UPDATE effects SET key = 'another' WHERE sequence = 2"
    )
    ran = evidence.call("verify", "evidence")
    assert (ran.status, "effect 2 does not hold" in ran.stderr) == (7, True)


def test_a_journal_that_is_gone_is_not_found(evidence: Desk) -> None:
    shutil.rmtree(evidence.path / "evidence" / JOURNAL_NAME)
    assert evidence.call("verify", "evidence").refusal == (5, "store_not_found", 1, True)


def test_another_good_ledger_is_refused(worked: tuple[Desk, str], evidence: Desk) -> None:
    desk, workflow_id = worked
    shutil.copy(evidence.path / "evidence" / LEDGER_NAME, desk.path / LEDGER)
    ran = desk.call("timeline", "--workflow", workflow_id, *IN)
    assert ran.refusal == (3, "wrong_ledger", 1, True)
