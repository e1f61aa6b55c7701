"""What a death leaves in a JSON journal is read, told and mended; anything else is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from resumeproof.domain.inspection import inspect
from resumeproof.domain.record import Draft, chain
from resumeproof.domain.status import Event
from resumeproof.errors import JournalDamaged
from resumeproof.proof.expectation import refusal
from resumeproof.proof.told import (
    Told,
    acknowledged,
    approved,
    cancelled,
    claimed,
    completed,
    created,
    replaced,
    write,
)
from resumeproof.stores.json_form import line_of
from resumeproof.stores.json_journal import JsonJournal
from tests.unit.stores.tree import tree

NEW = created("w")
READY = approved(NEW)
RUNNING = claimed(READY)
DONE = completed(acknowledged(RUNNING))


@pytest.fixture
def timeline(json_path: Path) -> Path:
    return json_path / "workflows" / "w" / "timeline.jsonl"


def stored(json_path: Path, told: Told) -> None:
    with JsonJournal.open(json_path) as journal:
        write(journal, None, told)


def extended(timeline: Path, data: bytes) -> None:
    with timeline.open("ab") as file:
        file.write(data)


def lines(before: Told, after: Told) -> bytes:
    """The lines of what `after` has more than `before`."""
    return b"".join(map(line_of, after.records[len(before.records) :]))


# -- records ahead of the row ------------------------------------------------------------------

FINISHED = {
    "approved": (NEW, READY),
    "cancelled": (READY, cancelled(READY)),
    "acknowledged": (RUNNING, acknowledged(RUNNING)),
    "acknowledged-and-completed": (RUNNING, DONE),
}


@pytest.mark.parametrize(("saved", "told"), FINISHED.values(), ids=FINISHED)
def test_a_record_whose_save_is_missing_is_told_and_is_finished_by_one_save(
    json_path: Path, timeline: Path, saved: Told, told: Told
) -> None:
    stored(json_path, saved)
    extended(timeline, lines(saved, told))
    with JsonJournal.open(json_path) as journal:
        found, rows = journal.load("w"), list(journal.rows())
        with journal.transaction() as transaction:
            revision = saved.workflow.revision
            transaction.save(told.workflow, told.action.canonical, expected_revision=revision)
        assert (found, inspect(found).workflow, rows, journal.load("w")) == (
            replace(saved.stored, records=told.records, save_missing=True),
            told.workflow,
            [saved.row],
            told.stored,
        )


VOID = {
    "claim": (READY, claimed(READY), "attempt_started without its save"),
    "replacement": (NEW, replaced(NEW, 9900), "action_replaced without its save"),
    "replacement-and-approval": (
        NEW,
        approved(replaced(NEW, 9900)),
        "action_replaced without its save and approved without its save",
    ),
}


@pytest.mark.parametrize(("saved", "told", "uncommitted"), VOID.values(), ids=VOID)
def test_a_record_that_is_void_without_its_save_is_told_apart_and_cut_off(
    json_path: Path, timeline: Path, saved: Told, told: Told, uncommitted: str
) -> None:
    stored(json_path, saved)
    extended(timeline, lines(saved, told))
    reports: list[str] = []
    with JsonJournal.open(json_path, report=reports.append) as journal:
        found = journal.load("w")
        then = write(journal, saved, cancelled(saved))
        assert (found, journal.load("w"), reports) == (
            replace(saved.stored, uncommitted=uncommitted),
            then.stored,
            [f"workflow w: {uncommitted} was cut off"],
        )


def test_what_was_recorded_before_a_void_record_is_finished(
    json_path: Path, timeline: Path
) -> None:
    stored(json_path, NEW)
    extended(timeline, lines(NEW, RUNNING))
    with JsonJournal.open(json_path) as journal:
        assert journal.load("w") == replace(
            NEW.stored,
            records=READY.records,
            save_missing=True,
            uncommitted="attempt_started without its save",
        )


# -- a torn last line --------------------------------------------------------------------------

LINE = lines(RUNNING, acknowledged(RUNNING))
TORN = {
    "first-byte": LINE[:1],
    "half": LINE[: len(LINE) // 2],
    "all-but-the-line-end": LINE[:-1],
    "nul": b"\0" * len(LINE),
    "nul-and-a-written-end": b"\0" * 100 + LINE[100:],
}


@pytest.mark.parametrize("torn", TORN.values(), ids=TORN)
def test_a_torn_last_line_is_told_and_cut_off_by_the_next_writer(
    json_path: Path, timeline: Path, torn: bytes
) -> None:
    stored(json_path, RUNNING)
    extended(timeline, torn)
    length = len(torn.rstrip(b"\n"))
    uncommitted = f"a torn line of {length} bytes"
    before = tree(json_path)
    reports: list[str] = []
    with JsonJournal.open_reader(json_path) as journal:
        found = journal.load("w")
    unchanged = tree(json_path) == before
    with JsonJournal.open(json_path, report=reports.append) as journal:
        write(journal, RUNNING, DONE)
        assert (found, unchanged, reports, journal.load("w")) == (
            replace(RUNNING.stored, uncommitted=uncommitted),
            True,
            [f"workflow w: {uncommitted} was cut off"],
            DONE.stored,
        )


def test_behind_a_record_without_its_save_a_torn_line_is_cut_off_and_the_record_is_not(
    json_path: Path, timeline: Path
) -> None:
    stored(json_path, RUNNING)
    extended(timeline, LINE + lines(acknowledged(RUNNING), DONE)[:40])
    with JsonJournal.open(json_path) as journal:
        found = journal.load("w")
        with journal.transaction() as transaction:
            transaction.append(DONE.records[-1])
            transaction.save(DONE.workflow, DONE.action.canonical, expected_revision=3)
        assert (found, journal.load("w")) == (
            replace(
                RUNNING.stored,
                records=acknowledged(RUNNING).records,
                save_missing=True,
                uncommitted="a torn line of 40 bytes",
            ),
            DONE.stored,
        )


# -- damage ------------------------------------------------------------------------------------

Damage = Callable[[Path], None]


def in_timeline(change: Callable[[list[bytes]], list[bytes]]) -> Damage:
    def damage(directory: Path) -> None:
        path = directory / "timeline.jsonl"
        path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))

    return damage


def in_state(change: Callable[[bytes], bytes]) -> Damage:
    def damage(directory: Path) -> None:
        path = directory / "workflow.json"
        path.write_bytes(change(path.read_bytes()))

    return damage


def in_document(change: Callable[[dict[str, Any]], object]) -> Damage:
    def changed(data: bytes) -> bytes:
        document = json.loads(data)
        change(document)
        return json.dumps(document).encode()

    return in_state(changed)


def removed(name: str) -> Damage:
    return lambda directory: (directory / name).unlink()


DAMAGED: dict[str, tuple[Damage, str]] = {
    "state-missing": (removed("workflow.json"), "workflow.json is missing"),
    "state-empty": (in_state(lambda _: b""), "workflow.json: it is empty"),
    "state-nul": (
        in_state(lambda data: b"\0" * len(data)),
        "workflow.json: it holds nothing but NUL bytes",
    ),
    "state-truncated": (
        in_state(lambda data: data[:200]),
        "workflow.json: it is truncated: its end is missing",
    ),
    "state-nul-ended": (
        in_state(lambda data: data[:200] + b"\0" * 100),
        "workflow.json: it is truncated: it ends with NUL bytes",
    ),
    "state-no-object": (in_state(lambda _: b"[]"), "workflow.json: it is no object"),
    "state-without-a-member": (
        in_document(lambda document: document.pop("action")),
        "workflow.json: it is of another shape: member 'action' is missing",
    ),
    "state-with-a-member-more": (
        in_document(lambda document: document.update(more=1)),
        "workflow.json: it is of another shape: member 'more' does not belong there",
    ),
    "row-without-a-column": (
        in_document(lambda document: document["workflow"].pop("driver")),
        "workflow.json: its workflow is of another shape: member 'driver' is missing",
    ),
    "row-of-another-type": (
        in_document(lambda document: document["workflow"].update(attempts=1.5)),
        "workflow.json: its workflow is of another shape: member 'attempts' is of another type",
    ),
    "row-of-no-record": (
        in_document(lambda document: document["workflow"].update(revision=0)),
        "workflow.json: a workflow's number and its revision count from 1",
    ),
    "row-ahead-of-its-records": (
        in_document(lambda document: document["workflow"].update(revision=4)),
        "timeline.jsonl has 3 records, and 4 were saved",
    ),
    "timeline-missing": (removed("timeline.jsonl"), "timeline.jsonl is missing"),
    "timeline-empty": (
        in_timeline(lambda _: []),
        "timeline.jsonl has 0 records, and 3 were saved",
    ),
    "timeline-cut-off": (
        in_timeline(lambda lines: lines[:2]),
        "timeline.jsonl has 2 records, and 3 were saved",
    ),
    "timeline-torn-where-it-was-saved": (
        in_timeline(lambda lines: [*lines[:2], lines[2][:-5]]),
        "timeline.jsonl has 2 records, and 3 were saved",
    ),
    "line-nul": (
        in_timeline(lambda lines: [lines[0], b"\0" * (len(lines[1]) - 1) + b"\n", lines[2]]),
        "line 2 of timeline.jsonl: it holds nothing but NUL bytes",
    ),
    "line-blank": (
        in_timeline(lambda lines: [lines[0], b"\n", *lines[1:]]),
        "line 2 of timeline.jsonl: it is empty",
    ),
    "line-no-object": (
        in_timeline(lambda lines: [lines[0], b"[]\n", lines[2]]),
        "line 2 of timeline.jsonl: it is no object",
    ),
    "line-of-another-form": (
        in_timeline(lambda lines: [lines[0], lines[1].replace(b":", b": ", 1), lines[2]]),
        "line 2 of timeline.jsonl: it is not written as a journal writes it",
    ),
    "a-member-twice": (
        in_timeline(lambda lines: [lines[0], lines[1].replace(b"{", b'{"at":"",', 1), lines[2]]),
        "line 2 of timeline.jsonl: member 'at' is there twice",
    ),
    "ahead-of-the-row-no-json": (
        in_timeline(lambda lines: [*lines, b"{}{}\n"]),
        "line 4 of timeline.jsonl: it is no JSON document: Extra data: line 1 column 3 (char 2)",
    ),
    "ahead-of-the-row-no-continuation": (
        in_timeline(lambda lines: [*lines, lines[2]]),
        "timeline record 3 stands where record 4 belongs",
    ),
    "ahead-of-the-row-no-transition": (
        in_timeline(lambda lines: [*lines, *_unfounded()]),
        "timeline record 4: cancelled does not follow running",
    ),
}


def _unfounded() -> list[bytes]:
    """A cancellation chained behind a claim, where the state machine has none."""
    head = RUNNING.workflow
    record = chain(
        "w",
        sequence=head.revision + 1,
        previous=head.head_hash,
        at=head.updated_at,
        draft=Draft(Event.CANCELLED, {}),
    )
    return [line_of(record)]


@pytest.mark.parametrize(("damage", "told"), DAMAGED.values(), ids=DAMAGED)
def test_damage_is_refused_by_name_and_nothing_is_written(
    json_path: Path, damage: Damage, told: str
) -> None:
    stored(json_path, RUNNING)
    damage(json_path / "workflows" / "w")
    before = tree(json_path)
    with JsonJournal.open(json_path) as journal:
        reading = refusal(lambda: journal.load("w"))
        writing = refusal(lambda: write(journal, RUNNING, DONE))
    told_of = [(type(error), error.facts) for error in (reading, writing)]
    assert (told_of, tree(json_path)) == (
        [(JournalDamaged, {"workflow_id": "w", "damage": told})] * 2,
        before,
    )


def test_a_save_that_was_lost_after_its_call_is_no_claim_that_called_nothing(
    json_path: Path, timeline: Path
) -> None:
    stored(json_path, READY)
    extended(timeline, lines(READY, DONE))
    with JsonJournal.open(json_path) as journal:
        error = refusal(lambda: journal.load("w"))
    assert (type(error), error.facts["damage"]) == (
        JournalDamaged,
        "the timeline goes on from a claim that was never saved",
    )


CHANGED: dict[str, tuple[Damage, str]] = {
    "a-byte-of-a-fact": (
        in_timeline(lambda lines: [lines[0], lines[1].replace(b"ada", b"eve"), lines[2]]),
        "timeline record 2 does not match its hash",
    ),
    "a-column": (
        in_document(lambda document: document["workflow"].update(attempts=9)),
        "column attempts is 9, the timeline says 1",
    ),
    "a-column-under-records-ahead": (
        lambda directory: (
            in_document(lambda document: document["workflow"].update(attempts=9))(directory),
            in_timeline(lambda lines_: [*lines_, lines(RUNNING, DONE)])(directory),
        )[0],
        "column attempts is 9, the timeline says 1",
    ),
}


@pytest.mark.parametrize(("damage", "told"), CHANGED.values(), ids=CHANGED)
def test_what_was_changed_by_hand_in_due_form_is_found_by_the_fold(
    json_path: Path, damage: Damage, told: str
) -> None:
    stored(json_path, RUNNING)
    damage(json_path / "workflows" / "w")
    with JsonJournal.open_reader(json_path) as journal:
        assert inspect(journal.load("w")).damage == told
