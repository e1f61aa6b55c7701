"""Re-check a receipt file against the two databases beside it.

First the stores are audited as they are. Then everything that the receipt file states is derived
from them again. Where the stores say more than the receipt file, and all of it follows from what
the receipt file says, the evidence was extended (somebody resumed or reconciled it), and that is
no damage.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resumeproof.errors import EvidenceBroken, StoreNotFound
from resumeproof.evidence.audit import audit
from resumeproof.evidence.receipt import RECEIPT_NAME, SCHEMA_VERSION, derive, file_digest
from resumeproof.evidence.shape import check_shape
from resumeproof.stores.sqlite_journal import SqliteJournal
from resumeproof.stores.sqlite_ledger import SqliteLedger

MAX_RECEIPT_BYTES = 1 << 28


@dataclass(frozen=True, slots=True)
class Verified:
    """A receipt file that holds. `extended`: the stores have gone on since it was written."""

    path: Path
    extended: tuple[str, ...]
    totals: Mapping[str, int]


def verify(path: Path) -> Verified:
    """Verify a receipt file, or the one in a directory.

    Raises `EvidenceBroken` for the first thing that does not hold, `StoreNotFound` where there is
    no receipt file or a store is missing, and what opening a store raises.
    """
    receipt_path = path / RECEIPT_NAME if path.is_dir() else path
    receipt = _read(receipt_path)
    stores = receipt["stores"]
    journal_path = receipt_path.parent / stores["journal"]["file"]
    ledger_path = receipt_path.parent / stores["ledger"]["file"]
    with (
        SqliteJournal.open_reader(journal_path) as journal,
        SqliteLedger.open_reader(ledger_path) as ledger,
    ):
        audit(journal, ledger)
        found = derive(journal, ledger)
    _check_account(receipt, receipt_path)
    extended = _compare(receipt, found, receipt_path)
    for name, file in (("journal", journal_path), ("ledger", ledger_path)):
        if not extended and file_digest(file) != stores[name]["sha256"]:
            raise EvidenceBroken(
                str(file), "its SHA-256", "the contents are the same, and the bytes are not"
            )
    return Verified(receipt_path, extended, found["totals"])


def _read(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > MAX_RECEIPT_BYTES:
            raise EvidenceBroken(str(path), "the receipt file", "it is too large")
        data = path.read_bytes()
    except FileNotFoundError:
        raise StoreNotFound("receipt file", str(path)) from None
    except OSError as error:
        raise EvidenceBroken(str(path), "the receipt file", f"unreadable: {error}") from error
    if not data:
        raise EvidenceBroken(str(path), "the receipt file", "it is empty")
    if not data.strip(b"\0"):
        raise EvidenceBroken(str(path), "the receipt file", "it holds nothing but NUL bytes")
    try:
        receipt = json.loads(data)
    except (ValueError, RecursionError) as error:
        detail = f"it is no JSON document, or a truncated one: {error}"
        raise EvidenceBroken(str(path), "the receipt file", detail) from error
    check_shape(receipt, path)
    if receipt["schema_version"] > SCHEMA_VERSION:
        raise EvidenceBroken(
            str(path), "schema_version", f"{receipt['schema_version']} is newer than this program"
        )
    return dict(receipt)


def _check_account(receipt: Mapping[str, Any], path: Path) -> None:
    """The account of the processes cannot be derived; it must at least agree with itself."""
    known = {workflow["id"] for workflow in receipt["workflows"]}
    for index, scenario in enumerate(receipt["scenarios"]):
        place = f"scenarios/{index}"
        if scenario["workflow_id"] not in known:
            raise EvidenceBroken(str(path), f"{place}/workflow_id", "no such workflow")
        lives = scenario["lives"]
        if len(lives) != len(scenario["pids"]):
            raise EvidenceBroken(str(path), f"{place}/pids", "not one for each life")
        if not lives or scenario["child_exit"] != lives[0]["exit"]:
            raise EvidenceBroken(str(path), f"{place}/child_exit", "not that of the first life")
        planned = [life["planned"] for life in lives if life["planned"] is not None]
        if scenario["plan"] != (";".join(planned) or "baseline"):
            raise EvidenceBroken(str(path), f"{place}/plan", "the lives died elsewhere")
        for number, life in enumerate(lives):
            if life["witnessed"] != life["planned"]:
                raise EvidenceBroken(
                    str(path), f"{place}/lives/{number}/witnessed", "not where it was planned"
                )


def _compare(receipt: Mapping[str, Any], found: Mapping[str, Any], path: Path) -> tuple[str, ...]:
    """What was added since; raises where anything that was stated is not so."""
    extended: list[str] = []
    now = {workflow["id"]: workflow for workflow in found["workflows"]}
    for index, stated in enumerate(receipt["workflows"]):
        place = f"workflows/{index}"
        workflow = now.pop(stated["id"], None)
        if workflow is None:
            raise EvidenceBroken(str(path), place, f"the journal has no workflow {stated['id']}")
        length = len(stated["timeline"])
        if workflow["timeline"][:length] != stated["timeline"]:
            raise EvidenceBroken(str(path), f"{place}/timeline", "the journal's is another one")
        if len(workflow["timeline"]) > length or workflow["invocations"] > stated["invocations"]:
            extended.append(f"workflow {stated['id']} went on")
        else:
            _same(stated, workflow, place, path)
    extended += [f"workflow {workflow_id} is new" for workflow_id in now]
    if not extended:
        _same(receipt["totals"], found["totals"], "totals", path)
    return tuple(extended)


def _same(stated: Mapping[str, Any], found: Mapping[str, Any], place: str, path: Path) -> None:
    for name in sorted({*stated, *found}):
        if stated.get(name) != found.get(name):
            raise EvidenceBroken(
                str(path),
                f"{place}/{name}",
                f"it says {stated.get(name)!r}, the stores say {found.get(name)!r}",
            )
