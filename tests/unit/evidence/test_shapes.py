"""Evidence of workflows of many calls, waits, children and messages, on journals of each format."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from resumeproof.domain.inspection import fold
from resumeproof.domain.status import Event
from resumeproof.errors import EvidenceBroken, ResumeproofError, StoreUnavailable
from resumeproof.evidence.audit import audit
from resumeproof.evidence.receipt import RECEIPT_NAME
from resumeproof.evidence.receipt import TIMELINE_NAME as TIMELINE_TEXT
from resumeproof.evidence.verify import verify
from resumeproof.proof.shapes import SHAPES
from resumeproof.stores.json_form import (
    BIRTHS_NAME,
    IDENTITY_NAME,
    STATE_NAME,
    TIMELINE_NAME,
    WORKFLOWS_NAME,
)
from resumeproof.stores.protocols import JournalFormat
from tests.unit.evidence.by_hand import change
from tests.unit.evidence.shaped import Change, Shaped, driven, forged

EVERY = [(name, journal_format) for name in SHAPES for journal_format in JournalFormat]
FORGED = "0" * 64

Made = Callable[[str, JournalFormat], Shaped]


@pytest.fixture(scope="session")
def masters() -> dict[tuple[str, JournalFormat], Shaped]:
    return {}


@pytest.fixture
def made(
    masters: dict[tuple[str, JournalFormat], Shaped],
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Made:
    """Gives a copy of a shape's evidence, to be changed."""

    def make(name: str, journal_format: JournalFormat) -> Shaped:
        key = name, journal_format
        if key not in masters:
            masters[key] = driven(SHAPES[name], journal_format, tmp_path_factory.mktemp(name))
        directory = tmp_path / f"{name}-{journal_format}"
        shutil.copytree(masters[key].directory, directory)
        return Shaped(directory)

    return make


def verdict(shaped: Shaped) -> str:
    """What `verify` says: the exit status and the message, or what was extended."""
    try:
        return f"0: {' and '.join(verify(shaped.directory).extended) or 'holds'}"
    except ResumeproofError as error:
        return f"{int(error.exit)}: {error}"


# -- what holds ------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "journal_format"), EVERY)
def test_a_shape_that_came_to_its_end_is_verified(
    name: str, journal_format: JournalFormat, made: Made
) -> None:
    shaped = made(name, journal_format)
    verified = verify(shaped.directory)
    effects = len(shaped.contents().effects)
    assert (verified.extended, verified.totals) == (
        (),
        {"effects": effects, "replays": 0, "unknown": 0},
    )
    assert effects > 0


@pytest.mark.parametrize("death", ["claim:after#1", "tool:after#1", "ack:before#2"])
@pytest.mark.parametrize(("name", "journal_format"), EVERY)
def test_a_shape_whose_driver_died_is_verified(
    name: str, journal_format: JournalFormat, death: str, tmp_path: Path
) -> None:
    shaped = driven(SHAPES[name], journal_format, tmp_path, death)
    recovered = sum(stored.row["recoveries"] for stored in shaped.contents().workflows)
    # In files the record was there before the commit: nobody was in doubt.
    told = journal_format is JournalFormat.JSON and death.startswith("ack:")
    assert (verdict(shaped), recovered) == ("0: holds", 0 if told else 1)


@pytest.mark.parametrize(("name", "journal_format"), EVERY)
def test_a_shape_that_was_driven_in_one_life_is_drawn_as_one(
    name: str, journal_format: JournalFormat, made: Made
) -> None:
    shaped = made(name, journal_format)
    drawn = (shaped.directory / TIMELINE_TEXT).read_text()
    workflows = shaped.contents().workflows
    told = [drawn.count(said) for said in ("life 1 ended", "life 2", "died")]
    assert told == [len(workflows), 0, 0], drawn


@pytest.mark.parametrize("journal_format", JournalFormat)
def test_a_journal_without_its_last_save_is_no_evidence_yet(
    journal_format: JournalFormat, made: Made
) -> None:
    shaped = made("effect_chain", journal_format)
    if journal_format is JournalFormat.SQLITE:
        shaped.write(journal_format)
        return
    row_ahead(shaped, "order")
    with pytest.raises(StoreUnavailable, match="a record without its save"):
        shaped.write(journal_format)


def row_ahead(shaped: Shaped, workflow_id: str) -> None:
    """Take the last save back, as a death leaves it that came before it."""
    contents = shaped.contents()
    (stored,) = (each for each in contents.workflows if each.row["id"] == workflow_id)
    before = stored.records[:-1]
    path = shaped.journal / WORKFLOWS_NAME / workflow_id / STATE_NAME
    document = json.loads(path.read_text())
    document["workflow"] = fold(workflow_id, before).sound().row()
    path.write_text(json.dumps(document, ensure_ascii=False, indent=2, sort_keys=True) + "\n")


# -- files of a JSON journal -----------------------------------------------------------------


def files_of(shaped: Shaped) -> list[Path]:
    return sorted(path for path in shaped.journal.rglob("*") if path.is_file())


@pytest.mark.parametrize("name", SHAPES)
def test_a_flipped_byte_of_any_file_is_named(name: str, made: Made) -> None:
    shaped = made(name, JournalFormat.JSON)
    missed = []
    for path in files_of(shaped):
        data = path.read_bytes()
        for position in {*range(0, len(data), max(1, len(data) // 12)), len(data) - 1}:
            path.write_bytes(flipped(data, position))
            told = verdict(shaped)
            if not (told.startswith("7: ") and named(path, shaped) in told):
                missed.append((str(path), position, told))
        path.write_bytes(data)
    assert missed == []
    assert verdict(shaped) == "0: holds"


def flipped(data: bytes, position: int) -> bytes:
    return data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :]


def named(path: Path, shaped: Shaped) -> str:
    """What a message about a changed file has to name."""
    return "journal" if path.parent == shaped.journal else "workflow"


@pytest.mark.parametrize(("name", "journal_format"), EVERY)
def test_a_status_set_by_hand_is_named(
    name: str, journal_format: JournalFormat, made: Made
) -> None:
    shaped = made(name, journal_format)
    workflow_id = str(shaped.contents().workflows[0].row["id"])
    if journal_format is JournalFormat.SQLITE:
        change(shaped.journal, "UPDATE workflows SET status = 'failed' WHERE number = 1")
    else:
        path = shaped.journal / WORKFLOWS_NAME / workflow_id / STATE_NAME
        document = json.loads(path.read_text())
        document["workflow"]["status"] = "failed"
        path.write_text(json.dumps(document, indent=2, sort_keys=True) + "\n")
    told = verdict(shaped)
    assert told.startswith("7: ")
    assert f"workflow {workflow_id} does not hold: column status is 'failed'" in told


@pytest.mark.parametrize(("name", "journal_format"), EVERY)
def test_a_cut_tail_is_named(name: str, journal_format: JournalFormat, made: Made) -> None:
    shaped = made(name, journal_format)
    workflow_id = str(shaped.contents().workflows[0].row["id"])
    if journal_format is JournalFormat.SQLITE:
        change(
            shaped.journal,
            "DELETE FROM timeline WHERE workflow_id = ? AND sequence ="
            " (SELECT revision FROM workflows WHERE id = ?)",
            (workflow_id, workflow_id),
        )
    else:
        path = shaped.journal / WORKFLOWS_NAME / workflow_id / TIMELINE_NAME
        *lines, _ = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join(lines))
    told = verdict(shaped)
    assert (told[:3], f"workflow {workflow_id}" in told) == ("7: ", True)


@pytest.mark.parametrize("journal_format", JournalFormat)
@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE effects SET applied_at = '2020-01-01T00:00:00.000000Z' WHERE sequence = 2",
        "UPDATE effects SET receipt_hash = printf('%064d', 0) WHERE sequence = 2",
        "UPDATE effects SET action = action || ' ' WHERE sequence = 2",
    ],
    ids=["a column", "the hash", "the action"],
)
def test_a_changed_effect_is_named(sql: str, journal_format: JournalFormat, made: Made) -> None:
    shaped = made("subworkflow", journal_format)
    change(shaped.ledger, sql)
    told = verdict(shaped)
    assert (told[:3], "effect 2 does not hold" in told) == ("7: ", True)


def edited(name: str, old: str, new: str) -> Callable[[Shaped], None]:
    def edit(shaped: Shaped) -> None:
        path = shaped.journal / name
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    return edit


def removed(name: str) -> Callable[[Shaped], None]:
    return lambda shaped: shutil.rmtree(shaped.journal / name)


def added(name: str) -> Callable[[Shaped], None]:
    def add(shaped: Shaped) -> None:
        (shaped.journal / name).write_text("{}\n")

    return add


EDITS: dict[str, tuple[Callable[[Shaped], None], str]] = {
    "white space": (
        edited(f"{WORKFLOWS_NAME}/parent/{STATE_NAME}", "\n", "\n "),
        f"parent/{STATE_NAME} is not written as a journal writes it",
    ),
    "white space of the journal's own file": (
        edited(IDENTITY_NAME, "\n", "\n "),
        f"{IDENTITY_NAME} is not written as a journal writes it",
    ),
    "another journal's id": (edited(IDENTITY_NAME, '"journal"', '"another"'), "stores/journal/id"),
    "a number that another has": (
        edited(f"{WORKFLOWS_NAME}/parent/{STATE_NAME}", '"number": 1', '"number": 2'),
        "workflow number 2 does not hold: it is there twice",
    ),
    "a number that nobody has": (
        edited(f"{WORKFLOWS_NAME}/parent/{STATE_NAME}", '"number": 1', '"number": 9'),
        "workflow number 1 does not hold: it is missing, and workflow parent has number 9",
    ),
    "a workflow gone": (
        removed(f"{WORKFLOWS_NAME}/parent"),
        "workflow number 1 does not hold: it is missing",
    ),
    "a child gone": (removed(f"{WORKFLOWS_NAME}/parent%2eship%2e1"), "parent.ship.1"),
    "a file more": (added("more.json"), "more.json does not belong in journal"),
    "a workflow's file more": (
        added(f"{WORKFLOWS_NAME}/parent/more.json"),
        "more.json does not belong in parent",
    ),
    "no workflow": (added(f"{WORKFLOWS_NAME}/more.json"), "more.json"),
}


@pytest.mark.parametrize(("edit", "told"), EDITS.values(), ids=EDITS)
def test_an_edited_journal_is_named(edit: Callable[[Shaped], None], told: str, made: Made) -> None:
    shaped = made("subworkflow", JournalFormat.JSON)
    edit(shaped)
    found = verdict(shaped)
    assert (found[:3], told in found) == ("7: ", True), found


def test_the_mode_of_another_kind_of_journal_is_named(made: Made) -> None:
    told = []
    for journal_format, mode in ((JournalFormat.JSON, "wal"), (JournalFormat.SQLITE, "json")):
        shaped = made("effect_chain", journal_format)
        path = shaped.directory / RECEIPT_NAME
        receipt = json.loads(path.read_text())
        receipt["scenarios"][0]["durability"]["journal"]["journal_mode"] = mode
        path.write_text(json.dumps(receipt))
        told.append(verdict(shaped))
    assert ["scenarios/0/durability/journal/journal_mode" in each for each in told] == [True] * 2


def torn(shaped: Shaped) -> None:
    with (shaped.journal / WORKFLOWS_NAME / "parent" / TIMELINE_NAME).open("ab") as file:
        file.write(b'{"at":"2026')


def unborn(shaped: Shaped) -> None:
    (shaped.journal / BIRTHS_NAME / "late").mkdir()


def unsaved(shaped: Shaped) -> None:
    (shaped.journal / WORKFLOWS_NAME / "parent" / f".{STATE_NAME}.new").write_text("{")


LEFT: dict[str, tuple[Callable[[Shaped], None], str]] = {
    "a torn line": (torn, "workflow parent has a torn line of 11 bytes, which was never true"),
    "a birth": (unborn, "the journal has late, a workflow that was not born yet"),
    "a save": (unsaved, "the journal has parent/.workflow.json.new, a save that was not made yet"),
}


@pytest.mark.parametrize(("leave", "told"), LEFT.values(), ids=LEFT)
def test_what_a_death_left_that_was_never_true_extends_the_evidence(
    leave: Callable[[Shaped], None], told: str, made: Made
) -> None:
    shaped = made("subworkflow", JournalFormat.JSON)
    leave(shaped)
    assert verdict(shaped) == f"0: {told}"


def test_a_database_where_a_directory_was_is_named(made: Made) -> None:
    shaped = made("subworkflow", JournalFormat.JSON)
    other = made("subworkflow", JournalFormat.SQLITE)
    shutil.rmtree(shaped.journal)
    shutil.copy(other.journal, shaped.journal)
    assert verdict(shaped).startswith("7: ")


# -- what is chained anew --------------------------------------------------------------------


def put(name: str, value: Any) -> Change:
    return lambda facts: facts.update({name: value})


def drop(name: str) -> Change:
    return lambda facts: facts.pop(name)


def put_inside(outer: str, name: str, value: Any) -> Change:
    return lambda facts: facts[outer].update({name: value})


FORGERIES: dict[str, tuple[str, str, Event, Change, str]] = {
    "a claim's bytes": (
        "tool_approval", "refund", Event.ATTEMPT_STARTED, put("digest", FORGED),
        "attempt 1 claims bytes that bear no live approval",
    ),
    "an approval": (
        "tool_approval", "refund", Event.APPROVED, put("digest", FORGED),
        "attempt 1 claims bytes that bear no live approval",
    ),
    "a claim that asked for no approval": (
        "effect_chain", "order", Event.ATTEMPT_STARTED, drop("needs_approval"),
        "attempt 3 claims bytes that bear no live approval",
    ),
    "an unapproved claim's bytes": (
        "effect_chain", "order", Event.ATTEMPT_STARTED, put("digest", FORGED),
        "invocation 3 does not hold: column fingerprint: its attempt claimed other bytes",
    ),
    "a claim's key": (
        "effect_chain", "order", Event.ATTEMPT_STARTED, put("key", "another"),
        "invocation 3 does not hold: column key is 'order:ship', its attempt claimed 'another'",
    ),
    "a claim's step": (
        "effect_chain", "order", Event.ATTEMPT_STARTED, put("step", "charge"),
        "it is of step 'charge', and the workflow stood at 'ship'",
    ),
    "an acknowledged step": (
        "effect_chain", "order", Event.EFFECT_ACKNOWLEDGED, put("step", "charge"),
        "it is of step 'charge', and the workflow stood at 'ship'",
    ),
    "an acknowledged receipt": (
        "effect_chain", "order", Event.EFFECT_ACKNOWLEDGED,
        put_inside("receipt", "applied_at", "2020-01-01T00:00:00.000000Z"),
        "its hash does not match its contents",
    ),
    "another attempt's acknowledgement": (
        "effect_chain", "order", Event.EFFECT_ACKNOWLEDGED, put("attempt", 2), "is of other bytes",
    ),
    "an event's name": (
        "event_fanout", "order", Event.EMITTED, put("event", "refunded"),
        "it took event 'refunded', and waited for 'paid'",
    ),
    "an event's payload": (
        "event_fanout", "order", Event.EMITTED, put("payload", {"order": True}),
        "what it took is not what order#3 emitted",
    ),
    "what a listener took": (
        "event_fanout", "billing", Event.WAIT_OVER, put("took", "order#4"),
        "it took event order#4, which nobody emitted",
    ),
    "what a listener took twice": (
        "entity_visit", "entity", Event.WAIT_OVER, put("took", "monday#3"),
        "it took event",
    ),
    "whom a listener took it from": (
        "event_fanout", "billing", Event.WAIT_OVER, put("took", "nobody#3"),
        "it took event nobody#3, which nobody emitted",
    ),
    "a wait that took nothing": (
        "event_fanout", "billing", Event.WAIT_OVER, put("took", None), "a wait for event took None",
    ),
    "a sleep": (
        "wait_until", "reminder", Event.WAIT_OVER, put_inside("result", "until", "never"),
        "it slept until 2026-01-02T00:00:00.000000Z",
    ),
    "a child's output": (
        "subworkflow", "parent", Event.WAIT_OVER, put_inside("result", "output", None),
        "its child parent.ship.1 came to something else",
    ),
    "a child": (
        "subworkflow", "parent", Event.WAIT_STARTED, put_inside("wait", "child", "nobody"),
        "its child nobody is missing",
    ),
    "a child's program": (
        "subworkflow", "parent.ship.1", Event.CREATED, put("program", "another"),
        "its child parent.ship.1 is completed, of program another",
    ),
    "a message": (
        "steer_drain", "steered", Event.MESSAGE_RECEIVED, put("payload", "faster"),
        "the messages that it applies are not those that had come in",
    ),
    "the order of messages": (
        "steer_drain", "steered", Event.MESSAGES_APPLIED, put("messages", []),
        "the messages that it applies are not those that had come in",
    ),
    "an emitted step": (
        "event_fanout", "order", Event.EMITTED, put("step", "finish"),
        "it is of step 'finish', and the workflow stood at 'emit'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("journal_format", JournalFormat)
@pytest.mark.parametrize("forgery", FORGERIES.values(), ids=FORGERIES)
def test_a_timeline_that_is_chained_anew_is_named(
    forgery: tuple[str, str, Event, Change, str], journal_format: JournalFormat, made: Made
) -> None:
    name, workflow_id, event, by_hand, told = forgery
    contents = made(name, journal_format).contents()
    audit(contents)
    with pytest.raises(EvidenceBroken) as caught:
        audit(forged(contents, workflow_id, event, by_hand))
    assert told in str(caught.value)
