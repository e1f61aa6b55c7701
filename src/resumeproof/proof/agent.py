"""An agent as a subject: what one of its lives does, and what it brings back.

Every life is fed all inputs from the first, as a process is that starts again. The factory is
called in each life; an object with `step(input)`, plain or async, optionally with `state()`.
"""

from __future__ import annotations

import inspect
import os
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resumeproof.crash.forked import LifeChannel, send_copy_to_death
from resumeproof.crash.kill import Kill
from resumeproof.domain.contract import ToolContract
from resumeproof.errors import PayloadRefused
from resumeproof.proof.context import Context, ReceiverLog, Unknown
from resumeproof.proof.payload import pack
from resumeproof.runtime.clock import SystemClock
from resumeproof.stores.receiver import Receiver

_NO_STATE: Any = object()

Factory = Callable[[Context], Any]


@dataclass(frozen=True)
class Agent:
    """The subject: a factory, its inputs, and what the receiver of its effects promises."""

    factory: Factory
    inputs: tuple[Any, ...]
    contract: ToolContract


@dataclass(frozen=True)
class Order:
    """What one life is to do.

    `life` is its number in the scenario, from 1. With `inputs_fed` False it only opens the subject
    and asks for its state. `dies_at` is a boundary and its occurrence; `stands_at` picks those at
    which a copy is sent to death and the host may look around.
    """

    run_id: str
    life: int
    directory: Path
    receiver: Path
    inputs_fed: bool = True
    dies_at: tuple[str, int] | None = None
    kill: Kill = Kill.SIGKILL
    stands_at: Callable[[str, int], bool] | None = None


@dataclass(frozen=True)
class AgentOutcome:
    """What a life brought to its end.

    `raised` describes the exception that ended it early, `refused` a state that cannot leave the
    process. `state` is packed; None where the subject has no `state()`. `shareable` is False when
    a copy of this life would not have been the whole of it: other threads, or child processes.
    """

    raised: str | None
    refused: tuple[str, str] | None
    state: bytes | None
    doubts: tuple[str, ...]
    doubts_told: bool
    effects_asked: int
    run_id_was_read: bool
    shareable: bool
    awaited: bool


class _Life:
    def __init__(self, agent: Agent, order: Order, channel: LifeChannel) -> None:
        self._agent = agent
        self._order = order
        self._channel = channel
        self._runner: Any = None
        self._shareable = True
        self._asked = 0

    def live(self) -> AgentOutcome:
        order = self._order
        receiver = Receiver(order.receiver, self._agent.contract, _seconds)
        context = Context(
            order.run_id,
            ReceiverLog(receiver, order.life),
            directory=order.directory,
            contract=self._agent.contract,
            at_boundary=self._at_boundary,
        )
        raised, refused, state = None, None, None
        shown: list[str] = []
        try:
            value = self._run(context)
            if value is not _NO_STATE:
                shown = doubts_in(value)
                state = pack(value)
        except PayloadRefused as error:
            refused = (error.place, error.reason)
        except BaseException as error:
            raised = described(error)
        finally:
            if self._runner is not None:
                self._runner.close()
        receiver.close()
        return AgentOutcome(
            raised=raised,
            refused=refused,
            state=state,
            doubts=(*context.doubts, *shown),
            doubts_told=bool(context.doubts),
            effects_asked=self._asked,
            run_id_was_read=context.run_id_was_read,
            shareable=self._shareable,
            awaited=self._runner is not None,
        )

    def _run(self, context: Context) -> Any:
        """Feed the inputs, and return the state; `_NO_STATE` where the subject has none."""
        subject = self._agent.factory(context)
        if self._order.inputs_fed:
            for item in self._agent.inputs:
                self._settled(subject.step(item))
        ask = getattr(subject, "state", None)
        return self._settled(ask()) if callable(ask) else _NO_STATE

    def _settled(self, value: Any) -> Any:
        """The value, awaited on the life's own event loop where it must be."""
        if not inspect.isawaitable(value):
            return value
        import asyncio

        if self._runner is None:
            self._runner = asyncio.Runner()
        return self._runner.run(_await(value))

    def _at_boundary(self, name: str, occurrence: int) -> None:
        self._asked = occurrence
        order = self._order
        if order.dies_at == (name, occurrence):
            self._channel.die_at(name, occurrence, order.kill)
        if order.stands_at is not None and order.stands_at(name, occurrence):
            # A fork copies one thread and no child: then the copy would not be this life.
            if threading.active_count() > 1 or _has_child():
                self._shareable = False
            status = send_copy_to_death() if self._shareable else None
            self._channel.stand_at(name, occurrence, status)


async def _await(value: Any) -> Any:
    return await value


def _has_child() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _seconds() -> float:
    return SystemClock().now().timestamp()


def life_of(agent: Agent, order: Order) -> Callable[[LifeChannel], AgentOutcome]:
    """The body of one life, for `LifeHost.run`."""
    return lambda channel: _Life(agent, order, channel).live()


def described(error: BaseException) -> str:
    """An exception in one line: its type, its message, and where it was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    own = Path(__file__).parent
    places = [frame for frame in frames if Path(frame.filename).parent != own]
    place = f" ({Path(places[-1].filename).name}:{places[-1].lineno})" if places else ""
    text = "".join(traceback.format_exception_only(type(error), error)).strip()
    return text.replace("\n", " ") + place


def doubts_in(value: Any) -> list[str]:
    """The keys of all `Unknown` values that a state holds, at any depth of plain containers."""
    if isinstance(value, Unknown):
        return [value.key]
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, list | tuple | set | frozenset):
        return []
    return [key for part in value for key in doubts_in(part)]


def prepare_host() -> None:
    """Load once, in the host, what every awaiting life would load again."""
    import asyncio  # noqa: F401
