"""Tells ways to lose something that leave the same, without building what they leave."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from resumeproof.crash.syscalls import operations as op
from resumeproof.crash.syscalls.device import POSIX
from resumeproof.crash.syscalls.pending import Loss, LossKind, Pending
from resumeproof.crash.syscalls.tree import Tree


class Repetition:
    """Remembers which write came last in each sector, how long each file is, and which names stay.

    Two ways that agree in this leave the same; whatever escapes it is found equal once it is built.
    A file that has no name does not count.
    """

    def __init__(self, disk: Tree, pending: Sequence[Pending]) -> None:
        self._pending = pending
        self._seen: set[Hashable] = set()
        named = set(disk.names.values())
        self._namings: dict[int, set[int]] = {}
        self._sizes: dict[int, int] = {}
        for one in pending:
            for number in (one.names or {}).values():
                if number is not None and number not in named:
                    self._namings.setdefault(number, set()).add(one.ordinal)
            content = None if one.node is None else disk.nodes[one.node].content
            if one.node is not None and content is not None:
                self._sizes[one.node] = content.size

    def of(self, losses: Iterable[Loss]) -> bool:
        """Return whether a way that this was asked of before leaves the same."""
        known = self._signature({loss.ordinal: loss for loss in losses})
        if known in self._seen:
            return True
        self._seen.add(known)
        return False

    def _signature(self, lost: dict[int, Loss]) -> Hashable:
        gone = {ordinal for ordinal, loss in lost.items() if loss.kind is LossKind.GONE}
        nameless = {number for number, namings in self._namings.items() if namings <= gone}
        sizes = {node: size for node, size in self._sizes.items() if node not in nameless}
        last: dict[tuple[int, int], int] = {}
        others: list[Hashable] = []
        for one in self._pending:
            if one.ordinal in gone or one.node in nameless:
                continue
            if one.node is None or not one.has_data:
                others.append(one.ordinal)
                continue
            match one.call.operation:
                case op.Write():
                    sectors, end = _kept(one, lost.get(one.ordinal))
                    last |= dict.fromkeys([(one.node, sector) for sector in sectors], one.ordinal)
                    sizes[one.node] = max(sizes[one.node], end)
                case _:
                    # What it leaves hangs on what it finds: both ways are the same until here.
                    others.append((one.ordinal, frozenset(last.items()), sizes[one.node]))
                    sizes[one.node] = _resized(one.call.operation, sizes[one.node])
        return (tuple(others), frozenset(last.items()), frozenset(sizes.items()))


def _kept(write: Pending, loss: Loss | None) -> tuple[range, int]:
    """Return where the sectors begin that a write leaves, and where the file ends at least."""
    start, stop, end = write.start, write.start + len(write.image), write.end
    if loss is not None and loss.kind is LossKind.HEAD:
        stop = end = loss.at
    elif loss is not None and loss.kind is LossKind.TAIL:
        start = loss.at
    elif loss is not None:
        stop = start
    return range(start, stop, POSIX.sector_bytes), end


def _resized(operation: op.Operation, size: int) -> int:
    match operation:
        case op.Truncate():
            return operation.size
        case op.Allocate(keeps_size=False):
            return max(size, operation.offset + operation.length)
    return size
