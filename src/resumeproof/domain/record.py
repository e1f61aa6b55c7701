"""One timeline record, and the hash chain that ties a workflow's records together.

A record's hash is the SHA-256 of the RFC 8785 canonical form of

    {"at", "event", "facts", "previous", "sequence", "workflow_id"}

where `previous` is the hash of the record before it (`GENESIS` for the first). Facts are stored
as canonical text and hashed as stored, so that a changed byte shows even where it would parse to
the same value.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from json.encoder import encode_basestring as quoted  # as RFC 8785, section 3.2.2.2 has it
from typing import Any

from resumeproof.domain.canonical import canonical_bytes, plain_text
from resumeproof.domain.status import Event

_decode = json.JSONDecoder().decode

GENESIS = "0" * 64
"""What the first record of a timeline names as its predecessor."""


@dataclass(frozen=True)
class Draft:
    """A record that is not yet chained: what happened, without place and time."""

    event: Event
    facts: Mapping[str, Any]


@dataclass(frozen=True)
class Record:
    """One line of a timeline. `sequence` counts from 1; `at` is an instant's text.

    `event` is an `Event` in every record that this package wrote; one read back from a damaged
    store may hold anything.
    """

    workflow_id: str
    sequence: int
    event: str
    at: str
    facts_text: str
    previous: str
    hash: str

    @cached_property
    def facts(self) -> Mapping[str, Any]:
        """The facts as data. Raises `ValueError` where the text is no JSON object."""
        facts = _decode(self.facts_text)
        if not isinstance(facts, dict):
            raise ValueError("facts are no object")
        return facts

    def recomputed_hash(self) -> str:
        """The hash that this record ought to bear."""
        return _hash(
            self.workflow_id, self.sequence, self.event, self.at, self.facts_text, self.previous
        )


def _hash(
    workflow_id: str, sequence: int, event: str, at: str, facts_text: str, previous: str
) -> str:
    text = (
        f'{{"at":{quoted(at)},"event":{quoted(event)},"facts":{facts_text},'
        f'"previous":{quoted(previous)},"sequence":{sequence},'
        f'"workflow_id":{quoted(workflow_id)}}}'
    )
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def chain(workflow_id: str, *, sequence: int, previous: str, at: str, draft: Draft) -> Record:
    """The record of `draft` at its place in the chain."""
    plain = plain_text(draft.facts)
    facts_text = plain or canonical_bytes(draft.facts).decode()
    unhashed = (workflow_id, sequence, draft.event, at, facts_text, previous)
    record = Record(*unhashed, _hash(*unhashed))
    if plain is not None:
        vars(record)["facts"] = draft.facts
    return record
