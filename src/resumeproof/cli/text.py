"""Workflows and effects as text for people, made from the same JSON that programs get.

Whatever is shown here passes `resumeproof.domain.printable.shown`, line by line, on its way out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from resumeproof.domain.status import Status

_LABEL_WIDTH = 12

Document = Mapping[str, Any]


def workflow_lines(workflow: Document) -> Iterator[str]:
    """One workflow, with the whole action: it is what somebody is asked to approve."""
    yield _line("workflow", workflow["id"])
    yield _line("status", status_text(workflow))
    yield _line("action", (workflow["action"] or {}).get("tool", "unreadable"))
    if workflow["action"]:
        arguments = json.dumps(workflow["action"]["arguments"], indent=2, ensure_ascii=False)
        yield from ("  " + line for line in arguments.split("\n"))
    yield _line("digest", workflow["action_digest"])
    if workflow["found_digest"] != workflow["action_digest"]:
        yield _line("", f"CHANGED BY HAND: the stored bytes are {workflow['found_digest']}")
    yield _line("approved", _approval(workflow))
    yield _line("tool", contract_text(workflow["contract"], workflow["key"]))
    yield _line(
        "attempts",
        f"{workflow['attempts']} ({workflow['retries']} of {workflow['max_retries']} failed before "
        f"an effect; {workflow['recoveries']} found dead, at most {workflow['max_recoveries']} "
        "in a row)",
    )
    if receipt := workflow["receipt"]:
        replayed = "replayed: the first call's" if receipt["replayed"] else "not replayed"
        yield _line("receipt", receipt["receipt_id"])
        yield _line("", f"{replayed}, applied {receipt['applied_at']}")
    if decision := workflow["decision"]:
        yield _line("decision", f"{decision['resolution']}, at {decision['at']}")
        yield _line("actor", decision["actor"])
        if decision["note"]:
            yield _line("note", decision["note"])
    elif workflow["status"] == Status.UNKNOWN:
        yield _line("decision", "due: find out what happened, then `resumeproof reconcile`")
    yield _line("updated", workflow["updated_at"])


def status_text(workflow: Document) -> str:
    """The status, and what has to be known about it at once."""
    status = str(workflow["status"])
    details = []
    if workflow["driver"] is not None:
        details.append("driven now" if workflow["driver"]["alive"] else "its driver is gone")
    if workflow["reason"]:
        details.append(workflow["reason"])
    if workflow["retry_at"]:
        details.append(f"not before {workflow['retry_at']}")
    return f"{status} ({', '.join(details)})" if details else status


def contract_text(contract: Document, key: str | None) -> str:
    """What the tool promises, in one line."""
    promises = ["idempotent" if contract["idempotent"] else "not idempotent"]
    if contract["key_lifetime_seconds"] is not None:
        promises.append(f"key remembered {contract['key_lifetime_seconds']:g} s")
    promises.append("no lookup" if contract["lookup"] == "none" else f"{contract['lookup']} lookup")
    if contract["lookup_lag_seconds"]:
        promises[-1] += f", {contract['lookup_lag_seconds']:g} s late"
    promises.append("no key" if key is None else f"key {key}")
    return ", ".join(promises)


def queue_lines(workflows: Iterable[Document]) -> Iterator[str]:
    """Workflows, one a line."""
    rows = [
        (str(each["id"]), str(each["mode"]), _to_the_second(each["updated_at"]), status_text(each))
        for each in workflows
    ]
    if not rows:
        yield "no workflows"
        return
    yield from columns([("workflow", "mode", "updated", "status"), *rows])


def ledger_lines(ledger: Document) -> Iterator[str]:
    """What a tool ledger holds."""
    totals = ledger["totals"]
    yield f"ledger {ledger['ledger_id']}"
    yield (
        f"{_counted(totals['effects'], 'effect')}, "
        f"{_counted(totals['invocations'], 'invocation')}, "
        f"{_counted(totals['replays'], 'replay')}"
    )
    if totals["second_effects"]:
        yield f"{_counted(totals['second_effects'], 'effect')} beyond the first of a key"
    if ledger["effects"]:
        yield ""
        yield from columns(
            [
                ("#", "applied", "workflow", "attempt", "tool", "key"),
                *(
                    (
                        str(effect["sequence"]),
                        _to_the_second(effect["applied_at"]),
                        effect["workflow_id"],
                        str(effect["attempt"]),
                        effect["tool"],
                        effect["key"] or "-",
                    )
                    for effect in ledger["effects"]
                ),
            ]
        )
        for effect in ledger["effects"]:
            if effect["damage"]:
                yield f"effect {effect['sequence']} is damaged: {effect['damage']}"


def columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A table; the last column is as wide as it is."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        yield "  ".join([*cells[:-1], row[-1]])


def _to_the_second(at: str) -> str:
    """An instant without its fraction, for a table that has to fit a terminal."""
    return f"{at.partition('.')[0]}Z"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _approval(workflow: Document) -> str:
    if workflow["approved_digest"] is None:
        return "no"
    if workflow["approved_digest"] == workflow["found_digest"]:
        return "yes, by this digest"
    return f"other bytes: {workflow['approved_digest']}"


def _line(label: str, value: object) -> str:
    return f"{label:<{_LABEL_WIDTH}}{value}"
