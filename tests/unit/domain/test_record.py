"""A record's hash is what its documentation says, for anyone with an RFC 8785 implementation."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from resumeproof.domain.record import GENESIS, Draft, Record, chain
from resumeproof.domain.status import Event
from tests.unit.domain.samples import EVERY_EVENT_ON_THE_WAY_TO_COMPLETION, history

MAX_INTEGER = 2**53 - 1
TEXT = st.text(st.characters(exclude_categories=["Cs"]))
VALUE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-MAX_INTEGER, MAX_INTEGER)
    | st.floats(-MAX_INTEGER, MAX_INTEGER)
    | TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner),
    max_leaves=8,
)


def published_hash(record: Record) -> str:
    """The documented form, from the parsed record."""
    document = {
        "at": record.at,
        "event": record.event,
        "facts": json.loads(record.facts_text),
        "previous": record.previous,
        "sequence": record.sequence,
        "workflow_id": record.workflow_id,
    }
    return hashlib.sha256(rfc8785.dumps(document)).hexdigest()


@given(
    workflow_id=TEXT,
    sequence=st.integers(1, MAX_INTEGER),
    at=TEXT,
    facts=st.dictionaries(TEXT, VALUE),
)
def test_the_hash_is_that_of_the_published_form(
    workflow_id: str, sequence: int, at: str, facts: dict[str, Any]
) -> None:
    draft = Draft(Event.APPROVED, facts)
    record = chain(workflow_id, sequence=sequence, previous=GENESIS, at=at, draft=draft)
    assert (record.hash, record.recomputed_hash()) == (published_hash(record),) * 2


def test_every_record_names_the_one_before_it() -> None:
    records, _ = history(*EVERY_EVENT_ON_THE_WAY_TO_COMPLETION)
    assert [record.previous for record in records] == [
        GENESIS,
        *(record.hash for record in records[:-1]),
    ]


def test_facts_are_hashed_as_stored_and_not_as_parsed() -> None:
    (record, *_), _ = history(*EVERY_EVENT_ON_THE_WAY_TO_COMPLETION)
    spaced = replace(record, facts_text=record.facts_text.replace(":", ": ", 1))
    assert (spaced.facts, spaced.recomputed_hash() == record.hash) == (record.facts, False)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "7"])
def test_facts_that_are_no_object_are_an_error(text: str) -> None:
    (record, *_), _ = history(*EVERY_EVENT_ON_THE_WAY_TO_COMPLETION)
    with pytest.raises(ValueError, match=r"facts are no object|Expecting"):
        _ = replace(record, facts_text=text).facts


def test_a_lone_surrogate_read_from_a_damaged_store_is_hashed_and_not_raised() -> None:
    (record, *_), _ = history(*EVERY_EVENT_ON_THE_WAY_TO_COMPLETION)
    assert replace(record, at="\ud800").recomputed_hash() != record.hash
