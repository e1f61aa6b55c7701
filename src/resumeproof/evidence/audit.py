"""Check everything that two stores say, of themselves and of each other; name what does not hold.

The journal is held against its own hash chain and state machine, the ledger against its receipts'
hashes, and then each against the other: no effect without a claim, no acknowledgement without its
effect, no executed action without its approval.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from resumeproof.domain.canonical import digest_of
from resumeproof.domain.contract import Lookup
from resumeproof.domain.decision import Purpose
from resumeproof.domain.inspection import Stored, inspect
from resumeproof.domain.receipt import Receipt
from resumeproof.domain.status import Event
from resumeproof.domain.workflow import Workflow
from resumeproof.errors import EvidenceBroken
from resumeproof.evidence.audit_ledger import audit_ledger
from resumeproof.evidence.audit_timeline import Journal, Told, timeline_problem
from resumeproof.evidence.contents import Contents
from resumeproof.stores.sqlite_ledger_rows import FencedLookup, Invocation, InvocationOutcome


def audit(contents: Contents) -> None:
    """Check both stores. Raises `EvidenceBroken` for the first thing that does not hold."""
    _check_places(contents)
    cases = [_sound(stored, contents) for stored in contents.workflows]
    audit_ledger(contents)
    journal = {case.workflow.id: Told(case.workflow, case.stored.records) for case in cases}
    for case in cases:
        _check_facts(case, journal)


def _check_places(contents: Contents) -> None:
    """Workflows are numbered as they were created, without a gap."""
    for number, next_number in pairwise(contents.numbers):
        if number == next_number:
            raise EvidenceBroken(
                str(contents.journal.path), f"workflow number {number}", "it is there twice"
            )
    missing = sorted(set(range(1, len(contents.numbers) + 1)) - set(contents.numbers))
    if missing:
        # Numbers are unique by now: for each that is missing there is one that is beyond.
        beyond = next(
            f"workflow {stored.row['id']} has number {number}"
            for number, stored in zip(contents.numbers, contents.workflows, strict=True)
            if not 1 <= number <= len(contents.numbers)
        )
        detail = f"it is missing, and {beyond}"
        raise EvidenceBroken(str(contents.journal.path), f"workflow number {missing[0]}", detail)


def _sound(stored: Stored, contents: Contents) -> _Case:
    name = f"workflow {stored.row['id']}"
    inspection = inspect(stored)
    if inspection.workflow is None:
        raise EvidenceBroken(str(contents.journal.path), name, str(inspection.damage))
    case = _Case(inspection.workflow, stored, contents, name)
    case.check_ledger()
    case.check_action()
    return case


def _check_facts(case: _Case, journal: Journal) -> None:
    try:
        case.check_timeline(journal)
        case.check_contract()
        claims = case.claims()
        case.check_invocations(claims)
        case.check_lookups(claims)
        case.check_acknowledgements(claims)
    except (KeyError, TypeError, ValueError) as error:
        # The chain holds, so that whoever wrote these facts chained them anew.
        path = str(case.contents.journal.path)
        raise EvidenceBroken(path, case.name, f"malformed facts ({error!r})") from error


@dataclass(frozen=True, slots=True)
class _Case:
    """One sound workflow, held against the ledger."""

    workflow: Workflow
    stored: Stored
    contents: Contents
    name: str

    def check_ledger(self) -> None:
        told, found = self.workflow.ledger_id, self.contents.ledger.id
        if told != found:
            raise self._journal(f"it belongs to ledger {told}, and column ledger_id is {found}")

    def check_action(self) -> None:
        column, told = self.stored.action_digest, self.workflow.action_digest
        if column != told:
            raise self._journal(f"column action_digest is {column!r}, the timeline says {told!r}")
        if digest_of(self.stored.action) != told:
            raise self._journal("column action is not what its digest is of")

    def check_timeline(self, journal: Journal) -> None:
        if problem := timeline_problem(journal[self.workflow.id], journal):
            raise self._journal(problem)

    def check_contract(self) -> None:
        workflow = self.workflow
        registered = [
            row for row in self.contents.registrations if row["workflow_id"] == workflow.id
        ]
        if not registered:
            raise self._ledger(f"the registration of {self.name}", "it is missing")
        told = {**workflow.contract.to_json(), "tool": workflow.contract.name}
        for column in registered[0].keys() & told.keys():
            if registered[0][column] != told[column]:
                detail = f"column {column} is {registered[0][column]!r}, not {told[column]!r}"
                raise self._ledger(f"the registration of {self.name}", detail)

    def claims(self) -> dict[int, Mapping[str, Any]]:
        """The facts of each claim, by its attempt. Attempts are numbered without a gap."""
        claims: dict[int, Mapping[str, Any]] = {}
        for place, facts in enumerate(self._facts(Event.ATTEMPT_STARTED), start=1):
            if facts["attempt"] != place:
                raise self._journal(f"attempt {place} is missing in its timeline")
            claims[place] = facts
        return claims

    def check_invocations(self, claims: Mapping[int, Mapping[str, Any]]) -> None:
        """Whatever reached the tool was claimed first, with the same bytes."""
        for invocation in self._invocations():
            name = f"invocation {invocation.sequence}"
            claim = claims.get(invocation.attempt)
            self._check_claimed(invocation, claim, name)
            if claim is not None and claim["purpose"] == Purpose.LOOKUP:
                raise self._ledger(name, f"attempt {invocation.attempt} was claimed for a lookup")
            if claim is not None and invocation.fingerprint != claim["digest"]:
                raise self._ledger(name, "column fingerprint: its attempt claimed other bytes")

    def check_lookups(self, claims: Mapping[int, Mapping[str, Any]]) -> None:
        for lookup in self._lookups():
            name = f"lookup {lookup.sequence}"
            claim = claims.get(lookup.attempt)
            self._check_claimed(lookup, claim, name)
            if claim is not None and claim["purpose"] != Purpose.LOOKUP:
                raise self._ledger(name, f"attempt {lookup.attempt} was claimed for a call")

    def _check_claimed(
        self,
        reached: Invocation | FencedLookup,
        claim: Mapping[str, Any] | None,
        name: str,
    ) -> None:
        if claim is None:
            detail = f"the journal has no attempt {reached.attempt} of {self.name}"
            raise self._ledger(name, detail)
        if reached.step != claim["step"]:
            detail = f"column step is {reached.step!r}, its attempt claimed {claim['step']!r}"
            raise self._ledger(name, detail)
        key = claim.get("key", self.workflow.key)
        if reached.key != key:
            detail = f"column key is {reached.key!r}, its attempt claimed {key!r}"
            raise self._ledger(name, detail)

    def check_acknowledgements(self, claims: Mapping[int, Mapping[str, Any]]) -> None:
        effects = {effect.receipt.sequence: effect for effect in self.contents.effects}
        for facts in self._facts(Event.EFFECT_ACKNOWLEDGED):
            receipt = Receipt.from_json(facts["receipt"])
            claimed = claims[facts["attempt"]]["digest"]
            if damage := receipt.damage(fingerprint=claimed):
                raise self._journal(damage)
            effect = effects.get(receipt.sequence)
            name = f"effect {receipt.sequence}"
            if effect is None:
                raise self._ledger(name, f"{self.name} acknowledged it, and it is missing")
            if effect.receipt != receipt:
                raise self._ledger(name, f"{self.name} acknowledged another receipt")
            self._check_answered(facts, receipt)

    def _check_answered(self, facts: Mapping[str, Any], receipt: Receipt) -> None:
        """The attempt that acknowledged was told so: by a call, or by a lookup."""
        attempt, replayed = facts["attempt"], facts["replayed"]
        if facts["source"] == Purpose.LOOKUP:
            # An eventual lookup leaves no row, since it sets no fence.
            told = self.workflow.contract.lookup is Lookup.EVENTUAL or any(
                lookup.effect_sequence == receipt.sequence
                for lookup in self._lookups()
                if lookup.attempt == attempt
            )
        else:
            outcome = InvocationOutcome.REPLAYED if replayed else InvocationOutcome.APPLIED
            told = any(
                (each.outcome, each.effect_sequence) == (outcome, receipt.sequence)
                for each in self._invocations()
                if each.attempt == attempt
            )
        if not told:
            detail = f"{self.name} acknowledged it in attempt {attempt}, which was not told so"
            raise self._ledger(f"effect {receipt.sequence}", detail)

    def _facts(self, event: Event) -> Iterator[Mapping[str, Any]]:
        return (record.facts for record in self.stored.records if record.event == event)

    def _invocations(self) -> Iterator[Invocation]:
        rows = self.contents.invocations
        return (row for row in rows if row.workflow_id == self.workflow.id)

    def _lookups(self) -> Iterator[FencedLookup]:
        return (row for row in self.contents.lookups if row.workflow_id == self.workflow.id)

    def _journal(self, detail: str) -> EvidenceBroken:
        return EvidenceBroken(str(self.contents.journal.path), self.name, detail)

    def _ledger(self, what: str, detail: str) -> EvidenceBroken:
        return EvidenceBroken(str(self.contents.ledger.path), what, detail)
