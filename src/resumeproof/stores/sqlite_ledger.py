"""The tool ledger on SQLite: a simulated tool that keeps its promises where they can be seen.

A call and its record are one transaction, whatever comes of it: a rejected call is committed as
an invocation before its error is raised. Nothing here knows of journals.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, NoReturn

from resumeproof.domain.canonical import digest_of
from resumeproof.domain.contract import Lookup, ToolContract
from resumeproof.domain.instant import format_instant
from resumeproof.domain.receipt import Answer, Receipt, ToolCall
from resumeproof.errors import (
    AttemptRepeated,
    FailedBeforeEffect,
    Fenced,
    KeyConflict,
    ToolNotRegistered,
    WorkflowExists,
)
from resumeproof.stores import birth, opening
from resumeproof.stores.sqlite import Database
from resumeproof.stores.sqlite_ledger_rows import (
    LEDGER,
    InvocationOutcome,
    LedgerRows,
    LookupOutcome,
)

Rejection = Fenced | FailedBeforeEffect | KeyConflict


class SqliteLedger(LedgerRows):
    """A `resumeproof.stores.protocols.ToolLedger`.

    Keys are the tool's, not a workflow's: whoever calls the same tool with the same key means the
    same effect. What is promised about them is what the calling workflow registered.
    """

    def __init__(
        self, database: Database, now: Callable[[], datetime], new_id: Callable[[str], str]
    ) -> None:
        super().__init__(database)
        self._now = now
        self._new_id = new_id

    @staticmethod
    def create(path: str | os.PathLike[str], *, ledger_id: str, created_at: str) -> bool:
        """Create an empty ledger; False if something is at `path` already.

        `created_at` is an instant. Raises what `resumeproof.stores.birth.create` raises.
        """

        def seed(connection: sqlite3.Connection) -> None:
            connection.execute("INSERT INTO ledger VALUES (1, ?, ?)", (ledger_id, created_at))

        return birth.create(path, LEDGER, seed=seed)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        now: Callable[[], datetime],
        new_id: Callable[[str], str],
    ) -> SqliteLedger:
        """Open an existing ledger; `new_id("receipt")` names each effect's receipt.

        Raises what `resumeproof.stores.opening.open_writer` raises.
        """
        return cls(opening.open_writer(path, LEDGER), now, new_id)

    @classmethod
    def open_reader(cls, path: str | os.PathLike[str]) -> SqliteLedger:
        """Open a ledger to be read; it can neither be called, nor looked up with a lag.

        Raises what `resumeproof.stores.opening.open_reader` raises.
        """
        return cls(opening.open_reader(path, LEDGER), _reader_has_none, _reader_has_none)

    # -- what a tool promises -----------------------------------------------------------------

    def register(self, workflow_id: str, contract: ToolContract, *, fail_before: int) -> None:
        """Set up the tool that this workflow will call; its first `fail_before` calls fail.

        The same registration once more changes nothing. Raises `WorkflowExists` for another one.
        """
        with self._database.transaction():
            try:
                found = self.registration(workflow_id)
            except ToolNotRegistered:
                self._database.execute(
                    "INSERT INTO registrations VALUES (:workflow_id, :name, :idempotent,"
                    " :key_lifetime_seconds, :lookup, :lookup_lag_seconds, :fail_before, :at)",
                    {
                        **contract.to_json(),
                        "workflow_id": workflow_id,
                        "fail_before": fail_before,
                        "at": format_instant(self._now()),
                    },
                )
                return
            if found != (contract, fail_before):
                raise WorkflowExists(workflow_id)

    # -- what a driver asks -------------------------------------------------------------------

    def call(self, call: ToolCall) -> Answer:
        """Apply the effect, or answer with the receipt of the effect that the key is bound to.

        An idempotent tool's key is bound to its latest effect, for as long as the contract says;
        after that, as without a key, the call applies. The effect, if any, and the invocation are
        durable when this returns or raises.
        Raises `KeyConflict`, `Fenced` or `FailedBeforeEffect`, each with its invocation recorded;
        `AttemptRepeated` or `ToolNotRegistered`, with nothing written; and `StoreUnavailable`.
        """
        fingerprint = digest_of(call.action)
        with self._database.transaction():
            contract, fail_before = self.registration(call.workflow_id)
            self._refuse_repeated(call)
            now = self._now()
            at = format_instant(now)
            answer: Answer | Rejection = (
                self._fenced(call)
                or self._failed_before_effect(call, fail_before)
                or self._replayed(call, contract, fingerprint, now)
                or Answer(self._apply(call, fingerprint, at), replayed=False)
            )
            self._record(call, answer, fingerprint, at)
        if isinstance(answer, Answer):
            return answer
        raise answer

    def lookup(self, call: ToolCall) -> Receipt | None:
        """The receipt of the first effect of `call.key`, or None.

        A consistent lookup sees all that was committed, and takes `call.attempt` as a fence; the
        fence is durable when this returns. An eventual lookup shows an effect once it is as old as
        the contract's lag, and writes nothing.
        Raises `Fenced`, with the lookup recorded; `AttemptRepeated` or `ToolNotRegistered`, with
        nothing written; `StoreUnavailable`; `ValueError` for a call without a key or a tool
        without a lookup.
        """
        if call.key is None:
            raise ValueError("a lookup needs a key to ask for")
        contract, _ = self.registration(call.workflow_id)
        match contract.lookup:
            case Lookup.NONE:
                raise ValueError(f"tool {contract.name} offers no lookup")
            case Lookup.EVENTUAL:
                applied_by = _instant_before(self._now(), contract.lookup_lag_seconds)
                return self.effect_of_key(call, applied_by=applied_by)
            case Lookup.CONSISTENT:
                return self._look_up_fenced(call)

    def _refuse_repeated(self, call: ToolCall) -> None:
        repeated = self._database.row(
            "SELECT 1 FROM invocations"
            " WHERE workflow_id = :workflow_id AND step = :step AND attempt = :attempt"
            " UNION ALL SELECT 1 FROM lookups"
            " WHERE workflow_id = :workflow_id AND step = :step AND attempt = :attempt",
            _asker(call),
        )
        if repeated is not None:
            raise AttemptRepeated(call.workflow_id, call.step, call.attempt)

    def _fenced(self, call: ToolCall) -> Fenced | None:
        fence = self._number(
            "SELECT coalesce(max(attempt), 0) FROM lookups WHERE workflow_id = ? AND step = ?",
            (call.workflow_id, call.step),
        )
        if call.attempt > fence:
            return None
        return Fenced(call.workflow_id, call.attempt, fence)

    def _failed_before_effect(self, call: ToolCall, fail_before: int) -> FailedBeforeEffect | None:
        if fail_before == 0:
            return None
        earlier = self._number(
            "SELECT count(*) FROM (SELECT 1 FROM invocations WHERE workflow_id = ? LIMIT ?)",
            (call.workflow_id, fail_before),
        )
        if earlier == fail_before:
            return None
        return FailedBeforeEffect(f"scripted failure {earlier + 1} of {fail_before}")

    def _replayed(
        self, call: ToolCall, contract: ToolContract, fingerprint: str, now: datetime
    ) -> Answer | KeyConflict | None:
        if not contract.idempotent or call.key is None:
            return None
        bound = self.effect_of_key(call, newest=True)
        if bound is None:
            return None
        # A damaged row proves neither its age nor its bytes: hand it out, and apply nothing.
        if bound.hash == bound.recomputed_hash():
            lifetime = contract.key_lifetime_seconds
            if lifetime is not None and bound.applied_at <= _instant_before(now, lifetime):
                return None
            if bound.fingerprint != fingerprint:
                return KeyConflict(call.key, first=bound.fingerprint, now=fingerprint)
        return Answer(bound, replayed=True)

    def _apply(self, call: ToolCall, fingerprint: str, at: str) -> Receipt:
        receipt = Receipt.issued(
            sequence=self._next_sequence("effects"),
            receipt_id=self._new_id("receipt"),
            ledger_id=self.ledger_id,
            workflow_id=call.workflow_id,
            step=call.step,
            attempt=call.attempt,
            tool=call.tool,
            key=call.key,
            fingerprint=fingerprint,
            applied_at=at,
        )
        self._database.execute(
            "INSERT INTO effects VALUES (:sequence, :receipt_id, :workflow_id, :step, :attempt,"
            " :tool, :key, :fingerprint, :action, :applied_at, :hash)",
            {**receipt.to_json(), "action": call.action.decode()},
        )
        return receipt

    def _record(
        self, call: ToolCall, answer: Answer | Rejection, fingerprint: str, at: str
    ) -> None:
        if isinstance(answer, Answer):
            outcome = InvocationOutcome.REPLAYED if answer.replayed else InvocationOutcome.APPLIED
            effect_sequence = answer.receipt.sequence
        else:
            outcome, effect_sequence = InvocationOutcome(answer.code), None
        self._database.execute(
            "INSERT INTO invocations VALUES (:sequence, :workflow_id, :step, :attempt, :outcome,"
            " :effect_sequence, :key, :fingerprint, :at)",
            {
                **_asker(call),
                "sequence": self._next_sequence("invocations"),
                "outcome": str(outcome),
                "effect_sequence": effect_sequence,
                "fingerprint": fingerprint,
                "at": at,
            },
        )

    def _look_up_fenced(self, call: ToolCall) -> Receipt | None:
        with self._database.transaction():
            self._refuse_repeated(call)
            fenced = self._fenced(call)
            found = None if fenced else self.effect_of_key(call)
            outcome = LookupOutcome.FOUND if found else LookupOutcome.ABSENT
            self._database.execute(
                "INSERT INTO lookups VALUES (:sequence, :workflow_id, :step, :attempt, :outcome,"
                " :effect_sequence, :key, :at)",
                {
                    **_asker(call),
                    "sequence": self._next_sequence("lookups"),
                    "outcome": str(LookupOutcome.FENCED if fenced else outcome),
                    "effect_sequence": found.sequence if found else None,
                    "at": format_instant(self._now()),
                },
            )
        if fenced:
            raise fenced
        return found

    def _next_sequence(self, table: str) -> int:
        return self._number(f"SELECT coalesce(max(sequence), 0) + 1 FROM {table}")

    def _number(self, sql: str, parameters: tuple[Any, ...] = ()) -> int:
        return int(self._database.rows(sql, parameters)[0][0])


def _reader_has_none(*_: object) -> NoReturn:
    raise ValueError("a ledger that was opened to be read has neither clock nor identity")


def _asker(call: ToolCall) -> dict[str, Any]:
    return {
        "workflow_id": call.workflow_id,
        "step": call.step,
        "attempt": call.attempt,
        "key": call.key,
    }


def _instant_before(now: datetime, seconds: float) -> str:
    """The instant's text `seconds` before `now`."""
    return format_instant(now - timedelta(seconds=seconds))
