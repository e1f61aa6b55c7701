"""Re-check a receipt file against the two stores beside it.

First the stores are audited as they are. Then everything that the receipt file states is derived
again, from what the stores held when it was written: both only grow at their ends, so that is as
many records and rows as the receipt file tells of. Where the stores hold more than that, the
evidence was extended (somebody resumed or reconciled it), and that is no damage.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resumeproof.domain.action import SIMULATED_TOOL
from resumeproof.domain.canonical import canonical_bytes, digest_of
from resumeproof.errors import EvidenceBroken
from resumeproof.evidence.account import check_account
from resumeproof.evidence.audit import audit
from resumeproof.evidence.compare import first_difference, named
from resumeproof.evidence.contents import Contents, read_contents
from resumeproof.evidence.files import file_digest
from resumeproof.evidence.integrity import check_form, check_pages, never_true
from resumeproof.evidence.proof_check import check_proofs
from resumeproof.evidence.proof_receipt import PROOF_KINDS
from resumeproof.evidence.reading import read_receipt
from resumeproof.evidence.receipt import RECEIPT_NAME, derive
from resumeproof.stores.journals import format_of, open_journal
from resumeproof.stores.place import is_directory
from resumeproof.stores.protocols import JournalFormat, OpenJournal
from resumeproof.stores.sqlite_ledger import SqliteLedger

_DERIVED = ("ledger", "totals", "workflows")


@dataclass(frozen=True, slots=True)
class Verified:
    """A receipt file that holds. `extended`: what the stores hold that it does not tell of.

    `totals` are those of the stores as they are now.
    """

    path: Path
    extended: tuple[str, ...]
    totals: Mapping[str, int]


def verify(path: Path) -> Verified:
    """Verify a receipt file, or the one in a directory; nothing is written.

    That of a proof has no stores beside it; of it `check_proofs` checks what can be checked.

    Raises `EvidenceBroken` for the first thing that does not hold, `StoreNotFound` where the
    receipt file, a store or the picture is missing, and what opening a store raises.
    """
    receipt_path = path / RECEIPT_NAME if is_directory(path) else path
    receipt = read_receipt(receipt_path)
    if receipt["kind"] in PROOF_KINDS:
        return Verified(receipt_path, (), check_proofs(receipt, receipt_path))
    check_account(receipt, str(receipt_path))
    directory, stores = receipt_path.parent, receipt["stores"]
    files = {kind: directory / stores[kind]["file"] for kind in ("journal", "ledger")}
    with (
        open_journal(files["journal"]) as journal,
        SqliteLedger.open_reader(files["ledger"]) as ledger,
    ):
        for store in (journal, ledger):
            check_pages(store)
        contents = read_contents(journal, ledger)
        audit(contents)
        _compare(receipt, contents, receipt_path)
        _check_durability(receipt, files["journal"], receipt_path)
        for store in (journal, ledger):
            check_form(store)
        extended = (*_extensions(receipt, contents), *_never_true(contents, journal))
    for kind, file in files.items():
        if not extended and file_digest(file, kind) != stores[kind]["sha256"]:
            detail = "the contents are the same, and the bytes are not"
            raise EvidenceBroken(str(file), "its SHA-256", detail)
    _check_picture(directory, receipt["picture"])
    return Verified(receipt_path, extended, derive(contents)["totals"])


def _compare(receipt: Mapping[str, Any], contents: Contents, path: Path) -> None:
    """Raises where anything that was stated is not so."""
    lengths = [len(workflow["timeline"]) for workflow in receipt["workflows"]]
    tables = {table: len(rows) for table, rows in receipt["ledger"].items()}
    found = derive(contents.as_of(lengths, tables))
    for stated, workflow in zip(receipt["workflows"], found["workflows"], strict=False):
        # The bytes of an action that was replaced since are gone; its digest is not.
        if _bears(stated["action"], workflow["action_digest"]):
            workflow["action"] = stated["action"]
    claims = {name: receipt[name] for name in _DERIVED} | {
        "stores": {
            store: {name: told[name] for name in ("id", "created_at")}
            for store, told in receipt["stores"].items()
        }
    }
    difference = first_difference(claims, found)
    if difference is not None:
        place, detail = difference
        raise EvidenceBroken(str(path), named(place, receipt), detail)


def _check_durability(receipt: Mapping[str, Any], journal: Path, path: Path) -> None:
    """A directory of JSON files was written as JSON, and a database was not."""
    in_json = format_of(journal) is JournalFormat.JSON
    for index, scenario in enumerate(receipt["scenarios"]):
        told = scenario["durability"]["journal"]["journal_mode"]
        if (told == "json") is not in_json:
            where = f"scenarios/{index}/durability/journal/journal_mode"
            raise EvidenceBroken(str(path), where, f"it says {told!r}, and the journal is none")


def _bears(action: Mapping[str, Any] | None, digest: str) -> bool:
    if action is None:
        return False
    forms = [action]
    if action["tool"] == SIMULATED_TOOL:
        forms.append(action["arguments"])
    try:
        return any(digest_of(canonical_bytes(dict(form))) == digest for form in forms)
    except ValueError:
        return False


def _extensions(receipt: Mapping[str, Any], contents: Contents) -> Iterator[str]:
    """What the stores hold beyond what the receipt file tells of."""
    stated = receipt["workflows"]
    for workflow, stored in zip(stated, contents.workflows, strict=False):
        more = len(stored.records) - len(workflow["timeline"])
        if more:
            yield f"workflow {workflow['id']} has {_counted(more, 'more record')}"
    for stored in contents.workflows[len(stated) :]:
        yield f"workflow {stored.row['id']} is new"
    for table, rows in receipt["ledger"].items():
        more = len(getattr(contents, table)) - len(rows)
        if more:
            yield f"the ledger has {_counted(more, f'more {table[:-1]}')}"


def _never_true(contents: Contents, journal: OpenJournal) -> Iterator[str]:
    """What somebody left who went on, and died before anything became true."""
    for stored in contents.workflows:
        if stored.uncommitted:
            yield f"workflow {stored.row['id']} has {stored.uncommitted}, which was never true"
    for left in never_true(journal):
        yield f"the journal has {left}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _check_picture(directory: Path, picture: Mapping[str, str]) -> None:
    path = directory / picture["file"]
    if file_digest(path, "picture") != picture["sha256"]:
        raise EvidenceBroken(str(path), "its SHA-256", "the picture was changed")
