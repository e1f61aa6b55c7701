"""What a receiver of effects holds, told as rows and as one text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from resumeproof.domain.contract import ToolContract
from resumeproof.errors import StoreRefused, StoreUnavailable
from resumeproof.stores.receiver import (
    Receiver,
    look_at_receiver,
    make_receiver,
    read_receiver,
)


class Call(NamedTuple):
    kind: str
    payload: bytes
    key: str | None


CALLS = (
    Call("charge", b"j1", "a"),
    Call("charge", b"j1", "a"),
    Call("charge", b"", None),
    Call("", b"\x00\xff", ""),
    Call('"\\\x00\n', b"j2", "\u2028\U0001f600\x00"),
)
ABSORBED = 1
"""The second call repeats the first."""


def received(path: Path, calls: Sequence[Call], *, life: int = 1, now: float = 1.5) -> Path:
    make_receiver(path)
    receiver = Receiver(path, ToolContract("tool", idempotent=True), lambda: now)
    for ordinal, call in enumerate(calls, start=1):
        receiver.call(life, ordinal, *call)
    receiver.close()
    return path


def test_a_look_tells_each_effect_as_it_came(tmp_path: Path) -> None:
    holding = look_at_receiver(received(tmp_path / "receiver", CALLS))
    applied = [
        (sequence, *call)
        for sequence, call in enumerate(CALLS, start=1)
        if sequence != ABSORBED + 1
    ]
    assert (holding.effect_count, list(holding.effects())) == (len(applied), applied)


def test_a_look_tells_what_the_rows_tell(tmp_path: Path) -> None:
    path = received(tmp_path / "receiver", CALLS)
    rows = read_receiver(path)
    assert [row.absorbed_by for row in rows] == [None, 1, None, None, None]
    assert list(look_at_receiver(path).effects()) == [
        (row.sequence, row.kind, row.payload, row.key) for row in rows if row.absorbed_by is None
    ]


def test_an_empty_receiver_holds_nothing(tmp_path: Path) -> None:
    path = received(tmp_path / "receiver", ())
    assert (look_at_receiver(path).effect_count, read_receiver(path)) == (0, [])


def test_the_text_is_the_same_whenever_and_by_whomever_it_was_asked(tmp_path: Path) -> None:
    one = received(tmp_path / "one", CALLS)
    other = received(tmp_path / "other", CALLS, life=2, now=3.25)
    assert look_at_receiver(one) == look_at_receiver(other)


@pytest.mark.parametrize(
    "calls",
    [
        pytest.param(CALLS[:-1], id="one less"),
        pytest.param((*CALLS, CALLS[0]), id="one more, and absorbed"),
        pytest.param((*CALLS[:-1], CALLS[-1]._replace(key=None)), id="no key"),
        pytest.param((*CALLS[:-1], CALLS[-1]._replace(payload=b"j3")), id="other bytes"),
    ],
)
def test_the_text_tells_receivers_apart(calls: Sequence[Call], tmp_path: Path) -> None:
    one = received(tmp_path / "one", CALLS)
    other = received(tmp_path / "other", calls)
    assert look_at_receiver(one).text != look_at_receiver(other).text


def test_a_harmed_receiver_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "receiver"
    path.write_bytes(b"no database at all" * 100)
    for look in (look_at_receiver, read_receiver):
        with pytest.raises((StoreUnavailable, StoreRefused)):
            look(path)
