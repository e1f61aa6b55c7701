"""What a worker asks of a subject whose lives it forks, and what a life brings back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from resumeproof.crash.channel import LifeChannel
from resumeproof.crash.kill import Kill
from resumeproof.domain.contract import ToolContract
from resumeproof.domain.verdict import Violation
from resumeproof.proof.context import Effect

Boundary = tuple[str, int]
"""A boundary's name and its occurrence in one life, from 1."""

Body = Callable[[LifeChannel], "LifeOutcome"]
"""What one life does, in the forked child."""


@dataclass(frozen=True)
class Order:
    """What one life is to do, in a scenario that lies at `root`.

    `life` is its number in the scenario, from 1. With `only_reread` it opens the subject and asks
    for its state, and does nothing else. `dies_at` is where it dies by `kill`; `stands_at` names
    the boundaries at which a copy of it is sent to death while the host looks around; and of those
    it stands at what is `only`, unless that is None. An order is sent to the life's own process.
    """

    root: Path
    run_id: str
    life: int
    only_reread: bool = False
    dies_at: Boundary | None = None
    kill: Kill = Kill.SIGKILL
    stands_at: tuple[str, ...] = ()
    only: frozenset[Boundary] | None = None
    traced: bool = False

    def stands(self, boundary: Boundary) -> bool:
        """Whether the life stands still there."""
        name, _ = boundary
        return name in self.stands_at and (self.only is None or boundary in self.only)

    def __reduce__(self) -> tuple[object, ...]:
        # As plain values: each life that reads an order would else look up each of their classes.
        return _ordered, (
            str(self.root),
            self.run_id,
            self.life,
            self.only_reread,
            self.dies_at,
            self.kill.value,
            self.stands_at,
            self.only,
            self.traced,
        )


def _ordered(root: str, *rest: Any) -> Order:
    run_id, life, only_reread, dies_at, kill, *others = rest
    return Order(Path(root), run_id, life, only_reread, dies_at, Kill(kill), *others)


@dataclass(frozen=True)
class LifeOutcome:
    """What a life brought to its end.

    `raised` describes the exception that ended it early, `refused` names a part of the state that
    cannot leave the process, and why. `state` is packed; None where the subject has none to show.
    `passed` are the boundaries that the life came to, in order. `shareable` is False where a copy
    of the life would not have been the whole of it: it has other threads, or children. `violations`
    are what it found in its stores that must not be there, even if it ended early. `absorbed`
    counts the calls that its tools answered with the receipt of an earlier one.
    """

    raised: str | None
    refused: tuple[str, str] | None
    state: bytes | None
    passed: tuple[Boundary, ...]
    doubts: tuple[str, ...] = ()
    doubts_told: bool = False
    run_id_was_read: bool = False
    shareable: bool = True
    awaited: bool = False
    violations: tuple[Violation, ...] = ()
    absorbed: int = 0


class Remains(Protocol):
    """What lies at a scenario's root while none of its lives runs; read once, and not changed."""

    @property
    def effects(self) -> Sequence[Effect]:
        """The effects that were applied so far, in order."""
        ...

    @property
    def effect_count(self) -> int: ...

    def image_digest(self) -> str:
        """What tells one image from another; equal ones are resumed once."""
        ...

    def meanings(self) -> Mapping[str, str]:
        """What tells one state from another, by the file or store that says it.

        It is the same however it is written down.
        """
        ...

    def unknowable(self, boundary: Boundary, baseline: Sequence[Effect]) -> str | None:
        """The key of the effect whose outcome nobody can know after a death at `boundary`.

        None where the contract settles it, or no effect was on its way.
        """
        ...


class LivingSubject(Protocol):
    """A subject whose lives are forked. All its durable state lies below the scenario's root."""

    @property
    def contract(self) -> ToolContract:
        """What the receiver of its effects promises."""
        ...

    def lay_out(self, root: Path) -> None:
        """Fill a scenario's new, empty root, as the first life will find it."""
        ...

    def body(self, order: Order) -> Body:
        """What a life does, asked in its own process, which was never told what `lay_out` did."""
        ...

    def remains(self, root: Path) -> Remains:
        """Look at what the dead lives of a scenario have left."""
        ...

    def share_of(self, boundary: Boundary) -> int:
        """Boundaries of one number can leave the same image, and are tried by one worker."""
        ...
