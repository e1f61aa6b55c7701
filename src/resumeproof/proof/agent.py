"""An agent as a subject: an object with `step(input)`, made anew by a factory in each life.

Every life is fed all inputs from the first, as a process is that starts again. `step` and
`state` may be plain or async; a subject without `state()` is compared by its effects alone.

    <root>/subject/            what `ctx.directory` names
    <root>/receiver.sqlite3    the receiver's ledger, beside it and not below it
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resumeproof.crash.channel import LifeChannel
from resumeproof.domain.contract import ToolContract
from resumeproof.errors import PayloadRefused
from resumeproof.proof.awaiting import Awaiting
from resumeproof.proof.boundaries import BoundaryWatch
from resumeproof.proof.comparison import without_addresses
from resumeproof.proof.context import (
    EFFECT_AFTER,
    Context,
    ReceiverLog,
    Unknown,
)
from resumeproof.proof.living import Body, Boundary, LifeOutcome, Order, Remains
from resumeproof.proof.oracle import NO_STATE
from resumeproof.proof.payload import pack
from resumeproof.proof.remains import AgentRemains
from resumeproof.runtime.clock import SystemClock
from resumeproof.stores.receiver import Receiver, make_receiver

AGENT_NAME = "subject"
RECEIVER_NAME = "receiver.sqlite3"

_PACKAGE = Path(__file__).parent.parent
_TEXT_LIMIT = 300  # characters of an exception's message

Factory = Callable[[Context], Any]

Settle = Callable[[Any], Any]
"""Awaits what must be awaited, and returns the value."""


@dataclass(frozen=True)
class AgentSubject:
    """A factory, its inputs, and what the receiver of its effects promises."""

    factory: Factory
    inputs: tuple[Any, ...]
    contract: ToolContract

    def lay_out(self, root: Path) -> None:
        agent_directory(root).mkdir()
        make_receiver(_receiver(root))

    def body(self, order: Order) -> Body:
        return lambda channel: _Life(self, order, channel).live()

    def feed(self, context: Context, settle: Settle, *, only_open: bool = False) -> Any:
        """Make the subject and feed it all inputs, or none; return it."""
        subject = settle(self.factory(context))
        if not only_open:
            for item in self.inputs:
                settle(subject.step(item))
        return subject

    def remains(self, root: Path) -> Remains:
        return AgentRemains(agent_directory(root), _receiver(root), self.contract, _seconds)

    def share_of(self, boundary: Boundary) -> int:
        """After effect k and before effect k + 1 nothing reaches the receiver."""
        name, occurrence = boundary
        return occurrence if name == EFFECT_AFTER else occurrence - 1


def agent_directory(root: Path) -> Path:
    """What `ctx.directory` names in the scenario at this root."""
    return root / AGENT_NAME


def _receiver(root: Path) -> Path:
    return root / RECEIVER_NAME


class _Life:
    def __init__(self, agent: AgentSubject, order: Order, channel: LifeChannel) -> None:
        self._agent = agent
        self._order = order
        self._channel = channel
        self._watch = BoundaryWatch(order, channel)

    def live(self) -> LifeOutcome:
        order = self._order
        if order.traced:
            self._channel.await_tracer()
        receiver = Receiver(_receiver(order.root), self._agent.contract, _seconds)
        context = Context(
            order.run_id,
            ReceiverLog(receiver, order.life),
            directory=agent_directory(order.root),
            contract=self._agent.contract,
            at_boundary=self._watch.reach,
        )
        raised, refused, state = None, None, None
        shown: list[str] = []
        with Awaiting() as awaiting:
            try:
                subject = self._agent.feed(context, awaiting.settle, only_open=order.only_reread)
                value = shown_state(subject, awaiting.settle)
                if value is not NO_STATE:
                    shown = doubts_in(value)
                    state = pack(value, "state")
            except PayloadRefused as error:
                refused = (error.place, error.reason)
            except BaseException as error:
                raised = described(error)
        receiver.close()
        return LifeOutcome(
            raised=raised,
            refused=refused,
            state=state,
            passed=tuple(self._watch.passed),
            doubts=(*context.doubts, *shown),
            doubts_told=bool(context.doubts),
            run_id_was_read=context.run_id_was_read,
            shareable=self._watch.shareable,
            awaited=awaiting.used,
        )


def _seconds() -> float:
    return SystemClock().now().timestamp()


def described(error: BaseException) -> str:
    """An exception in one line of bounded length: type, message, and the subject's own place."""
    frames = traceback.extract_tb(error.__traceback__)
    places = [frame for frame in frames if _PACKAGE not in Path(frame.filename).parents]
    place = f" ({Path(places[-1].filename).name}:{places[-1].lineno})" if places else ""
    text = "".join(traceback.format_exception_only(type(error), error)).strip().replace("\n", " ")
    text = without_addresses(text)
    return (text if len(text) <= _TEXT_LIMIT else f"{text[: _TEXT_LIMIT - 1]}…") + place


def shown_state(subject: Any, settle: Settle) -> Any:
    """What the subject calls its state; `NO_STATE` where it has none to show."""
    ask = getattr(subject, "state", None)
    return settle(ask()) if callable(ask) else NO_STATE


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
