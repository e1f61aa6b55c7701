"""The files of a JSON journal: their names, and how they are written and read.

    journal.json                      which journal it is
    workflows/NAME/timeline.jsonl     one record a line, in the form that its hash is of
    workflows/NAME/workflow.json      the row, the action and its digest
    births/NAME                       a workflow before its first save

A workflow's NAME is its id, percent-encoded so that no file system takes two ids for one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from json import dumps
from json.encoder import encode_basestring as quoted  # as RFC 8785, section 3.2.2.2 has it
from typing import Any, Final

from resumeproof.domain.canonical import canonical_bytes, digest_of
from resumeproof.domain.record import Record
from resumeproof.stores.strict_json import strict_json

FORMAT: Final = "resumeproof JSON journal"
VERSION: Final = 1
IDENTITY_NAME: Final = "journal.json"
WORKFLOWS_NAME: Final = "workflows"
BIRTHS_NAME: Final = "births"
TIMELINE_NAME: Final = "timeline.jsonl"
STATE_NAME: Final = "workflow.json"

COLUMNS: Final = (
    "id", "program", "program_digest", "ledger_id", "mode", "key", "status", "step", "reason",
    "approved_digest", "in_doubt", "attempts", "retries", "recoveries", "max_retries",
    "max_recoveries", "retry_at", "driver", "revision", "head_hash", "created_at", "updated_at",
)  # fmt: skip
"""The columns of `resumeproof.domain.workflow.Workflow.row`."""

_NAME_BYTES_MAX: Final = 200
# Upper case too: on some file systems A is a.
_ESCAPED: Final = re.compile(rb"[^a-z0-9_-]")


def directory_name(workflow_id: str) -> str:
    """The name of a workflow's directory. Raises `UnicodeEncodeError` for what is no text."""
    data = workflow_id.encode()
    name = _ESCAPED.sub(lambda found: f"%{ord(found[0]):02x}".encode(), data).decode()
    # The digest of a longer one stands for it; `+` is in no name that was not shortened.
    return name if 0 < len(name) <= _NAME_BYTES_MAX else f"+{digest_of(data)}"


def workflow_id_of(name: str) -> str:
    """The id that a directory's name stands for, for whoever tells of its damage."""
    from urllib.parse import unquote

    return unquote(name)


@dataclass(frozen=True)
class Identity:
    """Which journal it is, and when it was made."""

    journal_id: str
    created_at: str

    def to_bytes(self) -> bytes:
        return _document({"format": FORMAT, "version": VERSION} | vars(self))

    @classmethod
    def from_bytes(cls, data: bytes) -> Identity:
        """Raises `ValueError`, whose text says what is wrong."""
        document = strict_json(data)
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise ValueError("it is of another format")
        if (version := document.get("version")) != VERSION:
            raise ValueError(f"its version is {version!r}, and this reads {VERSION}")
        _check_members(document, _IDENTITY, "it")
        return cls(document["journal_id"], document["created_at"])


_IDENTITY = {"created_at": str, "format": str, "journal_id": str, "version": int}


@dataclass(frozen=True)
class State:
    """What a save writes. `number` counts the workflows of a journal in order of creation."""

    number: int
    row: Mapping[str, Any]
    action: bytes
    action_digest: str

    @property
    def revision(self) -> int:
        return int(self.row["revision"])

    def to_bytes(self) -> bytes:
        return _document(
            {
                # As text, since these bytes are what is digested and sent.
                "action": self.action.decode(),
                "action_digest": self.action_digest,
                "number": self.number,
                "workflow": dict(self.row),
            }
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> State:
        """Raises `ValueError`, whose text says what is wrong."""
        document = strict_json(data)
        shape = {"action": str, "action_digest": str, "number": int, "workflow": dict}
        _check_members(document, shape, "it")
        row = document["workflow"]
        types: dict[str, type | tuple[type, ...]] = dict.fromkeys(COLUMNS, (str, int, type(None)))
        _check_members(row, types | {"id": str, "revision": int}, "its workflow")
        if document["number"] < 1 or row["revision"] < 1:
            raise ValueError("a workflow's number and its revision count from 1")
        # A lone surrogate, written as an escape by hand, is no action; whoever digests it sees it.
        action = document["action"].encode("utf-8", "surrogatepass")
        return cls(document["number"], row, action, document["action_digest"])


def line_of(record: Record) -> bytes:
    """The line of a record: the RFC 8785 canonical form that its hash is of, and the hash."""
    text = (
        f'{{"at":{quoted(record.at)},"event":{quoted(record.event)},"facts":{record.facts_text},'
        f'"hash":{quoted(record.hash)},"previous":{quoted(record.previous)},'
        f'"sequence":{record.sequence},"workflow_id":{quoted(record.workflow_id)}}}\n'
    )
    return text.encode()


_LINE = {
    "at": str, "event": str, "facts": dict, "hash": str, "previous": str, "sequence": int,
    "workflow_id": str,
}  # fmt: skip


def record_of(line: bytes) -> Record:
    """The record of a line. Raises `ValueError` for any line that `line_of` does not write."""
    document = strict_json(line.removesuffix(b"\n"))
    _check_members(document, _LINE, "it")
    try:
        document["facts_text"] = canonical_bytes(document.pop("facts")).decode()
        record = Record(**document)
        same = line_of(record) == line
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if not same:
        raise ValueError("it is not written as a journal writes it")
    return record


def _check_members(value: Any, shape: Mapping[str, type | tuple[type, ...]], subject: str) -> None:
    if not isinstance(value, dict):
        raise ValueError(f"{subject} is no object")
    if differing := sorted(value.keys() ^ shape.keys()):
        what = "is missing" if differing[0] in shape else "does not belong there"
        raise ValueError(f"{subject} is of another shape: member {differing[0]!r} {what}")
    for name, types in shape.items():
        # JSON's true is no number, and Python's is.
        if isinstance(value[name], bool) or not isinstance(value[name], types):
            raise ValueError(f"{subject} is of another shape: member {name!r} is of another type")


def _document(value: dict[str, Any]) -> bytes:
    return (dumps(value, ensure_ascii=False, indent=2, sort_keys=True) + "\n").encode()
