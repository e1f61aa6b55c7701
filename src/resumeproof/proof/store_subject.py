"""Somebody else's runtime as a subject: its drivers die, or are failed, at calls of its store.

    <root>/store/      the directory in which the runtime keeps what it keeps
    <root>/error.txt   how a driver took the error that it got, where it is to get one

What is held against a runtime is the order of its writes: a transition's record is appended before
the save that makes it true. So in whatever a death has left there is no state without its record,
and once the drivers are done no record that the state denies.
"""

from __future__ import annotations

import errno
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from resumeproof.crash.calls import AtBoundary, CountedCalls, injected_error
from resumeproof.crash.channel import LifeChannel
from resumeproof.crash.faulty import faulty
from resumeproof.domain.contract import Lookup, ToolContract
from resumeproof.domain.verdict import FindingKind, Violation
from resumeproof.proof.agent import described
from resumeproof.proof.awaiting import Awaiting
from resumeproof.proof.boundaries import BoundaryWatch
from resumeproof.proof.context import Effect
from resumeproof.proof.image import byte_digest, meanings
from resumeproof.proof.living import Body, Boundary, LifeOutcome, Order
from resumeproof.proof.payload import pack

Store = TypeVar("Store")

_ERROR_NAME: Final = "error.txt"


@dataclass(frozen=True)
class StoreSeen:
    """What a runtime's store says of its one workflow, in the names of its transitions.

    `records` are the transitions that have a record, in order; `saved` are those that the saved
    state takes for true: `{"status": "completed"}` says that it was resumed, and completed.
    `output` is whatever else must come to the same as without a crash, such as what was delivered.
    """

    records: Sequence[str]
    saved: Sequence[str]
    output: Any = None


Look = Callable[[Path], StoreSeen]
"""Reads what lies in the runtime's directory, whatever a death has left there; changes nothing."""


@dataclass(frozen=True)
class StoreSubject(Generic[Store]):
    """How a runtime is opened, driven and looked at, as `prove_store` tells.

    With `error` a driver gets that error at the planned call, goes on for as long as it likes, and
    dies then.
    """

    open_store: Callable[[Path], Store]
    run: Callable[[Store], Any]
    look: Look
    calls: Mapping[str, str]
    ends: Collection[str]
    error: int | None = None

    @property
    def contract(self) -> ToolContract:
        return ToolContract("store", lookup=Lookup.CONSISTENT)

    def lay_out(self, root: Path) -> None:
        _directory(root).mkdir()

    def body(self, order: Order) -> Body:
        return lambda channel: self._live(order, channel)

    def remains(self, root: Path) -> _StoreRemains:
        return _StoreRemains(root)

    def share_of(self, boundary: Boundary) -> int:
        """One worker for all: which calls follow each other is the runtime's business."""
        return 0

    def _live(self, order: Order, channel: LifeChannel) -> LifeOutcome:
        watch = BoundaryWatch(
            order if self.error is None else replace(order, dies_at=None), channel
        )
        directory = _directory(order.root)
        raised, state = None, None
        violations: list[Violation] = []
        try:
            if order.only_reread:
                violations += when_done(self.look(directory), self.ends)
            else:
                if order.life > 1:
                    violations += at_any_prefix(self.look(directory))
                self._drive(order, channel, watch)
            seen = self.look(directory)
            state = pack([sorted(seen.saved), seen.output], "state")
        except BaseException as error:
            raised = described(error)
        return LifeOutcome(
            raised=raised,
            refused=None,
            state=state,
            passed=tuple(watch.passed),
            shareable=watch.shareable,
            violations=tuple(_with_error(violations, order.root)),
        )

    def _drive(self, order: Order, channel: LifeChannel, watch: BoundaryWatch) -> None:
        failing = _Failing(order, self.error, watch.reach)
        store = faulty(
            self.open_store(_directory(order.root)), self.calls, CountedCalls(failing.reach)
        )
        try:
            with Awaiting() as awaiting:
                awaiting.settle(self.run(store))
        except BaseException:
            failing.end(channel, "was raised")
            raise
        failing.end(channel, "was swallowed")


class _Failing:
    """Gives a life its error, if it is to get one, and sees to its death afterwards."""

    def __init__(self, order: Order, error: int | None, reach: AtBoundary) -> None:
        self._order = order
        self._error = error
        self._reach = reach
        self._failed = False

    def reach(self, name: str, occurrence: int) -> None:
        self._reach(name, occurrence)
        if self._error is not None and self._order.dies_at == (name, occurrence):
            self._failed = True
            raise injected_error(self._error)

    def end(self, channel: LifeChannel, how: str) -> None:
        """Die, and leave word how the driver took its error."""
        if self._failed and self._error is not None and self._order.dies_at is not None:
            name, occurrence = self._order.dies_at
            note = f"{errno.errorcode[self._error]} at {name}#{occurrence} {how}"
            (self._order.root / _ERROR_NAME).write_text(note, encoding="utf-8")
            channel.die_at(name, occurrence, self._order.kill)


class _StoreRemains:
    """Only bytes: what reads somebody else's store is their code, and runs in their lives alone."""

    def __init__(self, root: Path) -> None:
        self._root = root

    @property
    def effects(self) -> Sequence[Effect]:
        return ()

    @property
    def effect_count(self) -> int:
        return 0

    def image_digest(self) -> str:
        return byte_digest(self._root)

    def meanings(self) -> Mapping[str, str]:
        return meanings(self._root)

    def unknowable(self, boundary: Boundary, baseline: Sequence[Effect]) -> str | None:
        """Nothing: what was done is in the store, for everybody to see."""
        return None


def at_any_prefix(seen: StoreSeen) -> Iterator[Violation]:
    """What must not be in a store, whatever its drivers died of."""
    for name in _more(seen.saved, seen.records):
        yield Violation(
            FindingKind.STATE_AHEAD, f"the state says that {name!r} happened, and no record does"
        )


def when_done(seen: StoreSeen, ends: Collection[str]) -> Iterator[Violation]:
    """What must not be in a store once its drivers are done, and nothing is left to do.

    Exactly one record is of `ends`, unless that is empty.
    """
    yield from at_any_prefix(seen)
    ended = [name for name in seen.records if name in ends]
    if ends and not ended:
        yield Violation(FindingKind.TERMINAL_MISSING, f"no record of {_either(ends)}")
    if len(ended) > 1:
        told = ", ".join(map(repr, ended))
        yield Violation(FindingKind.TERMINAL_REPEATED, f"{len(ended)} terminal records: {told}")
    for name in _more(seen.records, seen.saved):
        if name not in ends or len(ended) == 1:
            recorded, saved = seen.records.count(name), seen.saved.count(name)
            yield Violation(
                FindingKind.RECORD_AHEAD,
                f"{name!r} has {recorded} record(s), and the state knows of {saved}",
            )


def _more(some: Iterable[str], others: Iterable[str]) -> list[str]:
    return sorted(Counter(some) - Counter(others))


def _either(names: Iterable[str]) -> str:
    return " or ".join(map(repr, sorted(names)))


def _with_error(violations: Iterable[Violation], root: Path) -> Iterator[Violation]:
    note = root / _ERROR_NAME
    told = f" ({note.read_text(encoding='utf-8')})" if note.exists() else ""
    for violation in violations:
        yield replace(violation, detail=violation.detail + told)


def _directory(root: Path) -> Path:
    return root / "store"
