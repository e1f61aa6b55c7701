from __future__ import annotations

import math
import pickle
import threading
from datetime import UTC, datetime
from typing import Any

import pytest

from resumeproof.errors import PayloadRefused
from resumeproof.proof.payload import canonical, pack, unpack

WHOLE: list[Any] = [
    None,
    True,
    7,
    -1.5,
    "text \ud800",
    [1, [2]],
    {"b": 1, "a": {"c": []}},
    (1, 2),
    {1: "number"},
    {"a"},
    b"bytes",
    math.inf,
    datetime(2024, 1, 1, tzinfo=UTC),
    [(1,), {"a": (2,)}],
]


@pytest.mark.parametrize("value", WHOLE, ids=repr)
def test_a_value_comes_back_as_it_was(value: Any) -> None:
    back = unpack(pack(value, "value"))
    assert (type(back), back) == (type(value), value)


def test_equal_plain_values_have_equal_bytes() -> None:
    assert pack({"a": 1, "b": [2]}, "p") == pack({"b": [2], "a": 1}, "p")


@pytest.mark.parametrize("value", [(1,), {1: 2}, math.nan, b"", {"a"}], ids=repr)
def test_what_a_text_would_not_keep_whole_has_none(value: Any) -> None:
    assert canonical(value) is None


class Holder:
    def __init__(self, inner: Any) -> None:
        self.inner = inner


class Stubborn:
    def __reduce__(self) -> Any:
        raise TypeError("never")


CULPRITS: dict[str, tuple[Any, str]] = {
    "itself": (threading.Lock(), "state (lock)"),
    "an attribute": (Holder(threading.Lock()), "state.inner (lock)"),
    "in containers": ({"a": [1, (Holder(lambda: 0),)]}, "state['a'][1][0].inner (function)"),
    "one of its own will": ([Stubborn()], "state[0] (Stubborn)"),
}


@pytest.mark.parametrize(("value", "place"), CULPRITS.values(), ids=CULPRITS)
def test_what_cannot_be_pickled_is_named(value: Any, place: str) -> None:
    with pytest.raises(PayloadRefused) as refused:
        pack(value, "state")
    assert (refused.value.place, str(refused.value).partition(" cannot")[0]) == (place, place)


def test_a_class_that_is_gone_is_told() -> None:
    packed = b"p" + pickle.dumps(Holder(1)).replace(b"Holder", b"Folder")
    with pytest.raises(PayloadRefused, match=r"what was pickled cannot be read: .*Folder"):
        unpack(packed)
