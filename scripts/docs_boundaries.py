"""What the documents say of the six boundaries, by carrying each of them out.

The kernel drives a journal and a tool that lie in memory, is stopped at a boundary, and a second
driver resumes. Nothing here dies: that a real process at the same place leaves the same behind is
shown by `tests/crash`, and this only says it in words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn

from resumeproof.crash.calls import AtBoundary, CountedCalls
from resumeproof.crash.faults import CrashingJournal, crashing_tool
from resumeproof.crash.plan import Boundary
from resumeproof.domain.action import parse_action
from resumeproof.domain.canonical import digest_of
from resumeproof.domain.contract import Lookup, ToolContract
from resumeproof.domain.inspection import Stored
from resumeproof.domain.instant import parse_instant
from resumeproof.domain.receipt import Answer, Receipt, ToolCall
from resumeproof.domain.record import Record
from resumeproof.domain.status import Status
from resumeproof.domain.workflow import Workflow
from resumeproof.runtime.clock import SteppedClock
from resumeproof.runtime.creation import Terms, create
from resumeproof.runtime.driver import drive
from resumeproof.runtime.engine import Engine
from resumeproof.runtime.health import Health
from resumeproof.runtime.identity import SeededIdentity
from resumeproof.runtime.operations import approve
from resumeproof.runtime.programs import TOOL_CALL
from resumeproof.stores.protocols import Emission, Journal, Tool

WORKFLOW, LEDGER, KEY, TOOL = "wf", "ledger", "order-1", "charge_card"
START = parse_instant("2026-01-01T00:00:00.000000Z")
BETWEEN_LIVES_SECONDS, LAG_SECONDS, LIFETIME_SECONDS = 60, 10, 30

CONTRACTS: Mapping[str, tuple[ToolContract, str | None]] = {
    "idempotent, key alive": (ToolContract(TOOL, idempotent=True), KEY),
    "consistent lookup": (ToolContract(TOOL, lookup=Lookup.CONSISTENT), KEY),
    "eventual lookup, lag over": (
        ToolContract(TOOL, lookup=Lookup.EVENTUAL, lookup_lag_seconds=LAG_SECONDS),
        KEY,
    ),
    "idempotent, key expired": (
        ToolContract(TOOL, idempotent=True, key_lifetime_seconds=LIFETIME_SECONDS),
        KEY,
    ),
    "neither key nor lookup": (ToolContract(TOOL), None),
}


class Stopped(BaseException):
    """The driver stops here, and nothing that it holds is committed."""


def stopping_at(boundary: Boundary) -> AtBoundary:
    """End a driver at a boundary. No witness is written, since nothing dies."""

    def stop_there(reached: str, _: int) -> None:
        if reached == boundary:
            raise Stopped

    return stop_there


class MemoryTransaction:
    def __init__(self, journal: MemoryJournal) -> None:
        self._journal = journal
        self.stored = journal.stored
        self._records = journal.stored.records if journal.stored else ()

    def load(self, workflow_id: str) -> Stored:
        return replace(self._journal.load(workflow_id), records=())

    def append(self, record: Record) -> None:
        self._records += (record,)

    def save(self, workflow: Workflow, action: bytes, *, expected_revision: int) -> None:
        self.stored = Stored(workflow.row(), action, digest_of(action), self._records)


class MemoryJournal:
    """One workflow, and no file."""

    path = Path("memory")

    def __init__(self) -> None:
        self.stored: Stored | None = None

    @contextmanager
    def transaction(self) -> Iterator[MemoryTransaction]:
        transaction = MemoryTransaction(self)
        yield transaction
        self.stored = transaction.stored

    def load(self, workflow_id: str) -> Stored:
        assert self.stored is not None, f"{workflow_id} is not created yet"
        return self.stored

    def rows(self, status: Status | None = None) -> Iterator[Stored]:
        yield self.load(WORKFLOW)

    def emissions(self, event: str) -> Iterator[Emission]:
        yield from ()

    def close(self) -> None:
        """Nothing is open."""


class MemoryTool:
    """A tool that keeps `contract`, and a list of what it was asked and how it answered."""

    def __init__(self, contract: ToolContract) -> None:
        self._contract = contract
        self.effects: list[Receipt] = []
        self.told: list[str] = []

    def call(self, call: ToolCall) -> Answer:
        replayed = bool(self.effects) and self._contract.idempotent
        if not replayed:
            self.effects.append(_receipt(call, len(self.effects) + 1))
        self.told.append("call: replayed" if replayed else "call: applied")
        return Answer(self.effects[0], replayed)

    def lookup(self, call: ToolCall) -> Receipt | None:
        found = next(iter(self.effects), None)
        self.told.append("lookup: found" if found else "lookup: nothing")
        return found


def _receipt(call: ToolCall, sequence: int) -> Receipt:
    receipt = Receipt(
        sequence=sequence,
        receipt_id=f"receipt_{sequence}",
        ledger_id=LEDGER,
        workflow_id=call.workflow_id,
        step=call.step,
        attempt=call.attempt,
        tool=call.tool,
        key=call.key,
        fingerprint=digest_of(call.action),
        applied_at="2026-01-01T00:00:00.000000Z",
    )
    return replace(receipt, hash=receipt.recomputed_hash())


@dataclass(frozen=True)
class Stop:
    """What there was when the first driver stopped, and what the second made of it."""

    status: str
    in_doubt: bool
    effects: int
    asked: tuple[str, ...]
    end: str
    effects_at_end: int


def stop(boundary: Boundary, contract: ToolContract, key: str | None) -> Stop:
    """Stop a driver at a boundary, resume, and tell."""
    journal, tool = MemoryJournal(), MemoryTool(contract)
    clock = SteppedClock(START, 0.001)

    def engine(token: str, wrapped_journal: Journal, wrapped_tool: Tool) -> Engine:
        return Engine(
            journal=wrapped_journal,
            tool=wrapped_tool,
            ledger_id=LEDGER,
            clock=clock,
            identity=SeededIdentity(token),
            health=Health(journal.path),
            token=token,
        )

    terms = Terms(LEDGER, contract, key)
    action = parse_action(b'{"tool": "charge_card", "arguments": {}}')
    create(journal, clock, workflow_id=WORKFLOW, program=TOOL_CALL, action=action, terms=terms)
    approve(journal, clock, WORKFLOW, actor="alice")
    calls = CountedCalls(stopping_at(boundary))
    first = engine("first", CrashingJournal(journal, calls), crashing_tool(tool, calls))
    with suppress(Stopped):
        drive(first, WORKFLOW)
        _never_reached(boundary)
    row, effects, asked = journal.load(WORKFLOW).row, len(tool.effects), len(tool.told)
    clock.advance(BETWEEN_LIVES_SECONDS)
    end = drive(engine("second", journal, tool), WORKFLOW)
    return Stop(
        status=row["status"],
        in_doubt=bool(row["in_doubt"]),
        effects=effects,
        asked=tuple(tool.told[asked:]),
        end=str(end.status),
        effects_at_end=len(tool.effects),
    )


def _never_reached(boundary: Boundary) -> NoReturn:
    raise ValueError(f"no driver comes to {boundary}")


# -- in words --------------------------------------------------------------------------------


def counted(effects: int) -> str:
    return f"{effects or 'no'} effect"


def boundaries_rows() -> tuple[list[str], list[list[str]]]:
    """Each boundary: what the stores hold there, and what a resume makes of it."""
    rows = []
    for boundary in Boundary:
        stops = [stop(boundary, *contract) for contract in CONTRACTS.values()]
        (held,) = {(each.status, each.in_doubt, each.effects) for each in stops}
        status, in_doubt, effects = held
        rows.append(
            [
                f"`{boundary}`",
                f"`{status}`" + (", in doubt" if in_doubt else ""),
                counted(effects),
                *map(_resumed, stops),
            ]
        )
    return ["died at", "journal", "ledger", *CONTRACTS], rows


def promises_rows() -> tuple[list[str], list[list[str]]]:
    """The famous boundary alone: by what the tool promises."""
    rows = []
    for name, contract in CONTRACTS.items():
        after = stop(Boundary.TOOL_AFTER, *contract)
        rows.append(
            [name, "; ".join(after.asked) or "nothing", f"`{after.end}`", str(after.effects_at_end)]
        )
    return ["the tool", "what the resume asks it", "status", "effects"], rows


def _resumed(after: Stop) -> str:
    return "<br>".join([*after.asked, f"`{after.end}`, {counted(after.effects_at_end)}"])
