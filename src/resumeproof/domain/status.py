"""The state machine of a workflow, as a table.

Theory of operation. A workflow is moved by *events*, and each event is one record of its
timeline, so the table below is also the grammar of a timeline: folding the records through it
gives the status, and a timeline that it does not accept is damaged.

Two rules shape the table. Doubt belongs to the effect, not to the attempt: `running` is left for
`retry_wait` or `failed` only by an event that proves that no effect happened, and for `unknown`
only because nothing can prove anything. And an end is final: no row starts at an end.

What is not in the table is an `InvalidTransition`, and leaves everything as it was.
"""

from __future__ import annotations

from enum import StrEnum
from types import MappingProxyType


class Status(StrEnum):
    """Where a workflow stands. Source: docs/design.md, section 4."""

    PENDING_APPROVAL = "pending_approval"
    APPROVED = "approved"
    RUNNING = "running"
    WAITING = "waiting"
    RETRY_WAIT = "retry_wait"
    UNKNOWN = "unknown"
    COMPLETED = "completed"
    FAILED = "failed"
    RECONCILED_APPLIED = "reconciled_applied"
    RECONCILED_NOT_APPLIED = "reconciled_not_applied"
    CANCELLED = "cancelled"


ENDED = frozenset(
    {
        Status.COMPLETED,
        Status.FAILED,
        Status.RECONCILED_APPLIED,
        Status.RECONCILED_NOT_APPLIED,
        Status.CANCELLED,
    }
)

MEANING = MappingProxyType(
    {
        Status.PENDING_APPROVAL: "no live approval of the present digest",
        Status.APPROVED: "may be claimed",
        Status.RUNNING: "claimed; seen without its lock held, the driver died",
        Status.WAITING: "waits for an event, a time, a child or a message",
        Status.RETRY_WAIT: "failed before any effect; may be tried again (not before `retry_at`)",
        Status.UNKNOWN: "in doubt; only a reconciliation moves it",
        Status.COMPLETED: "acknowledged",
        Status.FAILED: "retry cap reached, or the tool refused for good",
        Status.RECONCILED_APPLIED: "an operator decided that the effect happened",
        Status.RECONCILED_NOT_APPLIED: "an operator decided that no effect happened",
        Status.CANCELLED: "an operator withdrew it before any attempt",
    }
)


class Event(StrEnum):
    """What moved a workflow: the kind of one timeline record."""

    CREATED = "created"
    APPROVED = "approved"
    ACTION_REPLACED = "action_replaced"
    CANCELLED = "cancelled"
    ATTEMPT_STARTED = "attempt_started"
    EFFECT_ACKNOWLEDGED = "effect_acknowledged"
    COMPLETED = "completed"
    ATTEMPT_FAILED = "attempt_failed"
    ATTEMPT_FAILED_IN_DOUBT = "attempt_failed_in_doubt"
    LOOKUP_FAILED = "lookup_failed"
    ABSENCE_PROVED = "absence_proved"
    FAILED = "failed"
    MARKED_UNKNOWN = "marked_unknown"
    RECONCILED_APPLIED = "reconciled_applied"
    RECONCILED_NOT_APPLIED = "reconciled_not_applied"
    DECIDED = "decided"
    STARTED = "started"
    EMITTED = "emitted"
    WAIT_STARTED = "wait_started"
    WAIT_OVER = "wait_over"
    MESSAGE_RECEIVED = "message_received"
    MESSAGES_APPLIED = "messages_applied"


TRANSITIONS = MappingProxyType(
    {
        (None, Event.CREATED): Status.PENDING_APPROVAL,
        (Status.PENDING_APPROVAL, Event.APPROVED): Status.APPROVED,
        (Status.PENDING_APPROVAL, Event.ACTION_REPLACED): Status.PENDING_APPROVAL,
        (Status.PENDING_APPROVAL, Event.CANCELLED): Status.CANCELLED,
        (Status.APPROVED, Event.ACTION_REPLACED): Status.PENDING_APPROVAL,
        (Status.APPROVED, Event.CANCELLED): Status.CANCELLED,
        (Status.APPROVED, Event.ATTEMPT_STARTED): Status.RUNNING,
        (Status.RETRY_WAIT, Event.ATTEMPT_STARTED): Status.RUNNING,
        (Status.RETRY_WAIT, Event.FAILED): Status.FAILED,
        (Status.RUNNING, Event.ATTEMPT_STARTED): Status.RUNNING,
        (Status.RUNNING, Event.EFFECT_ACKNOWLEDGED): Status.RUNNING,
        (Status.RUNNING, Event.COMPLETED): Status.COMPLETED,
        (Status.RUNNING, Event.ATTEMPT_FAILED): Status.RETRY_WAIT,
        (Status.RUNNING, Event.ATTEMPT_FAILED_IN_DOUBT): Status.RUNNING,
        (Status.RUNNING, Event.LOOKUP_FAILED): Status.RUNNING,
        (Status.RUNNING, Event.ABSENCE_PROVED): Status.RETRY_WAIT,
        (Status.RUNNING, Event.FAILED): Status.FAILED,
        (Status.RUNNING, Event.MARKED_UNKNOWN): Status.UNKNOWN,
        (Status.UNKNOWN, Event.RECONCILED_APPLIED): Status.RECONCILED_APPLIED,
        (Status.UNKNOWN, Event.RECONCILED_NOT_APPLIED): Status.RECONCILED_NOT_APPLIED,
        (Status.UNKNOWN, Event.DECIDED): Status.RUNNING,
        (Status.PENDING_APPROVAL, Event.STARTED): Status.RUNNING,
        (Status.APPROVED, Event.STARTED): Status.RUNNING,
        (Status.RUNNING, Event.EMITTED): Status.RUNNING,
        (Status.RUNNING, Event.WAIT_STARTED): Status.WAITING,
        (Status.WAITING, Event.WAIT_OVER): Status.RUNNING,
        (Status.RUNNING, Event.MESSAGES_APPLIED): Status.RUNNING,
        (Status.PENDING_APPROVAL, Event.MESSAGE_RECEIVED): Status.PENDING_APPROVAL,
        (Status.APPROVED, Event.MESSAGE_RECEIVED): Status.APPROVED,
        (Status.RUNNING, Event.MESSAGE_RECEIVED): Status.RUNNING,
        (Status.WAITING, Event.MESSAGE_RECEIVED): Status.WAITING,
        (Status.RETRY_WAIT, Event.MESSAGE_RECEIVED): Status.RETRY_WAIT,
        (Status.UNKNOWN, Event.MESSAGE_RECEIVED): Status.UNKNOWN,
    }
)
