"""What two stores say against a runtime: the ordering invariant, the terminal records, the chain.

The invariant's first half holds at every prefix, in whatever a death has left: no state without its
record. Its other half holds once the drivers are done: no record that the state denies.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from resumeproof.domain.inspection import Stored, inspect
from resumeproof.domain.status import ENDED, TRANSITIONS
from resumeproof.domain.verdict import FindingKind, Violation
from resumeproof.errors import JournalDamaged
from resumeproof.proof.shapes.shape import Ending
from resumeproof.runtime.lock import probe
from resumeproof.stores.json_form import TIMELINE_NAME, WORKFLOWS_NAME, directory_name
from resumeproof.stores.protocols import Journal
from resumeproof.stores.sqlite_ledger import SqliteLedger
from resumeproof.stores.sqlite_ledger_rows import InvocationOutcome

TERMINAL: Final = frozenset(event for (_, event), after in TRANSITIONS.items() if after in ENDED)
"""The events whose record ends a workflow."""


def at_any_prefix(journal: Journal) -> Iterator[Violation]:
    """What must not be in a journal, whatever its drivers died of."""
    try:
        rows = list(journal.rows())
    except JournalDamaged as error:
        yield Violation(FindingKind.EVIDENCE_BROKEN, str(error))
        return
    for row in rows:
        try:
            stored = journal.load(str(row.row["id"]))
        except JournalDamaged as error:
            yield _damaged(journal, row, str(error))
            continue
        yield from _repeated(stored)
        damage = inspect(stored).damage
        if damage is not None:
            yield _of_two_lengths(row, len(stored.records), f"{stored.row['id']}: {damage}")


def when_done(
    journal: Journal, ledger: SqliteLedger, endings: Mapping[str, Ending]
) -> Iterator[Violation]:
    """What must not be in two stores once the drivers are done, and nothing is left to do."""
    if probe(journal.path).held:
        yield Violation(FindingKind.LOCK_LEAKED, f"the lock of {journal.path.name} is held")
    broken = list(at_any_prefix(journal))
    yield from broken
    for effect in ledger.effects():
        if effect.damage is not None:
            yield Violation(FindingKind.EVIDENCE_BROKEN, f"a receipt: {effect.damage}")
    if any(violation.kind is not FindingKind.TERMINAL_REPEATED for violation in broken):
        return
    stored = [journal.load(str(row.row["id"])) for row in journal.rows()]
    for each in stored:
        if each.save_missing or each.uncommitted is not None:
            ahead = each.uncommitted or f"{len(each.records)} records, {each.row['revision']} saved"
            yield Violation(FindingKind.RECORD_AHEAD, f"{each.row['id']}: {ahead}")
    yield from _unended(stored, endings)
    yield from _otherwise(stored, endings)


def name_of(workflow_id: str) -> str:
    """A workflow's id without what a recovery may change: a child is named after its step."""
    parent, _, revision = workflow_id.rpartition(".")
    return parent if revision.isdigit() else workflow_id


def absorbed(ledger: SqliteLedger) -> int:
    """How many calls of the tool were answered with the receipt of an earlier one."""
    return sum(each.outcome == InvocationOutcome.REPLAYED for each in ledger.invocations())


def _unended(stored: Iterable[Stored], endings: Mapping[str, Ending]) -> Iterator[Violation]:
    ended = {name_of(str(each.row["id"])) for each in stored if _terminal_records(each)}
    for name, ending in endings.items():
        if ending.status in ENDED and name not in ended:
            yield Violation(FindingKind.TERMINAL_MISSING, f"{name} has no terminal record")


def _otherwise(stored: Iterable[Stored], endings: Mapping[str, Ending]) -> Iterator[Violation]:
    """What came to something else than its shape says, whatever the baseline came to."""
    found: dict[str, list[Ending]] = {}
    for each in stored:
        workflow = inspect(each).sound()
        ending = Ending(str(workflow.status), workflow.output)
        found.setdefault(name_of(workflow.id), []).append(ending)
    for name in sorted(found.keys() | endings.keys()):
        due = [endings[name]] if name in endings else []
        if found.get(name, []) != due:
            detail = f"{name} came to {found.get(name, [])}, and was to come to {due}"
            yield Violation(FindingKind.RESUME_DIVERGED, detail)


def _repeated(stored: Stored) -> Iterator[Violation]:
    count = _terminal_records(stored)
    if count > 1:
        detail = f"{stored.row['id']} has {count} terminal records"
        yield Violation(FindingKind.TERMINAL_REPEATED, detail)


def _terminal_records(stored: Stored) -> int:
    return sum(record.event in TERMINAL for record in stored.records)


def _damaged(journal: Journal, row: Stored, damage: str) -> Violation:
    """A JSON journal does not even read what stands before its record."""
    timeline = journal.path / WORKFLOWS_NAME / directory_name(str(row.row["id"])) / TIMELINE_NAME
    records = timeline.read_bytes().count(b"\n") if timeline.is_file() else 0
    return _of_two_lengths(row, records, damage)


def _of_two_lengths(row: Stored, records: int, damage: str) -> Violation:
    revision = row.row["revision"]
    if records < revision:
        return Violation(FindingKind.STATE_AHEAD, damage)
    kind = FindingKind.RECORD_AHEAD if records > revision else FindingKind.EVIDENCE_BROKEN
    return Violation(kind, damage)
