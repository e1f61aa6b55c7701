"""Programs of many steps, driven on real stores: each command does what it says, once."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from resumeproof.crash.faulty import faulty
from resumeproof.domain.action import parse_action
from resumeproof.domain.command import (
    Approve,
    Call,
    Command,
    Drain,
    Emit,
    Fail,
    Finish,
    Program,
    Sleep,
    Spawn,
    State,
    Wait,
    program,
)
from resumeproof.domain.contract import ToolContract
from resumeproof.domain.decision import Purpose
from resumeproof.domain.instant import format_instant
from resumeproof.domain.protocol import claim
from resumeproof.domain.receipt import Answer, Receipt, ToolCall
from resumeproof.domain.record import Draft
from resumeproof.domain.status import Event
from resumeproof.domain.workflow import Workflow
from resumeproof.errors import ApprovalMismatch, NotYet, ReconciliationRequired, ToolUnreachable
from resumeproof.runtime.clock import SteppedClock
from resumeproof.runtime.creation import Terms
from resumeproof.runtime.driver import drive, drive_all
from resumeproof.runtime.engine import Engine
from resumeproof.runtime.identity import SeededIdentity
from resumeproof.runtime.kernel import tick, write
from resumeproof.runtime.operations import Resolution, approve, hold, reconcile, send
from resumeproof.runtime.session import Site, create_workflow, driving
from resumeproof.stores.protocols import JournalFormat
from resumeproof.stores.sqlite_ledger import SqliteLedger

START = datetime(2026, 1, 1, tzinfo=UTC)
LATER = format_instant(datetime(2026, 1, 2, tzinfo=UTC))
ACTION = parse_action(b'{"tool": "pay", "arguments": {"n": 1}}')
OTHER = parse_action(b'{"tool": "pay", "arguments": {"n": 2}}')
KEYED = ToolContract("pay", idempotent=True)


class Shop:
    """A journal and a ledger, a clock that stands still, and what can be driven."""

    def __init__(
        self, directory: Path, *programs: Program, journal_format: JournalFormat | None = None
    ) -> None:
        self.journal_format = journal_format
        self.clock = SteppedClock(START, 0)
        self.site = Site(
            directory / "journal",
            directory / "ledger",
            self.clock,
            SeededIdentity("shop"),
            programs={each.name: each for each in programs},
        )

    def create(self, name: str, contract: ToolContract = KEYED) -> str:
        key = "k" if contract.idempotent else None
        return create_workflow(
            self.site,
            program=self.site.programs[name],
            action=ACTION,
            contract=contract,
            fail_before=0,
            terms=lambda ledger_id: Terms(ledger_id, contract, key),
            journal_format=self.journal_format,
        ).id

    @contextmanager
    def driving(self) -> Iterator[Engine]:
        with driving(self.site) as engine:
            yield engine

    def told(self, workflow_id: str) -> Workflow:
        with self.driving() as engine:
            return hold(engine.journal, workflow_id, engine.programs).workflow

    def events(self, workflow_id: str) -> list[str]:
        with self.driving() as engine:
            stored = hold(engine.journal, workflow_id, engine.programs).stored
            return [str(record.event) for record in stored.records]

    def effects(self) -> list[str | None]:
        with SqliteLedger.open_reader(self.site.ledger) as ledger:
            return [effect.receipt.key for effect in ledger.effects()]


def _always(command: Command, state: State) -> Command:
    return command


def once(name: str, *commands: Command) -> Program:
    """A program that goes through commands one after the other, and then finishes."""
    nodes: dict[str, Any] = {
        f"s{number}": partial(_always, command) for number, command in enumerate(commands)
    }

    def last(state: State) -> Command:
        return Finish({"results": dict(state.results)})

    return program(name, 1, "s0", **nodes, last=last)


CHAIN = once(
    "chain",
    Call(ACTION, "k1", "s1", needs_approval=False),
    Call(OTHER, "k2", "last", needs_approval=False),
)
EMITTER = once("emitter", Emit("paid", {"n": 1}, "s1"), Emit("paid", {"n": 2}, "last"))
LISTENER = once("listener", Wait("paid", "s1"), Wait("paid", "last"))
SLEEPER = once("sleeper", Sleep(LATER, "last"))
PARENT = once("parent", Spawn("chain", ACTION, "last"))
READER = once("reader", Wait("go", "s1"), Drain("last"))
BROKEN = once("broken", Fail("out of stock"))


def test_a_chain_calls_each_step_once(tmp_path: Path) -> None:
    shop = Shop(tmp_path, CHAIN)
    chain = shop.create("chain")
    with shop.driving() as engine:
        told = drive(engine, chain)
        again = drive(engine, chain)
    assert (told.status, told.attempts, told == again, shop.effects()) == (
        "completed",
        2,
        True,
        ["k1", "k2"],
    )


def test_events_reach_every_listener_once_and_in_order(tmp_path: Path) -> None:
    shop = Shop(tmp_path, EMITTER, LISTENER)
    early = shop.create("listener")
    with shop.driving() as engine:
        drive_all(engine)
    waiting = shop.told(early).status
    shop.create("emitter")
    late = shop.create("listener")
    with shop.driving() as engine:
        drive_all(engine)
    heard = [
        [result["payload"]["n"] for result in shop.told(each).results.values()]
        for each in (early, late)
    ]
    assert (waiting, heard) == ("waiting", [[1, 2], [1, 2]])


def test_a_sleeper_sleeps_until_its_time(tmp_path: Path) -> None:
    shop = Shop(tmp_path, SLEEPER)
    sleeper = shop.create("sleeper")
    with shop.driving() as engine, pytest.raises(NotYet) as refused:
        drive(engine, sleeper)
    shop.clock.advance(86_400)
    with shop.driving() as engine:
        told = drive(engine, sleeper)
    assert (refused.value.until, told.status) == (LATER, "completed")


def test_a_parent_sees_what_its_child_came_to(tmp_path: Path) -> None:
    shop = Shop(tmp_path, PARENT, CHAIN)
    parent = shop.create("parent")
    with shop.driving() as engine:
        drive_all(engine)
    result = shop.told(parent).results["s0"]
    assert (result["status"], shop.told(result["child"]).status, shop.effects()) == (
        "completed",
        "completed",
        ["k1", "k2"],
    )


def test_a_child_that_was_never_started_is_started_and_driven(tmp_path: Path) -> None:
    shop = Shop(tmp_path, PARENT, CHAIN)
    parent = shop.create("parent")
    with shop.driving() as engine:
        waits = tick(hold(engine.journal, parent, engine.programs), engine).workflow.status
    with shop.driving() as engine:
        drive_all(engine)
    assert (waits, shop.told(parent).status, shop.effects()) == (
        "waiting",
        "completed",
        ["k1", "k2"],
    )


def test_messages_are_applied_once_and_in_order(tmp_path: Path) -> None:
    shop = Shop(tmp_path, READER, once("starter", Emit("go", None, "last")))
    reader = shop.create("reader")
    for payload in ("one", "two"):
        with shop.driving() as engine:
            drive_all(engine)
            send(
                engine.journal,
                engine.clock,
                reader,
                payload=payload,
                sender="alice",
                programs=engine.programs,
            )
    shop.create("starter")
    with shop.driving() as engine:
        drive_all(engine)
    told = shop.told(reader)
    assert (told.status, told.results["s1"], told.inbox) == ("completed", ["one", "two"], ())


def test_a_program_may_fail(tmp_path: Path) -> None:
    shop = Shop(tmp_path, BROKEN)
    broken = shop.create("broken")
    with shop.driving() as engine:
        told = drive(engine, broken)
    assert (told.status, told.reason, shop.events(broken)) == (
        "failed",
        "out of stock",
        [Event.CREATED, Event.STARTED, Event.FAILED],
    )


def test_an_approved_program_sends_no_other_bytes(tmp_path: Path) -> None:
    shop = Shop(tmp_path, once("swindle", Approve(ACTION, "s1"), Call(OTHER, "k1", "last")))
    swindle = shop.create("swindle")
    with shop.driving() as engine:
        approve(engine.journal, engine.clock, swindle, actor="alice", programs=engine.programs)
        with pytest.raises(ApprovalMismatch) as refused:
            drive(engine, swindle)
    assert (refused.value.found, shop.told(swindle).attempts, shop.effects()) == (
        OTHER.digest,
        0,
        [],
    )


@pytest.mark.parametrize("resolution", Resolution)
def test_a_chain_goes_on_from_a_decided_step(tmp_path: Path, resolution: Resolution) -> None:
    shop = Shop(tmp_path, CHAIN)
    chain = shop.create("chain", ToolContract("pay"))
    with shop.driving() as engine:
        held = hold(engine.journal, chain, engine.programs)
        with engine.journal.transaction() as transaction:
            started = Draft(Event.STARTED, {})
            held = write(transaction, held, (started,), at=format_instant(START))
        with engine.journal.transaction() as transaction:
            dead = claim(held.workflow, Purpose.CALL, driver="dead", digest=ACTION.digest)
            write(transaction, held, (dead,), at=format_instant(START))
        with pytest.raises(ReconciliationRequired):
            drive(engine, drive(engine, chain).id)
        reconcile(
            engine.journal,
            engine.clock,
            chain,
            resolution=resolution,
            actor="alice",
            note="",
            programs=engine.programs,
        )
        told = drive(engine, chain)
    decided = "applied" if resolution is Resolution.CONFIRMED_APPLIED else "not_applied"
    assert (told.status, told.results["s0"], shop.effects()) == (
        "completed",
        {"decided": decided},
        ["k2"],
    )


@pytest.mark.parametrize(("key", "effects"), [("k1", ["k1"]), (None, [None])])
def test_a_call_is_repeated_only_under_a_key_of_its_own(
    tmp_path: Path, key: str | None, effects: list[str | None]
) -> None:
    shop = Shop(tmp_path, once("one", Call(ACTION, key, "last", needs_approval=False)))
    one = shop.create("one")

    def lost(call: ToolCall) -> Answer:
        engine.tool.call(call)
        raise ToolUnreachable(call.workflow_id, "the answer was lost")

    with shop.driving() as engine:
        with pytest.raises(ToolUnreachable):
            drive(replace(engine, tool=_Answering(lost)), one)
        drive(engine, one)
    status = "unknown" if key is None else "completed"
    assert (shop.told(one).status, shop.effects()) == (status, effects)


class _Answering:
    def __init__(self, call: Callable[[ToolCall], Answer]) -> None:
        self.call = call

    def lookup(self, call: ToolCall) -> Receipt | None:
        raise ToolUnreachable(call.workflow_id, "nobody asked it")


def test_no_child_is_started_before_its_parent_is_saved_as_waiting(tmp_path: Path) -> None:
    shop = Shop(tmp_path, PARENT, CHAIN, journal_format=JournalFormat.JSON)
    parent = shop.create("parent")
    # The second driver makes the save that the first one owes, and only then starts the child.
    for plan in ("save:before#1", "save:before#2"):
        with shop.driving() as engine:
            refusing = faulty(engine.journal, {"save"}, plan, error=errno.ENOSPC)
            with pytest.raises(OSError, match="No space"):
                drive(replace(engine, journal=refusing), parent)
            assert [row.row["id"] for row in engine.journal.rows()] == [parent]
    with shop.driving() as engine:
        drive_all(engine)
        assert [row.row["status"] for row in engine.journal.rows()] == ["completed"] * 2
