"""One transition of one workflow: decide, claim, act, record the outcome.

    claim: record `attempt_started`, save running          (one commit)
    call the tool                                           (the ledger's own commit)
    record the outcome, save the next state                 (one commit)

The kernel carries decisions out and holds no policy: what to do is decided by the tables of
`domain.recovery`, and what to write by `domain.protocol`. It has never heard of crashing; a fault
arrives as a wrapped journal or a wrapped tool.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from resumeproof.domain import protocol
from resumeproof.domain.backoff import backoff_seconds
from resumeproof.domain.canonical import digest_of
from resumeproof.domain.command import Approve, Call
from resumeproof.domain.conclusion import Found, conclude_call, conclude_lookup
from resumeproof.domain.decision import (
    Acknowledge,
    AcknowledgeRecorded,
    Advance,
    Attempt,
    AttemptFailed,
    Conclusion,
    Doubt,
    Fail,
    LookupFailed,
    MarkUnknown,
    PeekEventually,
    Purpose,
    Refuse,
    Return,
)
from resumeproof.domain.inspection import Stored, found_digest
from resumeproof.domain.instant import format_instant
from resumeproof.domain.receipt import Answer, Receipt, ToolCall
from resumeproof.domain.record import Draft, Record
from resumeproof.domain.recovery import Facts, decide, key_alive
from resumeproof.domain.status import ENDED, Event, Status
from resumeproof.domain.workflow import Workflow
from resumeproof.errors import (
    ApprovalMismatch,
    Conflict,
    InvalidTransition,
    ResumeproofError,
    StoreUnavailable,
    ToolUnreachable,
)
from resumeproof.runtime.advance import drafts_of, ending, start_child
from resumeproof.runtime.engine import Engine, Held
from resumeproof.runtime.health import Counter
from resumeproof.runtime.waits import described, over
from resumeproof.stores.protocols import JournalTransaction


def facts_of(held: Held, engine: Engine) -> Facts:
    """What the journal says of a workflow, at this moment.

    Whoever holds one has seen that its timeline and its row are sound, or has written both.
    """
    workflow = held.workflow
    command = None if held.settled else held.command
    save_missing = held.stored.save_missing
    waits_for = None
    if workflow.waits_for is not None and over(workflow, engine.journal, engine.clock) is None:
        waits_for = described(workflow.waits_for)
    return Facts(
        workflow_id=workflow.id,
        workflow=workflow,
        damage=None,
        found_digest=found_digest(held.stored, workflow.approved_digest),
        now=engine.clock.now(),
        # Of a workflow that goes on nobody asks, and each of its receipts would be hashed anew.
        receipt_damage=receipt_damage(workflow) if held.settled or save_missing else None,
        save_missing=save_missing,
        calls=command is None or isinstance(command, Approve | Call),
        needs_approval=not isinstance(command, Call) or command.needs_approval,
        waits_for=waits_for,
    )


def receipt_damage(workflow: Workflow) -> str | None:
    """What is wrong with an acknowledged receipt; None where all verify, or there is none."""
    for sent, acknowledged in workflow.receipts:
        damage = Receipt.from_json(acknowledged).damage(fingerprint=str(sent))
        if damage:
            return damage
    return None


def tick(held: Held, engine: Engine) -> Held:
    """Carry out one transition and return the workflow after it.

    Raises whatever the recovery table refuses with, `Conflict` where somebody else was quicker,
    `StoreUnavailable` where a store failed; what the journal says then is what is true.
    """
    start_child(held, engine)
    decision = decide(facts_of(held, engine))
    match decision:
        case Refuse(error):
            raise error
        case Return():
            return held
        case AcknowledgeRecorded():
            return _save_recorded(held, engine)
        case Advance():
            return _commit(held, engine, drafts_of(held, engine))
        case Attempt(purpose):
            return _attempt(held, engine, purpose)
        case PeekEventually():
            return _settle(held, engine, _look_up(held, engine), claimed=False)
        case Fail() | MarkUnknown():
            return _settle(held, engine, decision, claimed=False)


def _save_recorded(held: Held, engine: Engine) -> Held:
    """Make the save that a dead driver owed to its own record, and call nothing."""
    return _commit(held, engine, ())


def _commit(held: Held, engine: Engine, drafts: Sequence[Draft]) -> Held:
    """Write what is known in one commit; a failure to do so is counted and raised."""
    at = format_instant(engine.clock.now())
    try:
        with engine.journal.transaction() as transaction:
            return write(transaction, held, drafts, at=at)
    except (StoreUnavailable, OSError) as error:
        engine.health.count(Counter.OUTCOME_COMMIT_FAILED, str(error))
        if ends(held, drafts, at=at):
            engine.health.count(Counter.TERMINAL_APPEND_FAILED, str(error))
        raise


def _attempt(held: Held, engine: Engine, purpose: Purpose) -> Held:
    claimed = _claim(held, engine, purpose)
    if purpose is Purpose.LOOKUP:
        conclusion = _look_up(claimed, engine)
    elif purpose is Purpose.REPLAY and not key_alive(claimed.workflow, engine.clock.now()):
        # The claim may have waited: a replay under a forgotten key would be a second effect.
        conclusion = MarkUnknown(Doubt.OUTCOME_UNKNOWN)
    else:
        conclusion = _call(claimed, engine)
    return _settle(claimed, engine, conclusion, claimed=True)


def _claim(held: Held, engine: Engine, purpose: Purpose) -> Held:
    """Claim the workflow, re-reading inside the transaction what the claim rests on."""
    workflow = held.workflow
    with engine.journal.transaction() as transaction:
        # After the wait for the transaction: a claim must not look older than it is.
        at = format_instant(engine.clock.now())
        fresh = transaction.load(workflow.id)
        if fresh.row["revision"] != workflow.revision:
            raise Conflict(workflow.id, workflow.revision, int(fresh.row["revision"]))
        # The transaction's row comes without its records; the bytes to be sent are its own.
        claimed = held.after(workflow, fresh.with_records(held.stored.records))
        call = _call_of(claimed)
        draft = protocol.claim(
            workflow,
            purpose,
            driver=engine.token,
            digest=_digest_to_send(claimed, call),
            call=call,
        )
        unapproved = workflow.status is Status.PENDING_APPROVAL
        drafts = (Draft(Event.STARTED, {}), draft) if unapproved else (draft,)
        return write(transaction, claimed, drafts, at=at)


def _call_of(held: Held) -> Call:
    """The call that the program asks for at the present step."""
    workflow, command = held.workflow, held.command
    if not isinstance(command, Call):
        raise InvalidTransition(workflow.id, workflow.status, f"a call at step {workflow.step}")
    return command


def _digest_to_send(held: Held, call: Call) -> str:
    """The digest of the bytes that a call sends. Raises `ApprovalMismatch`."""
    workflow = held.workflow
    if not call.needs_approval:
        return call.action.digest
    found = found_digest(held.stored, workflow.approved_digest)
    # A program may ask for other bytes than those that are stored, and were approved.
    if call.action.canonical != held.stored.action:
        found = call.action.digest
    if found != workflow.approved_digest:
        raise ApprovalMismatch(workflow.id, str(workflow.approved_digest), found)
    return found


def _call(held: Held, engine: Engine) -> Conclusion:
    call = _tool_call(held)
    answer: Answer | ResumeproofError
    try:
        answer = engine.tool.call(call)
    except ResumeproofError as error:
        answer = error
    except OSError as error:
        answer = ToolUnreachable(call.workflow_id, str(error))
    return conclude_call(held.workflow, fingerprint=digest_of(call.action), answer=answer)


def _look_up(held: Held, engine: Engine) -> Conclusion:
    call = _tool_call(held)
    answer: Found | ResumeproofError
    try:
        answer = Found(engine.tool.lookup(call))
    except ResumeproofError as error:
        answer = error
    except OSError as error:
        answer = ToolUnreachable(held.workflow.id, str(error))
    return conclude_lookup(
        held.workflow,
        fingerprint=digest_of(call.action),
        now=engine.clock.now(),
        answer=answer,
    )


def _tool_call(held: Held) -> ToolCall:
    workflow, call = held.workflow, _call_of(held)
    return ToolCall(
        workflow_id=workflow.id,
        step=workflow.step,
        attempt=workflow.attempts,
        key=call.key,
        action=call.action.canonical,
        tool=call.action.tool,
    )


def _settle(held: Held, engine: Engine, conclusion: Conclusion, *, claimed: bool) -> Held:
    """Record an outcome in one commit; a failure to do so is counted and raised."""
    if isinstance(conclusion, Refuse):
        raise conclusion.error
    if isinstance(conclusion, LookupFailed) and not claimed:
        raise ToolUnreachable(held.workflow.id, conclusion.cause)
    retry_at, then = None, None
    if isinstance(conclusion, AttemptFailed):
        now = engine.clock.now()
        wait_seconds = backoff_seconds(
            held.workflow.retry_base_seconds, held.workflow.failures + 1, engine.identity.jitter()
        )
        retry_at = format_instant(now + timedelta(seconds=wait_seconds)) if wait_seconds else None
    if isinstance(conclusion, Acknowledge):
        command = held.command
        then = command.then if isinstance(command, Call) else None
    drafts = protocol.outcome(
        held.workflow, conclusion, claimed=claimed, then=then, retry_at=retry_at
    )
    settled = _commit(held, engine, drafts)
    if isinstance(conclusion, LookupFailed):
        raise ToolUnreachable(held.workflow.id, conclusion.cause)
    return settled


def write(transaction: JournalTransaction, held: Held, drafts: Sequence[Draft], *, at: str) -> Held:
    """Append the drafts' records, and those of the pure commands after them; then save.

    Records that a dead driver left ahead of the row become true by the same save.
    """
    records, workflow = _extended(held, drafts, at)
    for record in records:
        transaction.append(record)
    saved_revision = int(held.stored.row["revision"])
    transaction.save(workflow, held.stored.action, expected_revision=saved_revision)
    stored = Stored(
        row=workflow.row(),
        action=held.stored.action,
        action_digest=held.stored.action_digest,
        records=held.stored.records + records,
    )
    return held.after(workflow, stored)


def ends(held: Held, drafts: Sequence[Draft], *, at: str) -> bool:
    """Whether writing these drafts ends the workflow."""
    return _extended(held, drafts, at)[1].status in ENDED


def _extended(held: Held, drafts: Sequence[Draft], at: str) -> tuple[tuple[Record, ...], Workflow]:
    """The drafts' records and those of the pure commands after them, and the workflow then."""
    before = held.workflow
    records, workflow = protocol.extend(before, drafts, workflow_id=before.id, at=at)
    if workflow.status is Status.RUNNING and not workflow.in_doubt:
        follow_up = ending(held.after(workflow, held.stored))
        if follow_up:
            more, workflow = protocol.extend(workflow, follow_up, workflow_id=before.id, at=at)
            records += more
    return records, workflow
