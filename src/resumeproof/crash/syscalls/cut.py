"""One moment at which the power is cut: what is pending then, and every way to lose some of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from resumeproof.crash.syscalls import operations as op
from resumeproof.crash.syscalls.device import POSIX
from resumeproof.crash.syscalls.pending import (
    Disk,
    Loss,
    LossKind,
    Pending,
    is_synchronous,
    put_all,
    tears,
)
from resumeproof.crash.syscalls.repetition import Repetition
from resumeproof.crash.syscalls.states import UNCHANGING
from resumeproof.crash.syscalls.tree import Tree

Losses = tuple[Loss, ...]
"""What was lost, in the order of the calls, at most one loss a call."""


@dataclass(frozen=True)
class Cut:
    """The power goes after call `ordinal` returned or, `in_flight`, before it did.

    `domain` is the only failure domain that loses it; None: all do. `disk` is what every state
    holds, `pending` what came since.
    """

    ordinal: int
    in_flight: bool
    domain: int | None
    disk: Tree
    pending: Sequence[Pending]

    @cached_property
    def at_stake(self) -> list[Pending]:
        """Return what may be lost."""
        return [one for one in self.pending if not one.kept]

    def build(self, losses: Iterable[Loss]) -> Tree:
        """Return the directory with these losses."""
        tree = self.disk.clone()
        put_all(tree, self.pending, losses)
        return tree

    def with_needs(self, losses: Iterable[Loss]) -> Losses:
        """Return the losses, and those of what needs what is lost."""
        lost = {loss.ordinal: loss for loss in losses}
        for one in self.at_stake:
            if any(lost.get(n, _KEPT).kind is LossKind.GONE for n in one.needs):
                lost[one.ordinal] = Loss(one.ordinal)
        return tuple(sorted(lost.values()))

    def allows(self, losses: Losses) -> bool:
        """Return whether the device model knows a state with exactly these losses."""
        at_stake = {one.ordinal: one for one in self.at_stake}
        for loss in losses:
            one = at_stake.get(loss.ordinal)
            if one is None or not (
                loss.kind is LossKind.GONE
                or (loss.kind is LossKind.HOLLOW and one.grows)
                or loss in tears(one)
            ):
                return False
        ordinals = [loss.ordinal for loss in losses]
        return sorted(set(ordinals)) == ordinals and self.with_needs(losses) == losses

    def losses(self) -> Iterator[tuple[Losses, bool]]:
        """Yield every way, each once: first what tells most, then all in a fixed order.

        And whether it surely leaves what a way before it left.
        """
        repetition = Repetition(self.disk, self.pending)
        telling = dict.fromkeys([*self.telling(), *self._telling_torn()])
        for losses in telling:
            yield losses, repetition.of(losses)
        for losses in self._all():
            if losses not in telling:
                yield losses, repetition.of(losses)

    def telling(self) -> Iterator[Losses]:
        """Yield the ways that tell most: all lost; one lost; the first few kept; one kept."""
        gone = [Loss(one.ordinal) for one in self.at_stake]
        yield tuple(gone)
        for one in self.at_stake:
            yield self.with_needs([Loss(one.ordinal)])
            if one.grows:
                yield (Loss(one.ordinal, LossKind.HOLLOW),)
        for place in range(1, len(gone)):
            yield tuple(gone[place:])
        for one in self.at_stake:
            yield self._keeping({one.ordinal})

    def _telling_torn(self) -> Iterator[Losses]:
        """One torn, alone or with all that came later lost."""
        gone = [Loss(one.ordinal) for one in self.at_stake]
        for every in (POSIX.page_bytes, POSIX.sector_bytes):
            for place, one in enumerate(self.at_stake):
                for loss in tears(one, every):
                    yield (loss,)
                    yield (loss, *gone[place + 1 :])

    def _keeping(self, kept: set[int]) -> Losses:
        """Return the losses of all but these and what they need."""
        for one in reversed(self.at_stake):
            if one.ordinal in kept:
                kept = kept | one.needs
        return tuple(Loss(one.ordinal) for one in self.at_stake if one.ordinal not in kept)

    def _all(self) -> Iterator[Losses]:
        for subset in self._subsets(0, ()):
            yield subset
            lost = {loss.ordinal for loss in subset}
            for one in self.at_stake:
                if one.ordinal not in lost:
                    for loss in tears(one):
                        yield tuple(sorted((*subset, loss)))

    def _subsets(self, place: int, lost: Losses) -> Iterator[Losses]:
        # Explicit, since there may be more pending changes than Python lets calls nest.
        waiting = [(place, lost)]
        while waiting:
            place, lost = waiting.pop()
            if place == len(self.at_stake):
                yield lost
                continue
            one = self.at_stake[place]
            if one.grows:
                waiting.append((place + 1, (*lost, Loss(one.ordinal, LossKind.HOLLOW))))
            waiting.append((place + 1, (*lost, Loss(one.ordinal))))
            if not any(loss.kind is LossKind.GONE and loss.ordinal in one.needs for loss in lost):
                waiting.append((place + 1, lost))


_KEPT = Loss(0, LossKind.HEAD)


def cuts(recording: op.Recording, origin: Tree, domain: int | None = None) -> Iterator[Cut]:
    """Yield the moments whose states are all that a power cut can leave.

    These are the ends of the epochs: just before a sync takes something off what is pending, and
    before anything happens on a disk that keeps its power. A cut at any other moment leaves a
    state in which what was done since then is lost, and with no more promises made.
    """
    loses = _losing(recording, domain)
    disk = Disk(origin, loses)
    news = False

    def cut(ordinal: int, in_flight: bool = False) -> Cut:
        return Cut(ordinal, in_flight, domain, disk.kept.clone(), tuple(disk.pending))

    for call in recording.calls:
        if _is_shared_memory(call.operation):
            disk.make(call)
        elif not loses(call) and not isinstance(call.operation, (*UNCHANGING, op.Print)):
            if disk.pending:
                yield cut(call.ordinal - 1)
            disk.make(call)
            news = True
        else:
            disk.make(call)
            synchronous = is_synchronous(call.operation)
            news = news or not isinstance(call.operation, UNCHANGING)
            if news and disk.pending and (synchronous or disk.settled_by(call)):
                yield cut(call.ordinal if synchronous else call.ordinal - 1, synchronous)
                news = False
        disk.end(call)
    if news and disk.pending:
        yield cut(len(recording.calls))


def cut_at(
    recording: op.Recording, origin: Tree, ordinal: int, in_flight: bool, domain: int | None
) -> Cut:
    """Return what is pending at any moment, be it one of `cuts` or not."""
    disk = Disk(origin, _losing(recording, domain))
    for call in recording.calls[:ordinal]:
        disk.make(call)
        if call.ordinal < ordinal or not in_flight:
            disk.end(call)
    return Cut(ordinal, in_flight, domain, disk.kept, tuple(disk.pending))


def _losing(recording: op.Recording, domain: int | None) -> Callable[[op.Call], bool]:
    roots = [root for root in recording.domains if root]

    def loses(call: op.Call) -> bool:
        if _is_shared_memory(call.operation):
            return False
        if isinstance(call.operation, op.MakeDirectory):
            made = call.operation.path
            if any(root == made or root.startswith(made + "/") for root in roots):
                return False  # where another disk is mounted does not hang on this one
        return domain is None or call.domain == domain

    return loses


def _is_shared_memory(operation: op.Operation) -> bool:
    path = operation.target if isinstance(operation, op.Rename) else getattr(operation, "path", "")
    return (path or "").endswith(POSIX.shared_memory)
