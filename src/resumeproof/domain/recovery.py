"""The recovery table: what the next driver does, decided from facts alone.

Two tables, read top to bottom, first match wins. `decide` says what to do with a workflow as the
journal tells it; `domain.conclusion` says what a tool's answer makes of it. None of them does any
I/O, so that the protocol can be walked exhaustively.

The promise that the tables keep: at most one effect without an idempotency key, effectively once
with one, and never a silent guess.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from resumeproof.domain.contract import Lookup
from resumeproof.domain.decision import (
    AcknowledgeRecorded,
    Advance,
    Attempt,
    Decision,
    Doubt,
    Fail,
    MarkUnknown,
    PeekEventually,
    Purpose,
    Refuse,
    Return,
)
from resumeproof.domain.instant import parse_instant
from resumeproof.domain.status import ENDED, Status
from resumeproof.domain.workflow import Workflow
from resumeproof.errors import (
    ApprovalMismatch,
    ApprovalRequired,
    JournalDamaged,
    NotYet,
    ReceiptDamaged,
    ReconciliationRequired,
)


@dataclass(frozen=True)
class Facts:
    """What is known before anything is done.

    `workflow` is None exactly where `damage` names what does not hold. `found_digest` is the
    digest of the bytes that would be sent. `receipt_damage` tells what is wrong with the
    acknowledged receipt, if there is one. `save_missing`: the last record is an outcome, and the
    save that makes it true never happened. `calls`: the next command calls a tool, or asks for the
    approval of a call; `needs_approval` says whether those bytes need one. `waits_for` tells what a
    waiting workflow still waits for, and why; None where the wait is over.
    """

    workflow_id: str
    workflow: Workflow | None
    damage: str | None
    found_digest: str
    now: datetime
    receipt_damage: str | None = None
    save_missing: bool = False
    calls: bool = True
    needs_approval: bool = True
    waits_for: tuple[str, str] | None = None

    @property
    def sound(self) -> Workflow:
        if self.workflow is None:
            raise ValueError(f"no sound workflow: {self.damage}")
        return self.workflow


def dead_in_a_row(workflow: Workflow) -> int:
    """Attempts in doubt since the last acknowledgement, the one now found dead included."""
    return workflow.deaths + (workflow.open_attempt is not None)


def key_alive(workflow: Workflow, now: datetime) -> bool:
    """Whether a repeat under the last call's key would still be answered with the first receipt.

    Reckoned from the *first* unsettled claim: a later one does not make the tool remember longer.
    A clock that went backwards tells nothing about how much time has passed, and counts as expired.
    """
    lifetime = workflow.contract.relied_lifetime_seconds
    if workflow.called_key is None:
        return False
    if lifetime is None or workflow.first_unsettled_at is None:
        return True
    if now < parse_instant(workflow.updated_at):
        return False
    return now < parse_instant(workflow.first_unsettled_at) + timedelta(seconds=lifetime)


def _retries_left(workflow: Workflow) -> bool:
    return workflow.failures < workflow.max_retries


def _replayable(workflow: Workflow, now: datetime) -> bool:
    return workflow.contract.idempotent and key_alive(workflow, now)


def unsettled(workflow: Workflow, now: datetime) -> MarkUnknown:
    """Nothing settles the doubt; say whether only a spent retry stood in the way."""
    if _replayable(workflow, now) and not _retries_left(workflow):
        return MarkUnknown(Doubt.RETRIES_EXHAUSTED)
    return MarkUnknown(Doubt.OUTCOME_UNKNOWN)


def _unapproved(facts: Facts) -> bool:
    return facts.needs_approval and facts.found_digest != facts.sound.approved_digest


def _waits(facts: Facts) -> Refuse:
    until, reason = facts.waits_for or ("", "")
    return Refuse(NotYet(facts.workflow_id, until, reason))


def _approval_refused(facts: Facts) -> Refuse:
    workflow = facts.sound
    if workflow.approved_digest is None:
        return Refuse(ApprovalRequired(workflow.id, facts.found_digest))
    return Refuse(ApprovalMismatch(workflow.id, workflow.approved_digest, facts.found_digest))


def _too_early(facts: Facts) -> bool:
    retry_at = facts.sound.retry_at
    return retry_at is not None and facts.now < parse_instant(retry_at)


@dataclass(frozen=True)
class Rule:
    """One row: two conditions in words, the same as a predicate, and the decision."""

    journal: str
    tool: str
    decision: str
    applies: Callable[[Facts], bool]
    decide: Callable[[Facts], Decision]


RULES: tuple[Rule, ...] = (
    Rule(
        "timeline or row damaged (chain, head, fold)",
        "-",
        "`Refuse(JournalDamaged)`; nothing is written",
        lambda facts: facts.damage is not None,
        lambda facts: Refuse(JournalDamaged(facts.workflow_id, str(facts.damage))),
    ),
    Rule(
        "an outcome was recorded, its state save is missing",
        "its receipt verifies",
        "`AcknowledgeRecorded`; call nothing",
        lambda facts: facts.save_missing and facts.receipt_damage is None,
        lambda facts: AcknowledgeRecorded(),
    ),
    Rule(
        "the workflow ended",
        "the acknowledged receipt does not verify",
        "`Refuse(ReceiptDamaged)`",
        lambda facts: facts.sound.status in ENDED and facts.receipt_damage is not None,
        lambda facts: Refuse(ReceiptDamaged(facts.workflow_id, str(facts.receipt_damage))),
    ),
    Rule(
        "the workflow ended",
        "-",
        "`Return` the recorded result, read-only",
        lambda facts: facts.sound.status in ENDED,
        lambda facts: Return(),
    ),
    Rule(
        "`unknown`",
        "-",
        "`Refuse(ReconciliationRequired)`",
        lambda facts: facts.sound.status is Status.UNKNOWN,
        lambda facts: Refuse(ReconciliationRequired(facts.workflow_id, str(facts.sound.reason))),
    ),
    Rule(
        "`retry_at` not reached",
        "-",
        "`Refuse(NotYet(until))`",
        _too_early,
        lambda facts: Refuse(
            NotYet(facts.workflow_id, str(facts.sound.retry_at), "waiting to try again")
        ),
    ),
    Rule(
        "waiting, and the wait is not over",
        "-",
        "`Refuse(NotYet(until))`",
        lambda facts: facts.waits_for is not None,
        _waits,
    ),
    Rule(
        "not in doubt, the next command calls nobody",
        "-",
        "`Advance`",
        lambda facts: not facts.sound.in_doubt and not facts.calls,
        lambda facts: Advance(),
    ),
    Rule(
        "in doubt, and the live approval does not bear these bytes",
        "-",
        "`MarkUnknown(approval_unverifiable)`",
        lambda facts: facts.sound.in_doubt and _unapproved(facts),
        lambda facts: MarkUnknown(Doubt.APPROVAL_UNVERIFIABLE),
    ),
    Rule(
        "not in doubt, no live approval of these bytes",
        "-",
        "`Refuse(ApprovalRequired)` or `Refuse(ApprovalMismatch)`",
        _unapproved,
        _approval_refused,
    ),
    Rule(
        "not in doubt, retries left",
        "-",
        "`Attempt(call)`",
        lambda facts: not facts.sound.in_doubt and _retries_left(facts.sound),
        lambda facts: Attempt(Purpose.CALL),
    ),
    Rule(
        "not in doubt, none left",
        "-",
        "`Fail(retries_exhausted)`",
        lambda facts: not facts.sound.in_doubt,
        lambda facts: Fail("retries_exhausted"),
    ),
    Rule(
        "in doubt, `max_recoveries` reached",
        "-",
        "`MarkUnknown(recovery_limit)`",
        lambda facts: dead_in_a_row(facts.sound) >= facts.sound.max_recoveries,
        lambda facts: MarkUnknown(Doubt.RECOVERY_LIMIT),
    ),
    Rule(
        "in doubt, a retry left",
        "idempotent, key alive",
        "`Attempt(replay)` with the same key",
        lambda facts: _replayable(facts.sound, facts.now) and _retries_left(facts.sound),
        lambda facts: Attempt(Purpose.REPLAY),
    ),
    Rule(
        "in doubt, a key to ask for",
        "consistent lookup",
        "`Attempt(lookup)`, fenced by its number",
        lambda facts: (
            facts.sound.contract.lookup is Lookup.CONSISTENT and facts.sound.called_key is not None
        ),
        lambda facts: Attempt(Purpose.LOOKUP),
    ),
    Rule(
        "in doubt, a key to ask for",
        "eventual lookup",
        "`PeekEventually`; nothing is claimed",
        lambda facts: (
            facts.sound.contract.lookup is Lookup.EVENTUAL and facts.sound.called_key is not None
        ),
        lambda facts: PeekEventually(),
    ),
    Rule(
        "in doubt",
        "nothing of the above settles it",
        "`MarkUnknown(retries_exhausted)` where only a spent retry stood in the way, "
        "else `MarkUnknown(outcome_unknown)`",
        lambda facts: True,
        lambda facts: unsettled(facts.sound, facts.now),
    ),
)


def decide(facts: Facts) -> Decision:
    """The decision of the first rule that applies."""
    return next(rule.decide(facts) for rule in RULES if rule.applies(facts))
