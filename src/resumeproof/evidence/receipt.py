"""`receipt.json`: evidence of a run that anybody can re-check.

Everything in it but the account of the processes can be derived again from the two databases that
lie beside it, and `evidence.verify` does so.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sqlite3
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resumeproof.domain.observation import ScenarioRun
from resumeproof.domain.record import Record
from resumeproof.domain.status import Status
from resumeproof.domain.workflow import inspect
from resumeproof.errors import JournalDamaged, StoreUnavailable
from resumeproof.evidence.order import entries_of
from resumeproof.evidence.timeline import UNICODE, Glyphs, heading, render
from resumeproof.evidence.workflow import workflow_json
from resumeproof.stores.sqlite_journal import SqliteJournal
from resumeproof.stores.sqlite_ledger import SqliteLedger
from resumeproof.stores.sqlite_ledger_rows import InvocationOutcome

SCHEMA_VERSION = 1
RECEIPT_NAME = "receipt.json"
TIMELINE_NAME = "timeline.txt"

_FROM_WORKFLOW = (
    "id", "mode", "key", "status", "reason", "action", "action_digest", "approved_digest",
    "contract", "attempts", "retries", "recoveries", "receipt", "decision",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ScenarioEvidence:
    """What was done to one workflow, and under which durability its stores were written.

    `durability` has, for "journal" and "ledger", the journal mode and synchronous setting that
    were in force in the lives.
    """

    workflow_id: str
    run: ScenarioRun
    durability: Mapping[str, Mapping[str, str]]

    def to_json(self) -> dict[str, Any]:
        first = self.run.lives[0]
        return {
            "child_exit": first.exit,
            "durability": {store: dict(found) for store, found in self.durability.items()},
            "kill": self.run.kill,
            "lives": [
                {"exit": life.exit, "planned": life.planned, "witnessed": life.witnessed}
                for life in self.run.lives
            ],
            "name": self.run.subject,
            "pids": [life.pid for life in self.run.lives],
            "plan": self.run.plan,
            "workflow_id": self.workflow_id,
        }

    def deaths(self) -> list[str]:
        """The deaths in words, for the picture."""
        return [
            f"{life.exit['text']} at {life.witnessed}"
            for life in self.run.lives
            if life.witnessed is not None
        ]


def write_evidence(
    directory: Path, *, journal: Path, ledger: Path, scenarios: Sequence[ScenarioEvidence]
) -> tuple[dict[str, Any], str]:
    """Write `receipt.json` and `timeline.txt` into `directory`; return what they hold.

    The stores must be at rest. Raises `JournalDamaged` or what opening a store raises.
    """
    with SqliteJournal.open_reader(journal) as workflows, SqliteLedger.open_reader(ledger) as tool:
        derived = derive(workflows, tool)
        timeline = pictures(workflows, tool, scenarios)
    receipt = {
        "environment": environment(),
        "kind": "demo",
        "scenarios": [scenario.to_json() for scenario in scenarios],
        "schema_version": SCHEMA_VERSION,
        "stores": {"journal": _file(journal), "ledger": _file(ledger)},
        **derived,
    }
    text = json.dumps(receipt, indent=2, ensure_ascii=False, sort_keys=True) + "\n"
    write_durably(directory / RECEIPT_NAME, text)
    write_durably(directory / TIMELINE_NAME, timeline)
    return receipt, timeline


def derive(journal: SqliteJournal, ledger: SqliteLedger) -> dict[str, Any]:
    """All of a receipt file that the two databases alone prove."""
    workflows = [_workflow(journal, ledger, str(stored.row["id"])) for stored in journal.rows()]
    replays = sum(
        invocation.outcome == InvocationOutcome.REPLAYED for invocation in ledger.invocations()
    )
    unknown = sum(workflow["status"] == Status.UNKNOWN for workflow in workflows)
    return {
        "totals": {"effects": ledger.effect_count(), "replays": replays, "unknown": unknown},
        "workflows": workflows,
    }


def _workflow(journal: SqliteJournal, ledger: SqliteLedger, workflow_id: str) -> dict[str, Any]:
    stored = journal.load(workflow_id)
    inspection = inspect(stored)
    if inspection.workflow is None:
        raise JournalDamaged(workflow_id, str(inspection.damage))
    facts = workflow_json(stored, inspection.workflow, driver_alive=False)
    return {name: facts[name] for name in _FROM_WORKFLOW} | {
        "effects": ledger.effect_count(workflow_id),
        "invocations": sum(1 for _ in ledger.invocations(workflow_id)),
        "timeline": [_record(record) for record in stored.records],
    }


def _record(record: Record) -> dict[str, Any]:
    return {
        "at": record.at,
        "event": str(record.event),
        "facts": record.facts,
        "hash": record.hash,
        "previous": record.previous,
        "sequence": record.sequence,
    }


def pictures(
    journal: SqliteJournal,
    ledger: SqliteLedger,
    scenarios: Sequence[ScenarioEvidence],
    glyphs: Glyphs = UNICODE,
) -> str:
    """The timeline of each scenario's workflow, one below the other."""
    drawn = []
    for scenario in scenarios:
        stored = journal.load(scenario.workflow_id)
        workflow = inspect(stored).sound()
        title = heading(workflow_json(stored, workflow, driver_alive=False), glyphs)
        picture = render(
            entries_of(stored.records, ledger), deaths=scenario.deaths(), glyphs=glyphs
        )
        drawn.append(f"{title}\n\n{picture}")
    return "\n".join(drawn)


def environment() -> dict[str, str]:
    """What the run was made with."""
    from resumeproof import __version__

    return {
        "platform": sys.platform,
        "python": platform.python_version(),
        "resumeproof": __version__,
        "sqlite": sqlite3.sqlite_version,
    }


def _file(path: Path) -> dict[str, str]:
    return {"file": path.name, "sha256": file_digest(path)}


def file_digest(path: Path) -> str:
    """SHA-256 of a file's bytes. Raises `StoreUnavailable`."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise StoreUnavailable("store", str(path), str(error)) from error


def write_durably(path: Path, text: str) -> None:
    """Write a text file whole: a temporary file, synced, renamed. Raises `StoreUnavailable`."""
    temporary = path.with_name(f".{path.name}.new")
    try:
        with temporary.open("w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        # Without this the rename itself may be lost with the power.
        if sys.platform != "win32":
            descriptor = os.open(path.parent, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise StoreUnavailable("file", str(path), str(error)) from error
