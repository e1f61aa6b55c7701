"""The lab with one bug put into its driver: in the process of each life, and nowhere else.

A sabotage replaces functions of the driver's just before a life begins to drive. The runtime does
not hear of it, and a bug is what the original does but for one thing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from resumeproof.crash.channel import LifeChannel
from resumeproof.domain import folding, protocol
from resumeproof.domain.action import Action, parse_action
from resumeproof.domain.conclusion import conclude_call
from resumeproof.domain.decision import (
    Acknowledge,
    Advance,
    Conclusion,
    Decision,
    MarkUnknown,
    Purpose,
    Return,
)
from resumeproof.domain.inspection import Stored
from resumeproof.domain.instant import format_instant
from resumeproof.domain.receipt import Answer
from resumeproof.domain.record import GENESIS, Draft, Record
from resumeproof.domain.recovery import Facts, decide
from resumeproof.domain.status import TRANSITIONS, Event, Status
from resumeproof.domain.workflow import Workflow
from resumeproof.errors import ResumeproofError
from resumeproof.lab.living import LivingLab
from resumeproof.lab.subject import LabSubject
from resumeproof.proof.living import Body, LifeOutcome, Order
from resumeproof.runtime import driver, kernel, session
from resumeproof.runtime.engine import Engine, Held
from resumeproof.runtime.operations import hold
from resumeproof.runtime.programs import PROGRAMS, Programs
from resumeproof.stores.protocols import Journal, JournalTransaction


@dataclass(frozen=True)
class Sabotage:
    """A function of the driver's, and what stands in its place."""

    home: object
    name: str
    bug: object


class SabotagedLab(LivingLab):
    """The lab's driver, each of whose lives has the same bug."""

    def __init__(self, lab: LabSubject, bugs: Sequence[Sabotage]) -> None:
        super().__init__(lab)
        self._bugs = bugs

    def body(self, order: Order) -> Body:
        live = super().body(order)

        def sabotaged(channel: LifeChannel) -> LifeOutcome:
            for each in self._bugs:
                setattr(each.home, each.name, each.bug)
            return live(channel)

        return sabotaged


# -- bytes that bear no approval ---------------------------------------------------------------

_call = kernel._call


def _send_changed(held: Held, engine: Engine) -> Conclusion:
    if held.workflow.attempts == 1:
        return _call(held, engine)
    action = Action.from_canonical(held.stored.action)
    changed = {"tool": action.tool, "arguments": {**action.arguments, "again": True}}
    stored = replace(held.stored, action=parse_action(json.dumps(changed).encode()).canonical)
    return _call(replace(held, stored=stored), engine)


SENDS_CHANGED_BYTES = (Sabotage(kernel, "_call", _send_changed),)

# -- an acknowledged step, run again -----------------------------------------------------------


def _no_ending(held: Held) -> tuple[Draft, ...]:
    return ()


_ENDS_IN_A_COMMIT_OF_ITS_OWN = Sabotage(kernel, "ending", _no_ending)
"""No bug by itself: it lets a driver die between an acknowledgement and its workflow's end."""


def _hold_at_call(journal: Journal, workflow_id: str, programs: Programs = PROGRAMS) -> Held:
    held = hold(journal, workflow_id, programs)
    if held.workflow.status is Status.RUNNING and held.workflow.receipts:
        return replace(held, workflow=held.workflow.changed(step="call"))
    return held


RUNS_ACKNOWLEDGED_STEP = (
    _ENDS_IN_A_COMMIT_OF_ITS_OWN,
    Sabotage(driver, "hold", _hold_at_call),
)

# -- retries -----------------------------------------------------------------------------------


def _hold_without_failures(
    journal: Journal, workflow_id: str, programs: Programs = PROGRAMS
) -> Held:
    held = hold(journal, workflow_id, programs)
    return replace(held, workflow=held.workflow.changed(failures=0))


COUNTS_RETRIES_ANEW = (Sabotage(driver, "hold", _hold_without_failures),)

# -- receipts ----------------------------------------------------------------------------------


def _believe_replay(
    workflow: Workflow, *, fingerprint: str, answer: Answer | ResumeproofError
) -> Conclusion:
    if isinstance(answer, Answer) and answer.replayed:
        torn = replace(answer.receipt, hash=GENESIS)
        return Acknowledge(torn, replayed=True, source=Purpose.CALL)
    return conclude_call(workflow, fingerprint=fingerprint, answer=answer)


BELIEVES_REPLAYED_RECEIPT = (Sabotage(kernel, "conclude_call", _believe_replay),)

# -- ends --------------------------------------------------------------------------------------

_peek = session._peek


def _take_for_ended(engine: Engine, workflow_id: str) -> Workflow | None:
    workflow = hold(engine.journal, workflow_id).workflow
    return workflow if workflow.receipts else _peek(engine, workflow_id)


TAKES_ACKNOWLEDGED_FOR_ENDED = (
    _ENDS_IN_A_COMMIT_OF_ITS_OWN,
    Sabotage(session, "_peek", _take_for_ended),
)


def _decide_on_end(facts: Facts) -> Decision:
    decision = decide(facts)
    return Advance() if isinstance(decision, Return) else decision


_ENDS_AGAIN = MappingProxyType(
    {**TRANSITIONS, (Status.COMPLETED, Event.COMPLETED): Status.COMPLETED}
)
ENDS_AGAIN = (
    Sabotage(folding, "TRANSITIONS", _ENDS_AGAIN),
    Sabotage(kernel, "decide", _decide_on_end),
    Sabotage(session, "decide", _decide_on_end),
)

# -- a record and its state, in two commits ----------------------------------------------------


class _Half:
    """A transaction that carries out one of its two writes, and keeps the other back."""

    def __init__(self, inner: JournalTransaction, carried_out: str) -> None:
        self._inner = inner
        self._carried_out = carried_out
        self.kept: list[Callable[[JournalTransaction], None]] = []

    def load(self, workflow_id: str) -> Stored:
        return self._inner.load(workflow_id)

    def append(self, record: Record) -> None:
        self._write("append", lambda transaction: transaction.append(record))

    def save(self, workflow: Workflow, action: bytes, *, expected_revision: int) -> None:
        self._write(
            "save",
            lambda transaction: transaction.save(
                workflow, action, expected_revision=expected_revision
            ),
        )

    def _write(self, name: str, write: Callable[[JournalTransaction], None]) -> None:
        if name == self._carried_out:
            write(self._inner)
        else:
            self.kept.append(write)


def _commit_first(name: str) -> Callable[[Held, Engine, Sequence[Draft]], Held]:
    def commit(held: Held, engine: Engine, drafts: Sequence[Draft]) -> Held:
        with engine.journal.transaction() as transaction:
            half = _Half(transaction, name)
            after = kernel.write(half, held, drafts, at=format_instant(engine.clock.now()))
        with engine.journal.transaction() as transaction:
            for write in half.kept:
                write(transaction)
        return after

    return commit


COMMITS_RECORD_FIRST = (Sabotage(kernel, "_commit", _commit_first("append")),)
COMMITS_STATE_FIRST = (Sabotage(kernel, "_commit", _commit_first("save")),)

# -- doubts ------------------------------------------------------------------------------------

_outcome = protocol.outcome


def _complete_doubt(
    workflow: Workflow, conclusion: protocol.Outcome, **more: Any
) -> tuple[Draft, ...]:
    if isinstance(conclusion, MarkUnknown) and workflow.attempts > 1:
        return (Draft(Event.COMPLETED, {"output": {}}),)
    return _outcome(workflow, conclusion, **more)


COMPLETES_LATER_DOUBT = (Sabotage(protocol, "outcome", _complete_doubt),)
