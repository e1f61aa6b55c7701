"""Check everything that two stores say, of themselves and of each other; name what does not hold.

The journal is held against its own hash chain and state machine, the ledger against its receipts'
hashes, and then each against the other: no effect without a claim, no acknowledgement without its
effect, no executed action without its approval.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from resumeproof.domain.canonical import digest_of
from resumeproof.domain.receipt import Receipt
from resumeproof.domain.record import Record
from resumeproof.domain.status import Event
from resumeproof.domain.workflow import Stored, Workflow, inspect
from resumeproof.errors import EvidenceBroken, ResumeproofError
from resumeproof.stores.sqlite_journal import SqliteJournal
from resumeproof.stores.sqlite_ledger import SqliteLedger
from resumeproof.stores.sqlite_ledger_rows import Effect, Invocation, InvocationOutcome

_ANSWERED = frozenset({InvocationOutcome.APPLIED, InvocationOutcome.REPLAYED})


def audit(journal: SqliteJournal, ledger: SqliteLedger) -> None:
    """Check both stores as they are. Raises `EvidenceBroken` for the first thing that is wrong."""
    _check_pages(journal)
    _check_pages(ledger)
    effects = _check_ledger(ledger)
    known = set()
    for stored in journal.rows():
        workflow_id = str(stored.row["id"])
        known.add(workflow_id)
        _check_workflow(journal.load(workflow_id), journal, ledger, effects)
    for effect in effects.values():
        if effect.receipt.workflow_id not in known:
            raise _broken(ledger, _named(effect), "its workflow is in no row of the journal")


def _check_pages(store: SqliteJournal | SqliteLedger) -> None:
    for problem in store.database.rows("PRAGMA integrity_check"):
        if problem[0] != "ok":
            raise _broken(store, "the database file", str(problem[0]))
    for problem in store.database.rows("PRAGMA foreign_key_check"):
        raise _broken(store, f"a reference of table {problem[0]}", f"row {problem[1]}")


def _check_ledger(ledger: SqliteLedger) -> dict[int, Effect]:
    effects: dict[int, Effect] = {}
    for sequence, effect in enumerate(ledger.effects(), start=1):
        if effect.receipt.sequence != sequence:
            raise _broken(ledger, f"effect {sequence}", "it is missing")
        if damage := effect.damage:
            raise _broken(ledger, _named(effect), damage)
        effects[sequence] = effect
    applied = set()
    for sequence, invocation in enumerate(ledger.invocations(), start=1):
        if invocation.sequence != sequence:
            raise _broken(ledger, f"invocation {sequence}", "it is missing")
        _check_invocation(ledger, invocation, effects)
        if invocation.outcome == InvocationOutcome.APPLIED:
            applied.add(invocation.effect_sequence)
    for sequence, effect in effects.items():
        if sequence not in applied:
            raise _broken(ledger, _named(effect), "no invocation applied it")
    return effects


def _check_invocation(
    ledger: SqliteLedger, invocation: Invocation, effects: dict[int, Effect]
) -> None:
    name = f"invocation {invocation.sequence}"
    if invocation.outcome not in _ANSWERED:
        return
    effect = effects.get(invocation.effect_sequence or 0)
    if effect is None:
        raise _broken(ledger, name, "the effect that answered it is missing")
    receipt = effect.receipt
    if receipt.fingerprint != invocation.fingerprint or receipt.key != invocation.key:
        raise _broken(ledger, name, f"it differs from effect {receipt.sequence}, its answer")
    asked = (invocation.workflow_id, invocation.step, invocation.attempt)
    applied_for = (receipt.workflow_id, receipt.step, receipt.attempt)
    if invocation.outcome == InvocationOutcome.APPLIED and asked != applied_for:
        raise _broken(ledger, name, f"effect {receipt.sequence} was applied for another attempt")


def _check_workflow(
    stored: Stored, journal: SqliteJournal, ledger: SqliteLedger, effects: Mapping[int, Effect]
) -> None:
    name = f"workflow {stored.row['id']}"
    inspection = inspect(stored)
    workflow = inspection.workflow
    if workflow is None:
        raise _broken(journal, name, str(inspection.damage))
    of_bytes = digest_of(stored.action)
    if not of_bytes == stored.action_digest == workflow.action_digest:
        raise _broken(journal, name, "its action is not the one its timeline names")
    if workflow.ledger_id != ledger.ledger_id:
        raise _broken(journal, name, f"it belongs to ledger {workflow.ledger_id}")
    contract, _ = ledger.registration(workflow.id)
    if contract != workflow.contract:
        raise _broken(ledger, f"the contract of {name}", "the journal has another one")
    _check_acknowledgements(stored, journal, ledger, effects)
    _check_claims(workflow, stored.records, ledger)


def _check_acknowledgements(
    stored: Stored, journal: SqliteJournal, ledger: SqliteLedger, effects: Mapping[int, Effect]
) -> None:
    name = f"workflow {stored.row['id']}"
    for record in _of(stored.records, Event.EFFECT_ACKNOWLEDGED):
        receipt = Receipt.from_json(record.facts["receipt"])
        if damage := receipt.damage(fingerprint=digest_of(stored.action)):
            raise _broken(journal, name, damage)
        effect = effects.get(receipt.sequence)
        if effect is None:
            detail = f"{name} acknowledged it, and it is missing"
            raise _broken(ledger, f"effect {receipt.sequence}", detail)
        if effect.receipt != receipt:
            raise _broken(ledger, _named(effect), f"{name} acknowledged another receipt")


def _check_claims(workflow: Workflow, records: Iterable[Record], ledger: SqliteLedger) -> None:
    """Whatever reached the tool was claimed first, with bytes that were approved then."""
    claimed = {
        int(record.facts["attempt"]): str(record.facts["digest"])
        for record in _of(records, Event.ATTEMPT_STARTED)
    }
    approved = {str(record.facts["digest"]) for record in _of(records, Event.APPROVED)}
    for invocation in ledger.invocations(workflow.id):
        name = f"invocation {invocation.sequence}"
        if invocation.attempt not in claimed:
            raise _broken(
                ledger, name, f"the journal has no attempt {invocation.attempt} of {workflow.id}"
            )
        if invocation.fingerprint != claimed[invocation.attempt]:
            raise _broken(ledger, name, "it sent other bytes than its attempt claimed")
        if invocation.fingerprint not in approved:
            raise _broken(ledger, name, "its action bears no approval")


def _of(records: Iterable[Record], event: Event) -> Iterator[Record]:
    return (record for record in records if record.event == event)


def _named(effect: Effect) -> str:
    return f"effect {effect.receipt.sequence}"


def _broken(store: SqliteJournal | SqliteLedger, what: str, detail: str) -> ResumeproofError:
    return EvidenceBroken(str(store.path), what, detail)
