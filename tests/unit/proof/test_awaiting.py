"""What is awaited of what a life's calls return, and what is a value as it is."""

from __future__ import annotations

import types
from collections.abc import Callable, Generator
from typing import Any

import pytest

from resumeproof.proof.awaiting import Awaiting


async def coroutine() -> str:
    return "awaited"


@types.coroutine
def generator_based() -> Generator[None, None, str]:
    yield
    return "awaited"


class Promise:
    def __await__(self) -> Generator[Any, Any, str]:
        return coroutine().__await__()


@pytest.mark.parametrize(
    "make", [coroutine, generator_based, Promise], ids=["coroutine", "generator-based", "object"]
)
def test_what_can_be_awaited_is(make: Callable[[], object]) -> None:
    with Awaiting() as awaiting:
        assert (awaiting.settle(make()), awaiting.used) == ("awaited", True)


@pytest.mark.parametrize(
    "value",
    [None, 1, "text", [coroutine], (number for number in range(1)), Promise],
    ids=lambda value: repr(value)[:9],
)
def test_any_other_value_is_itself(value: object) -> None:
    with Awaiting() as awaiting:
        assert (awaiting.settle(value), awaiting.used) == (value, False)
