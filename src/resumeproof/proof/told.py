"""Workflows and their records, as domain code makes them, for journals to hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from resumeproof.domain.action import Action
from resumeproof.domain.canonical import JsonValue, canonical_bytes
from resumeproof.domain.contract import ToolContract
from resumeproof.domain.inspection import Stored
from resumeproof.domain.protocol import extend
from resumeproof.domain.record import Draft, Record
from resumeproof.domain.status import Event
from resumeproof.domain.workflow import Workflow
from resumeproof.stores.protocols import Journal

CREATED_AT = "2026-01-02T03:04:05.000000Z"
"""When the stores that hold them were created."""


def at(sequence: int) -> str:
    """The instant of a workflow's record."""
    return f"2026-01-02T03:04:05.{sequence:06d}Z"


def action_of(amount: int) -> Action:
    """An action whose bytes are not ASCII alone, and hold what SQL, JSON and text files escape."""
    note = 'Zoë\'s "5" \\ \u2028 \x00 \r\n \U0001f600'
    value: JsonValue = {"arguments": {"amount": amount, "note": note}, "tool": "charge"}
    return Action.from_canonical(canonical_bytes(value))


@dataclass(frozen=True)
class Told:
    """A workflow and the records that tell it, whether any journal holds them or not."""

    workflow: Workflow
    action: Action
    records: tuple[Record, ...]

    @property
    def stored(self) -> Stored:
        """As a journal gives it back."""
        return Stored(self.workflow.row(), self.action.canonical, self.action.digest, self.records)

    @property
    def row(self) -> Stored:
        """As a journal gives it back without its records."""
        return Stored(self.workflow.row(), self.action.canonical, self.action.digest, ())

    def then(self, *drafts: Draft, action: Action | None = None) -> Told:
        before = self.workflow
        records, workflow = extend(
            before, drafts, workflow_id=before.id, at=at(before.revision + 1)
        )
        return Told(workflow, action or self.action, self.records + records)


def created(workflow_id: str, *, key: str | None = "key-1") -> Told:
    action = action_of(2500)
    facts = {
        "contract": ToolContract("charge", idempotent=key is not None).to_json(),
        "digest": action.digest,
        "key": key,
        "ledger_id": "ledger-1",
        "max_recoveries": 5,
        "max_retries": 3,
        "program": "tool_call",
        "program_digest": "0" * 64,
        "retry_base_seconds": 1,
        "step": "approve",
    }
    draft = Draft(Event.CREATED, facts)
    records, workflow = extend(None, (draft,), workflow_id=workflow_id, at=at(1))
    return Told(workflow, action, records)


def approved(told: Told, actor: str = "ada") -> Told:
    facts = {"actor": actor, "digest": told.action.digest, "then": "call"}
    return told.then(Draft(Event.APPROVED, facts))


def replaced(told: Told, amount: int) -> Told:
    action = action_of(amount)
    facts = {"digest": action.digest, "step": "approve"}
    return told.then(Draft(Event.ACTION_REPLACED, facts), action=action)


def claimed(told: Told) -> Told:
    facts = {
        "attempt": told.workflow.attempts + 1,
        "digest": told.action.digest,
        "driver": "driver-1",
        "purpose": "call",
        "recovered_attempt": None,
        "step": told.workflow.step,
    }
    return told.then(Draft(Event.ATTEMPT_STARTED, facts))


def acknowledged(told: Told) -> Told:
    receipt = {"receipt_id": "receipt-1"}
    facts = {
        "attempt": told.workflow.attempts,
        "receipt": receipt,
        "recovered_attempt": None,
        "replayed": False,
        "source": "call",
        "step": told.workflow.step,
        "then": "finish",
    }
    return told.then(Draft(Event.EFFECT_ACKNOWLEDGED, facts))


def completed(told: Told) -> Told:
    return told.then(Draft(Event.COMPLETED, {"output": {"receipt_id": "receipt-1"}}))


def cancelled(told: Told) -> Told:
    return told.then(Draft(Event.CANCELLED, {}))


def write(journal: Journal, before: Told | None, after: Told) -> Told:
    """Commit what `after` has more than `before` (None: nothing is stored), and return it."""
    write_all(journal, [(before, after)])
    return after


def write_all(journal: Journal, changes: Sequence[tuple[Told | None, Told]]) -> None:
    """`write`, for many workflows in one commit."""
    with journal.transaction() as transaction:
        for before, after in changes:
            for record in after.records[len(before.records) if before else 0 :]:
                transaction.append(record)
            transaction.save(
                after.workflow,
                after.action.canonical,
                expected_revision=before.workflow.revision if before else 0,
            )
