"""The picture: every story as it is drawn, and what it says of lives that nobody watched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from resumeproof.domain.record import GENESIS, Record
from resumeproof.domain.status import Event
from resumeproof.errors import Fenced
from resumeproof.evidence.lanes import ASCII, NARROW, UNICODE, WIDE, WIDTH, Glyphs, Lanes
from resumeproof.evidence.order import Entry, entries_of, in_order
from resumeproof.evidence.timeline import heading, render
from resumeproof.stores.sqlite_ledger import SqliteLedger
from resumeproof.stores.sqlite_ledger_rows import (
    FencedLookup,
    Invocation,
    InvocationOutcome,
    LookupOutcome,
)
from tests.golden.pictures import FILES, pictures
from tests.unit.evidence.scene import START, Scene, a_life

HOSTILE = "\x1b[2J\u202e\n" + "名" * 200


every_golden = pytest.mark.parametrize(
    ("path", "glyphs", "lanes"), FILES.values(), ids=FILES.keys()
)


@every_golden
def test_every_story_is_drawn_as_it_was(
    path: Path, glyphs: Glyphs, lanes: Lanes, whole: Scene
) -> None:
    assert pictures(whole, glyphs, lanes) == path.read_text(encoding="utf-8")


@every_golden
def test_the_golden_pictures_stay_in_their_columns(
    path: Path, glyphs: Glyphs, lanes: Lanes
) -> None:
    text = path.read_text(encoding="utf-8")
    assert max(map(len, text.splitlines())) <= lanes.width
    assert text.isascii() is (glyphs is ASCII)


def test_narrow_lanes_fit_a_terminal_of_80_columns() -> None:
    assert (WIDE.width, NARROW.width) == (100, 80)


def test_a_signal_is_drawn_by_its_name_and_with_its_whole_boundary() -> None:
    exit_seen = {"kind": "signal", "code": 9, "text": "signal 9 (SIGKILL)"}
    watched = [replace(a_life(1, "tool:before#1"), exit=exit_seen)]
    rows = lanes(render([*BEGUN, claim(1, "d1")], lives=watched))
    assert rows[-1] == (
        "knows no outcome",
        "✖ SIGKILL at tool:before#1",
        "the ledger holds no effect",
    )


def test_a_signal_without_a_name_is_drawn_by_its_number() -> None:
    watched = [
        replace(a_life(1, "tool:after#1"), exit={"kind": "signal", "code": 40, "text": "signal 40"})
    ]
    rows = lanes(render([*BEGUN, claim(1, "d1")], lives=watched))
    assert rows[-1][1] == "✖ signal 40 at tool:after#1"


def record(event: str, /, **facts: Any) -> Entry:
    return Entry("journal", event, START, facts.get("attempt"), facts)


def claim(
    attempt: int,
    driver: str,
    recovered: int | None = None,
    purpose: str = "call",
    step: str = "call",
) -> Entry:
    return record(
        Event.ATTEMPT_STARTED, attempt=attempt, driver=driver, purpose=purpose,
        recovered_attempt=recovered, step=step,
    )  # fmt: skip


def reached(what: str, attempt: int, effect: int | None = None) -> Entry:
    return Entry("ledger", what, START, attempt, {"effect_sequence": effect})


BEGUN = [record(Event.CREATED), record(Event.APPROVED, actor="alice")]


def lanes(picture: str) -> list[tuple[str, str, str]]:
    """The three lanes of each row below the header, without what they are drawn with."""
    drawn = "─◀▶ "
    return [
        (line[:36].strip(drawn), line[36:68].strip(drawn), line[68:].strip(drawn))
        for line in picture.splitlines()[1:]
    ]


def test_an_attempt_that_is_driven_now_is_running() -> None:
    rows = lanes(render([*BEGUN, claim(1, "d1")], driver_alive=True))
    assert rows[-2:] == [("attempt 1 started (call)", "│", ""), ("", "│ is running", "")]


STARTED = record(Event.STARTED)
WAITS = record(Event.WAIT_STARTED, wait={"kind": "event"}, step="pause")
WOKE = record(Event.WAIT_OVER, result=None, step="pause")
SENT = record(Event.MESSAGE_RECEIVED, sender="bob", payload=1)
APPLIED = record(Event.MESSAGES_APPLIED, messages=[1], step="drain")


def acknowledged(step: str = "call", recovered: int | None = None) -> Entry:
    return record(
        Event.EFFECT_ACKNOWLEDGED, attempt=1, replayed=False, source="call", step=step,
        recovered_attempt=recovered,
    )  # fmt: skip


def processes(*entries: Entry) -> list[str]:
    """What the lane of the processes says."""
    rows = lanes(render([record(Event.CREATED), *entries]))
    return [process for _, process, _ in rows if process not in ("", "│")]


@pytest.mark.parametrize(
    ("entries", "told"),
    [
        ([STARTED, WAITS, WOKE, claim(1, "d1"), acknowledged()], ["┌ life 1", "└ life 1 ended"]),
        (
            [claim(1, "d1"), SENT, acknowledged(), claim(2, "d1", step="ship")],
            ["┌ life 1", "✖ its driver died"],
        ),
        (
            [claim(1, "d1"), acknowledged(), SENT, APPLIED, claim(2, "d1"), acknowledged()],
            ["┌ life 1", "└ life 1 ended"],
        ),
        (
            [claim(1, "d1"), acknowledged(), SENT, APPLIED, claim(2, "d2"), acknowledged()],
            ["┌ life 1", "└ life 1 ended", "┌ life 2", "└ life 2 ended"],
        ),
        (
            [claim(1, "d1"), SENT, claim(2, "d2", recovered=1), acknowledged()],
            ["┌ life 1", "✖ its driver died", "┌ life 2", "└ life 2 ended"],
        ),
        (
            [STARTED, WAITS, SENT],
            ["┌ life 1", "└ life 1 ended"],
        ),
    ],
    ids=[
        "a life is named by its first claim",
        "a message to a call",
        "a message between two calls of one life",
        "a message between two lives",
        "a message to the dead",
        "a message to a sleeper",
    ],
)
def test_lives_are_told_apart_by_what_their_records_say(
    entries: list[Entry], told: list[str]
) -> None:
    assert processes(*entries) == told


def test_a_message_to_a_living_driver_is_not_its_own() -> None:
    picture = render([record(Event.CREATED), claim(1, "d1"), SENT, acknowledged()])
    (line,) = (line for line in picture.splitlines() if "message from bob" in line)
    assert ("│" in line, "◀" in line) == (True, False)


def test_claims_of_several_steps_say_which() -> None:
    rows = lanes(render([claim(1, "d1", step="reserve"), claim(2, "d1", step="charge")]))
    assert [journal for journal, _, _ in rows if "started" in journal] == [
        "attempt 1 started (call reserve)",
        "attempt 2 started (call charge)",
    ]


def test_an_attempt_whose_driver_is_gone_is_a_death() -> None:
    rows = lanes(render([*BEGUN, claim(1, "d1"), reached("call applied", 1, 1)]))
    assert rows[-1] == ("knows no outcome", "✖ its driver died", "the ledger keeps 1 effect")


def test_only_the_last_life_can_be_alive() -> None:
    entries = [*BEGUN, claim(1, "d1"), claim(2, "d2", recovered=1)]
    rows = lanes(render(entries, driver_alive=True))
    assert [process for _, process, _ in rows if process not in ("", "│")] == [
        "┌ life 1", "✖ its driver died", "┌ life 2", "│ is running",
    ]  # fmt: skip


def test_a_life_that_was_watched_and_wrote_nothing_is_drawn() -> None:
    watched = [a_life(1, "tool:after#1"), a_life(2, "ack:before#1"), a_life(3)]
    unknown = record(Event.MARKED_UNKNOWN, reason="outcome_unknown", recovered_attempt=1)
    rows = lanes(render([*BEGUN, claim(1, "d1"), unknown], lives=watched))
    assert [process for _, process, _ in rows if process not in ("", "│")] == [
        "┌ life 1", "✖ exit 86 at tool:after#1",
        "┌ life 2", "✖ exit 86 at ack:before#1",
        "┌ life 3", "└ life 3 ended",
    ]  # fmt: skip


def test_a_death_between_two_attempts_of_one_life() -> None:
    failed = record(Event.ATTEMPT_FAILED, attempt=1, reason="no", retry_at=None)
    entries = [*BEGUN, claim(1, "d1"), reached("call failed_before_effect", 1), failed,
               claim(2, "d2"), reached("call applied", 2, 1)]  # fmt: skip
    rows = lanes(render(entries, lives=[a_life(1, "claim:before#2"), a_life(2, "ack:before#1")]))
    deaths = [row for row in rows if "✖" in row[1]]
    assert deaths == [
        ("knows the outcome", "✖ exit 86 at claim:before#2", "the ledger holds no effect"),
        ("knows no outcome", "✖ exit 86 at ack:before#1", "the ledger keeps 1 effect"),
    ]


def test_what_the_journal_has_lost_is_drawn_without_a_life() -> None:
    rows = lanes(render([*BEGUN, reached("call applied", 3, 1)]))
    assert rows[-1] == ("", "", "EFFECT 1 applied")


def test_a_workflow_in_doubt_waits_for_an_operator() -> None:
    unknown = record(Event.MARKED_UNKNOWN, reason="recovery_limit", recovered_attempt=1)
    assert lanes(render([*BEGUN, claim(1, "d1"), unknown]))[-1][0] == "waits for an operator"


EVENTS: Mapping[str, Mapping[str, Any]] = {
    Event.CREATED: {},
    Event.APPROVED: {"actor": HOSTILE},
    Event.ACTION_REPLACED: {},
    Event.CANCELLED: {},
    Event.ATTEMPT_STARTED: {"attempt": 1, "purpose": "call", "driver": HOSTILE, "step": "call"},
    Event.EFFECT_ACKNOWLEDGED: {"replayed": True, "source": "call"},
    Event.COMPLETED: {},
    Event.ATTEMPT_FAILED: {"attempt": 1, "reason": HOSTILE},
    Event.ATTEMPT_FAILED_IN_DOUBT: {"attempt": 1, "reason": HOSTILE},
    Event.LOOKUP_FAILED: {"attempt": 1, "reason": HOSTILE},
    Event.ABSENCE_PROVED: {"attempt": 1},
    Event.FAILED: {"reason": HOSTILE},
    Event.MARKED_UNKNOWN: {"reason": HOSTILE},
    Event.RECONCILED_APPLIED: {"actor": HOSTILE},
    Event.RECONCILED_NOT_APPLIED: {"actor": HOSTILE},
    Event.DECIDED: {"actor": HOSTILE, "applied": True},
    Event.STARTED: {},
    Event.EMITTED: {"event": HOSTILE},
    Event.WAIT_STARTED: {"wait": {"kind": "event", "event": HOSTILE}},
    Event.WAIT_OVER: {},
    Event.MESSAGE_RECEIVED: {"sender": HOSTILE},
    Event.MESSAGES_APPLIED: {"messages": [HOSTILE]},
}
LEDGER_ENTRIES = [
    *(f"call {outcome}" for outcome in InvocationOutcome),
    *(f"lookup {outcome}" for outcome in LookupOutcome),
]


def test_every_kind_of_entry_is_known_here() -> None:
    assert set(EVENTS) == set(Event)


@pytest.mark.parametrize("event", EVENTS)
def test_a_record_is_drawn_in_the_journals_lane(event: str) -> None:
    rows = lanes(render([record(event, **EVENTS[event])]))
    # Wide characters move what follows, counted in characters: the arrow is the lane's end.
    texts = [journal.partition(UNICODE.left)[0].strip() for journal, _, _ in rows if journal]
    assert texts[0].isprintable()
    assert 3 <= len(texts[0]) <= 33


@pytest.mark.parametrize("what", LEDGER_ENTRIES)
def test_what_reached_the_tool_is_drawn_in_the_ledgers_lane(what: str) -> None:
    rows = lanes(render([*BEGUN, claim(1, "d1"), reached(what, 1, 7)]))
    (text,) = [ledger for _, process, ledger in rows if ledger and "✖" not in process]
    # Each has words of its own, and says which effect, if one answered.
    assert text != what
    assert ("7" in text) == (what.split()[1] in ("applied", "replayed", "found"))


def test_a_late_call_is_no_call_of_the_life_beside_it() -> None:
    entries = [*BEGUN, claim(2, "d2"), reached(f"call {Fenced.code}", 1)]
    (line,) = [line for line in render(entries).splitlines() if "late" in line]
    assert ("│" in line, UNICODE.right in line) == (True, False)


def test_the_heading_is_one_line_whatever_the_key_is() -> None:
    facts = {"id": "wf_1", "mode": "idempotent", "status": "unknown", "reason": "x", "key": HOSTILE}
    line = heading(facts)
    assert (line.isprintable(), len(line) <= WIDTH) == (True, True)
    assert line.startswith("wf_1: idempotent; unknown (x), key ")


# -- the order ---------------------------------------------------------------------------------


def test_no_records_make_no_entries(whole: Scene) -> None:
    with SqliteLedger.open_reader(whole.ledger) as ledger:
        assert entries_of([], ledger) == []


def test_a_timeline_that_lost_its_claims_shows_what_reached_the_tool(whole: Scene) -> None:
    """A journal that was rolled back behind its own effects."""
    scenario = next(each for each in whole.scenarios if each.run.subject == "idempotent")
    with SqliteLedger.open_reader(whole.ledger) as ledger:
        first = Record(scenario.workflow_id, 1, Event.CREATED, START, "{}", GENESIS, "")
        assert whats(entries_of([first], ledger)) == ["created", "call applied", "call replayed"]


def whats(entries: Sequence[Entry]) -> list[str]:
    return [entry.what for entry in entries]


def test_a_late_call_comes_after_the_fence_of_its_own_step() -> None:
    records = [
        record(Event.CREATED),
        claim(1, "d1", step="reserve"),
        claim(2, "d2", recovered=1, purpose="lookup", step="reserve"),
        claim(3, "d2", step="charge"),
        claim(4, "d3", recovered=3, purpose="lookup", step="charge"),
    ]
    lookups = [
        FencedLookup(number, "w", step, attempt, "absent", None, "k", START)
        for number, step, attempt in ((1, "reserve", 2), (2, "charge", 4))
    ]
    late = Invocation(1, "w", "reserve", 1, "fenced", None, "k", "f" * 64, START)
    merged = in_order(records, calls=[late], lookups=lookups)
    assert [each.what for each in merged if each.what != Event.CREATED] == [
        "attempt_started",
        "attempt_started",
        "lookup absent",
        "call fenced",
        "attempt_started",
        "attempt_started",
        "lookup absent",
    ]
