"""`receipt.json`: evidence of a run that anybody can re-check.

Everything in it but the account of the processes can be derived again from the two stores that
lie beside it, and `evidence.verify` does so.
"""

from __future__ import annotations

import json
import platform
import sqlite3
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from resumeproof.domain.inspection import Stored, fold
from resumeproof.domain.observation import ScenarioRun
from resumeproof.domain.record import Record
from resumeproof.domain.status import Status
from resumeproof.domain.workflow import Workflow
from resumeproof.errors import JournalDamaged, StoreUnavailable
from resumeproof.evidence.contents import Contents, Identity, read_contents
from resumeproof.evidence.files import file_digest, write_durably
from resumeproof.evidence.lanes import UNICODE, WIDE, Glyphs, Lanes
from resumeproof.evidence.order import entries_of
from resumeproof.evidence.timeline import heading, render
from resumeproof.evidence.workflow import workflow_json
from resumeproof.stores.journals import open_journal
from resumeproof.stores.sqlite_ledger import SqliteLedger
from resumeproof.stores.sqlite_ledger_rows import InvocationOutcome
from resumeproof.version import __version__

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
    were in force in the first life; None where it did not come so far as to tell.
    """

    workflow_id: str
    run: ScenarioRun
    durability: Mapping[str, Mapping[str, str]] | None

    def to_json(self) -> dict[str, Any]:
        lives = self.run.lives
        return {
            "child_exit": lives[0].exit,
            "durability": self.durability,
            "kill": self.run.kill,
            "lives": [
                {"exit": life.exit, "planned": life.planned, "witnessed": life.witnessed}
                for life in lives
            ],
            "pids": [life.pid for life in lives],
            "plan": self.run.plan,
            "workflow_id": self.workflow_id,
        }


def write_evidence(
    directory: Path, *, journal: Path, ledger: Path, scenarios: Sequence[ScenarioEvidence]
) -> dict[str, Any]:
    """Write `receipt.json` and `timeline.txt` into `directory`; return what the first one holds.

    `journal` is a file or, in a JSON journal, a directory. The stores must be at rest. Raises
    `JournalDamaged`, `StoreUnavailable` for a record whose save is missing, or what opening a store
    raises.
    """
    with open_journal(journal) as workflows, SqliteLedger.open_reader(ledger) as tool:
        contents = read_contents(workflows, tool)
        _refuse_unsettled(contents)
        timeline = pictures(contents, tool, scenarios)
    picture = directory / TIMELINE_NAME
    write_durably(picture, timeline)
    receipt = {
        "environment": environment(),
        "kind": "demo",
        "picture": _file(picture, "picture"),
        "scenarios": [scenario.to_json() for scenario in scenarios],
        "schema_version": SCHEMA_VERSION,
        **derive(contents),
    }
    for store, path in (("journal", journal), ("ledger", ledger)):
        receipt["stores"][store] |= _file(path, store)
    text = json.dumps(receipt, indent=2, ensure_ascii=False, sort_keys=True) + "\n"
    write_durably(directory / RECEIPT_NAME, text)
    return receipt


def derive(contents: Contents) -> dict[str, Any]:
    """All of a receipt file that the two stores alone prove.

    Raises `JournalDamaged` for a workflow whose timeline does not hold.
    """
    workflows = [_workflow(stored, contents) for stored in contents.workflows]
    return {
        "ledger": {
            "effects": [effect.receipt.to_json() for effect in contents.effects],
            "invocations": [asdict(row) for row in contents.invocations],
            "lookups": [asdict(row) for row in contents.lookups],
            "registrations": [dict(row) for row in contents.registrations],
        },
        "stores": {"journal": _store(contents.journal), "ledger": _store(contents.ledger)},
        "totals": {
            "effects": len(contents.effects),
            "replays": sum(
                row.outcome == InvocationOutcome.REPLAYED for row in contents.invocations
            ),
            "unknown": sum(workflow["status"] == Status.UNKNOWN for workflow in workflows),
        },
        "workflows": workflows,
    }


def _refuse_unsettled(contents: Contents) -> None:
    """The next driver makes a save that is missing, and adds no record that would show it."""
    for stored in contents.workflows:
        if stored.save_missing:
            cause = f"workflow {stored.row['id']} has a record without its save; resume it first"
            raise StoreUnavailable("journal", str(contents.journal.path), cause)


def _workflow(stored: Stored, contents: Contents) -> dict[str, Any]:
    workflow_id = str(stored.row["id"])
    facts = workflow_json(stored, _folded(stored), driver_alive=False)
    return {name: facts[name] for name in _FROM_WORKFLOW} | {
        "effects": sum(effect.receipt.workflow_id == workflow_id for effect in contents.effects),
        "invocations": sum(row.workflow_id == workflow_id for row in contents.invocations),
        "lookups": sum(row.workflow_id == workflow_id for row in contents.lookups),
        "timeline": [_record(record) for record in stored.records],
    }


def _folded(stored: Stored) -> Workflow:
    """The workflow after the given records, which need not be all that the row is the fold of."""
    inspection = fold(str(stored.row["id"]), stored.records)
    if inspection.workflow is None:
        raise JournalDamaged(str(stored.row["id"]), str(inspection.damage))
    return inspection.workflow


def _record(record: Record) -> dict[str, Any]:
    return {
        "at": record.at,
        "event": str(record.event),
        "facts": record.facts,
        "hash": record.hash,
        "previous": record.previous,
        "sequence": record.sequence,
    }


def _store(store: Identity) -> dict[str, str]:
    return {"id": store.id, "created_at": store.created_at}


def _file(path: Path, kind: str) -> dict[str, str]:
    return {"file": path.name, "sha256": file_digest(path, kind)}


def pictures(
    contents: Contents,
    ledger: SqliteLedger,
    scenarios: Sequence[ScenarioEvidence],
    glyphs: Glyphs = UNICODE,
    lanes: Lanes = WIDE,
) -> str:
    """The timeline of each scenario's workflow, one below the other."""
    stored = {str(each.row["id"]): each for each in contents.workflows}
    driven = Counter(_pids(scenario) for scenario in scenarios)
    drawn = []
    for scenario in scenarios:
        of_scenario = stored[scenario.workflow_id]
        facts = workflow_json(of_scenario, _folded(of_scenario), driver_alive=False)
        entries = entries_of(of_scenario.records, ledger)
        # Of lives that drove several workflows nobody saw in which of them one died.
        lives = scenario.run.lives if driven[_pids(scenario)] == 1 else ()
        picture = render(entries, lives=lives, glyphs=glyphs, lanes=lanes)
        drawn.append(f"{heading(facts, glyphs, lanes)}\n\n{picture}")
    return "\n".join(drawn)


def _pids(scenario: ScenarioEvidence) -> tuple[int, ...]:
    return tuple(life.pid for life in scenario.run.lives)


def environment() -> dict[str, str]:
    """What the run was made with."""

    return {
        "platform": sys.platform,
        "python": platform.python_version(),
        "resumeproof": __version__,
        "sqlite": sqlite3.sqlite_version,
    }
