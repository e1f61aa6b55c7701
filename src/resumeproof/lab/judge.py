"""What the two stores of a lab scenario say against the driver that filled them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from resumeproof.domain.inspection import inspect
from resumeproof.domain.record import Record
from resumeproof.domain.status import Event, Status
from resumeproof.domain.verdict import FindingKind, Violation
from resumeproof.errors import EvidenceBroken, JournalDamaged
from resumeproof.evidence.audit import audit
from resumeproof.evidence.contents import read_contents
from resumeproof.proof.shapes.judge import TERMINAL, at_any_prefix
from resumeproof.stores.sqlite_journal import SqliteJournal
from resumeproof.stores.sqlite_ledger import SqliteLedger

_FAILED_BEFORE_EFFECT = frozenset({Event.ATTEMPT_FAILED, Event.ATTEMPT_FAILED_IN_DOUBT})


def against_driver(
    journal: SqliteJournal, ledger: SqliteLedger, workflow_id: str
) -> Iterator[Violation]:
    """The guarantees that a driver broke on its way to where it rests, each under its own name.

    What has no other name is `evidence_broken`: the two stores do not stand an audit. Raises
    `StoreUnavailable` for a journal that somebody is still writing.
    """
    try:
        named = list(_named(journal, ledger, workflow_id))
        yield from named
        # An audit stops at the first thing that does not hold; it would be one of these again.
        if not named:
            audit(read_contents(journal, ledger))
    except (EvidenceBroken, JournalDamaged) as error:
        yield Violation(FindingKind.EVIDENCE_BROKEN, str(error))


def _named(journal: SqliteJournal, ledger: SqliteLedger, workflow_id: str) -> Iterator[Violation]:
    yield from at_any_prefix(journal)
    stored = journal.load(workflow_id)
    workflow = inspect(stored).workflow
    if workflow is not None:
        yield from _unended(stored.records, workflow.status)
        yield from _unapproved(stored.records, ledger, workflow_id)
        yield from _repeated(stored.records)
        yield from _over_cap(stored.records, workflow.max_retries)


def _unended(records: Sequence[Record], status: Status) -> Iterator[Violation]:
    """A workflow in doubt is no driver's to end."""
    if status is not Status.UNKNOWN and not any(each.event in TERMINAL for each in records):
        detail = f"{records[0].workflow_id} has no terminal record"
        yield Violation(FindingKind.TERMINAL_MISSING, f"{detail}; it rests as {status}")


def _unapproved(
    records: Sequence[Record], ledger: SqliteLedger, workflow_id: str
) -> Iterator[Violation]:
    approved = {each.facts["digest"] for each in records if each.event == Event.APPROVED}
    for invocation in ledger.invocations(workflow_id):
        if invocation.fingerprint not in approved:
            detail = f"attempt {invocation.attempt} sent bytes that bear no approval"
            yield Violation(FindingKind.EFFECT_UNAPPROVED, detail)


def _repeated(records: Sequence[Record]) -> Iterator[Violation]:
    acknowledged: set[str] = set()
    for record in records:
        if record.event == Event.EFFECT_ACKNOWLEDGED:
            acknowledged.add(record.facts["step"])
        elif record.event == Event.ATTEMPT_STARTED and record.facts["step"] in acknowledged:
            facts = record.facts
            detail = f"attempt {facts['attempt']} runs step {facts['step']!r} once more"
            yield Violation(FindingKind.WORK_REPEATED, f"{detail}, which was acknowledged")


def _over_cap(records: Sequence[Record], max_retries: int) -> Iterator[Violation]:
    """Counted from the records: a row's or a driver's own count may be what is wrong."""
    failures = 0
    for record in records:
        if record.event == Event.EFFECT_ACKNOWLEDGED:
            failures = 0
        failures += record.event in _FAILED_BEFORE_EFFECT
        if failures > max_retries:
            detail = f"attempt {record.facts['attempt']} is failure {failures} of {max_retries}"
            yield Violation(FindingKind.RETRY_CAP_EXCEEDED, detail)
            return
