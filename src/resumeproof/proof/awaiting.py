"""What a life's calls return is settled here: an awaitable on an event loop of the life's own."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable
from typing import Any


class Awaiting:
    """The event loop of one life, made where it is first needed. Use as a context manager.

    Where a loop runs in this thread already, as under an async test, the life's own runs in
    another one: loops do not nest.
    """

    def __init__(self) -> None:
        self._runner: Any = None

    @property
    def used(self) -> bool:
        return self._runner is not None

    def __enter__(self) -> Awaiting:
        return self

    def __exit__(self, *error: object) -> None:
        if self._runner is not None:
            _beside(self._runner.close)

    def settle(self, value: Any) -> Any:
        """The value, awaited where it must be."""
        # Of a plain value `isawaitable` would ask the registers of abstract classes, in each life.
        if not hasattr(type(value), "__await__") and not inspect.isgenerator(value):
            return value
        if not inspect.isawaitable(value):
            return value
        import asyncio

        if self._runner is None:
            self._runner = asyncio.Runner()
        return _beside(lambda: self._runner.run(_await(value)))


async def _await(value: Any) -> Any:
    return await value


def _beside(call: Callable[[], Any]) -> Any:
    """Call here, or in a thread of its own where this one runs a loop."""
    import asyncio

    if asyncio._get_running_loop() is None:
        return call()
    outcome: list[Any] = []
    failure: list[BaseException] = []

    def work() -> None:
        try:
            outcome.append(call())
        except BaseException as error:
            failure.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    if failure:
        raise failure[0]
    return outcome[0]
