"""What each store knew at the moment of a death, and which conclusion came from which of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

from resumeproof.domain.decision import Doubt, Purpose
from resumeproof.domain.status import Event
from resumeproof.evidence.lanes import Row
from resumeproof.evidence.order import Entry
from resumeproof.evidence.report.cases import Case
from resumeproof.evidence.report.machine import named, path_of
from resumeproof.evidence.report.markup import brief, counted

BOUNDARY_IN_WORDS: Final = MappingProxyType(
    {
        "claim:before": "before its claim was durable: nothing was sent",
        "claim:after": "after its claim, before it had sent anything",
        "tool:before": "just before it called the tool",
        "tool:after": "after the tool had committed, before the answer was written down",
        "ack:before": "with the answer in hand, before it was written down",
        "ack:after": "after all was written down, before anybody was told",
    }
)


class Source(StrEnum):
    """Who knew."""

    JOURNAL = "journal"
    LEDGER = "tool ledger"
    PERSON = "a person"
    NOBODY = "neither store"


@dataclass(frozen=True, slots=True)
class Conclusion:
    """Something that was concluded; `why` says what in the source it rests on."""

    text: str
    source: Source
    why: str
    person: str = "no"


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What the two stores held when a life died, and what that comes to."""

    life: int
    how: str
    where: str
    journal: tuple[str, ...]
    ledger: tuple[str, ...]
    gap: str


def knowledge(case: Case) -> Iterator[Knowledge]:
    """One for each death."""
    for life, rows, death in case.deaths:
        entries = [row.entry for row in rows if row.entry is not None]
        records = [entry for entry in entries if entry.store == "journal"]
        reached = [entry for entry in entries if entry.store == "ledger"]
        boundary = death.process.rpartition(" at ")[2].partition("#")[0]
        yield Knowledge(
            life,
            death.process,
            BOUNDARY_IN_WORDS.get(boundary, ""),
            tuple(_journal_held(records)),
            tuple(_ledger_held(case, reached)),
            _gap(records, reached),
        )


def _journal_held(records: Sequence[Entry]) -> Iterator[str]:
    status = path_of(entry.what for entry in records)[-1].after
    yield f"the workflow is {named(status)}"
    claim = _last_claim(records)
    if claim is None:
        yield "nobody has claimed it yet"
        return
    yield f"attempt {claim.attempt} was claimed, for a {claim.facts['purpose']}"
    yield (
        "no outcome of that attempt"
        if records[-1] is claim
        else f"its outcome: {_outcome(records[-1])}"
    )


def _outcome(record: Entry) -> str:
    return named(Event(record.what))


def _ledger_held(case: Case, reached: Sequence[Entry]) -> Iterator[str]:
    receipts = {effect["sequence"]: effect for effect in case.effects}
    applied = [entry for entry in reached if entry.what == "call applied"]
    for entry in applied:
        receipt = receipts[entry.facts["effect_sequence"]]
        yield f"effect {receipt['sequence']}, made in attempt {receipt['attempt']}"
        yield f"its receipt {brief(receipt['receipt_id'])}"
    if not applied:
        yield "no effect"
    calls = sum(entry.what.startswith("call") for entry in reached)
    yield f"{counted(calls, 'call')} reached the tool"


def _gap(records: Sequence[Entry], reached: Sequence[Entry]) -> str:
    effects = sum(entry.what == "call applied" for entry in reached)
    told = sum(entry.what == Event.EFFECT_ACKNOWLEDGED for entry in records)
    if effects > told:
        return (
            "The ledger knew of an effect that the journal did not. Whoever trusted the journal "
            "alone would act a second time."
        )
    if records[-1].what == Event.ATTEMPT_STARTED:
        return (
            "Nothing had happened yet, and the journal could not tell: with a claim and no "
            "outcome it looks the same when the effect is there."
        )
    return "The two agreed."


def _last_claim(records: Sequence[Entry]) -> Entry | None:
    claims = (entry for entry in reversed(records) if entry.what == Event.ATTEMPT_STARTED)
    return next(claims, None)


# -- conclusions -----------------------------------------------------------------------------


def conclusions(case: Case) -> Iterator[Conclusion]:
    """What the records after a claim say that somebody found out, in their order."""
    reached: Entry | None = None
    decided = any(entry.what in _DECISIONS for entry in case.entries)
    for entry in case.entries:
        if entry.store == "ledger":
            reached = entry
            continue
        dead = entry.facts.get("recovered_attempt")
        if dead is not None:
            yield Conclusion(
                f"Attempt {dead} died: it will not say what came of it",
                Source.JOURNAL,
                "a claim without an outcome, and no driver that holds the lock",
            )
        yield from _of_record(case, entry, reached, decided=decided)


_DECISIONS: Final = frozenset(
    {Event.RECONCILED_APPLIED, Event.RECONCILED_NOT_APPLIED, Event.DECIDED}
)


def _of_record(
    case: Case, entry: Entry, reached: Entry | None, *, decided: bool
) -> Iterator[Conclusion]:
    facts = entry.facts
    match entry.what:
        case Event.EFFECT_ACKNOWLEDGED:
            yield _acknowledged(facts)
        case Event.ATTEMPT_FAILED | Event.ATTEMPT_FAILED_IN_DOUBT:
            yield Conclusion(
                f"Attempt {entry.attempt} had no effect", Source.LEDGER, "it failed before one"
            )
        case Event.ABSENCE_PROVED:
            yield Conclusion(
                "No effect had happened, and no late call can make one",
                Source.LEDGER,
                "a consistent lookup, which fenced older attempts off",
            )
        case Event.LOOKUP_FAILED:
            yield Conclusion("Still nothing is known", Source.NOBODY, "the lookup failed")
        case Event.MARKED_UNKNOWN:
            yield Conclusion(
                "From here nobody can know whether the effect happened",
                Source.NOBODY,
                DOUBT_IN_WORDS[Doubt(facts["reason"])],
                "has decided" if decided else "has to decide",
            )
        case Event.RECONCILED_APPLIED | Event.RECONCILED_NOT_APPLIED | Event.DECIDED:
            applied = facts.get("applied", entry.what == Event.RECONCILED_APPLIED)
            yield Conclusion(
                "The effect happened" if applied else "No effect happened",
                Source.PERSON,
                f"{brief(facts['actor'])} looked, and says so: {brief(facts['note'] or 'no note')}",
                f"decided by {brief(facts['actor'])}",
            )
        case Event.FAILED:
            yield Conclusion("The workflow failed, without effect", Source.JOURNAL, facts["reason"])
        case Event.COMPLETED:
            yield Conclusion(
                "The workflow is completed", Source.JOURNAL, "its effect is acknowledged"
            )


def _acknowledged(facts: Mapping[str, Any]) -> Conclusion:
    sequence = facts["receipt"]["sequence"]
    if facts["source"] == Purpose.LOOKUP:
        why = "the tool was asked, and showed its receipt"
    elif facts["replayed"]:
        why = "called again under the same key, the tool answered with its first receipt"
    else:
        return Conclusion(
            f"Effect {sequence} happened now", Source.LEDGER, "the tool's answer to this call"
        )
    return Conclusion(f"Effect {sequence} had happened, and counts once", Source.LEDGER, why)


DOUBT_IN_WORDS: Final = MappingProxyType(
    {
        Doubt.OUTCOME_UNKNOWN: "the journal has a claim without an outcome, and the tool promises "
        "nothing that could settle it",
        Doubt.RETRIES_EXHAUSTED: "only another try could settle it, and none is left",
        Doubt.RECOVERY_LIMIT: "it was recovered as often as it may be",
        Doubt.APPROVAL_UNVERIFIABLE: "the approval does not bear these bytes",
        Doubt.RECEIPT_UNVERIFIABLE: "the tool's receipt does not verify",
        Doubt.KEY_CONFLICT: "the tool knows the key for another action",
        Doubt.JOURNAL_REWOUND: "the tool knows of attempts that the journal has no record of",
    }
)


def explained(case: Case) -> str:
    """Why the workflow came to what it came to, for whoever has read nothing else."""
    contract, status = case.workflow["contract"], case.workflow["status"]
    if status == "unknown":
        return f"{_cannot(contract, case.workflow['reason'])} {_UNKNOWN}"
    acknowledged = [entry for entry in case.entries if entry.what == Event.EFFECT_ACKNOWLEDGED]
    if status == "completed" and acknowledged:
        facts = acknowledged[-1].facts
        if facts["source"] == Purpose.LOOKUP:
            return (
                "The tool can be asked what came of a key. The resume asked, was shown the receipt "
                "of the effect that had happened, and called nothing."
            )
        if facts["replayed"]:
            return (
                "The tool keeps one effect for each key. The resume could not know whether its "
                "predecessor had acted, and did not need to: it called again under the same key, "
                "and the tool answered with its first receipt instead of acting twice."
            )
        return "The tool answered its last call, and both stores hold the answer."
    return _ENDS.get(status, "It has not come to an end yet.")


_ENDS: Final = MappingProxyType(
    {
        "reconciled_applied": "No store could tell, and a person did: the effect had happened.",
        "reconciled_not_applied": "No store could tell, and a person did: no effect had happened.",
        "failed": "It ended without an effect, and both stores say so.",
        "cancelled": "It was withdrawn before any attempt.",
    }
)
_UNKNOWN: Final = (
    "To call again might be to act twice, and not to call to have lost the action; so the resume "
    "did neither. The tool\u2019s ledger is drawn here for you; the resume cannot see it."
)


def not_asked(case: Case) -> str:
    """Why the tool does not settle it, in the few words that a picture has room for."""
    contract, reason = case.workflow["contract"], case.workflow["reason"]
    if reason != Doubt.OUTCOME_UNKNOWN:
        return ""
    if contract["lookup"] != "none":
        return "its answer would settle nothing"
    return (
        "not called: key may be forgotten"
        if contract["idempotent"]
        else "not called: it could act twice"
    )


def _cannot(contract: Mapping[str, Any], reason: str) -> str:
    begin = "All that the resume can see is a claim without an outcome, and that looks the same "
    begin += "whether the tool acted or not."
    if reason != Doubt.OUTCOME_UNKNOWN:
        return f"{begin} Here {DOUBT_IN_WORDS[Doubt(reason)]}."
    if contract["idempotent"]:
        return f"{begin} The tool may have forgotten its key by now."
    if contract["lookup"] == "none":
        return f"{begin} This tool takes no key that would make a repeat safe, and cannot be asked."
    return f"{begin} What the tool answers when it is asked does not settle it."


def rows_in_words(rows: Sequence[Row]) -> Iterator[tuple[Row, str]]:
    """Each row that stands for a record or a call, with the store it lies in."""
    for row in rows:
        if row.entry is not None:
            yield row, "journal" if row.entry.store == "journal" else "tool ledger"
