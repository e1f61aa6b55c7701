"""The states that killing a recorded program can leave, each with its one-line plan.

    call:before#12        the first 11 calls were made
    call:after#12         the first 12
    write-cut300:after#12 the first 11, and the first 300 bytes of the twelfth, a write

A kill tears a write at a page boundary of its file, and nowhere else.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, replace
from typing import Final

from resumeproof.crash.plan import CrashPoint
from resumeproof.crash.syscalls import operations as op
from resumeproof.crash.syscalls.rebuild import page_cuts
from resumeproof.errors import PlanRefused

_BOUNDARY_TEXT: Final = re.compile(r"call:(?:before|after)|write-cut(?P<cut>[1-9][0-9]*):after")

UNCHANGING: Final = (op.Sync, op.SyncRange, op.SyncDirectory, op.SyncAll)
"""Calls that change nothing which a mere kill could show."""


@dataclass(frozen=True, slots=True)
class KillState:
    """The directory once calls up to `ordinal` were made, of the last only `cut` bytes if given.

    This is what `Rebuilder.go_to(ordinal, cut=cut)` rebuilds. `stands_for`: the boundaries that
    leave this very state, since nothing happens between one call's return and the next call.
    """

    ordinal: int
    cut: int | None = None
    stands_for: int = 1

    @property
    def point(self) -> CrashPoint:
        if self.cut is not None:
            return CrashPoint(f"write-cut{self.cut}:after", self.ordinal)
        if self.ordinal == 0:
            return CrashPoint("call:before", 1)
        return CrashPoint("call:after", self.ordinal)


def kill_states(recording: op.Recording) -> list[KillState]:
    """Return every state that a kill can leave, once each, in the order of the calls.

    The sum of `stands_for` is that of all boundaries: before and after each call, and the cuts.
    """
    last = len(recording.calls)
    states = [KillState(0)]
    whole = 0  # where the last state without a cut stands
    for call in recording.calls:
        states += [KillState(call.ordinal, cut) for cut in page_cuts(call.operation)]
        boundaries = 1 if call.ordinal == last else 2  # after it, and before the next
        if isinstance(call.operation, UNCHANGING):
            same = states[whole]
            states[whole] = replace(same, stands_for=same.stands_for + boundaries)
        else:
            whole = len(states)
            states.append(KillState(call.ordinal, stands_for=boundaries))
    return states


def is_kill_point(point: CrashPoint) -> bool:
    """Return whether the point's text is that of a kill state, as against one of a power cut."""
    return _BOUNDARY_TEXT.fullmatch(point.boundary) is not None


def kill_state(point: CrashPoint, recording: op.Recording) -> KillState:
    """Return the state of a plan's point. Raises `PlanRefused` if the recording has none there."""
    match = _BOUNDARY_TEXT.fullmatch(point.boundary)
    if match is None:
        raise PlanRefused(text=str(point), reason="a state of a program is call:after#K")
    if point.occurrence > len(recording.calls):
        raise PlanRefused(text=str(point), reason=f"there are {len(recording.calls)} calls")
    if match["cut"] is None:
        return KillState(point.occurrence - point.boundary.endswith(":before"))
    cut, cuts = int(match["cut"]), list(page_cuts(recording.calls[point.occurrence - 1].operation))
    if cut not in cuts:
        reason = f"call {point.occurrence} can be cut after {cuts or 'no'} bytes"
        raise PlanRefused(text=str(point), reason=reason)
    return KillState(point.occurrence, cut)


class Output:
    """What the program had printed by each call."""

    def __init__(self, recording: op.Recording) -> None:
        prints = [call for call in recording.calls if isinstance(call.operation, op.Print)]
        self._ordinals = [call.ordinal for call in prints]
        self._ends = [0]
        pieces = []
        for call in prints:
            assert isinstance(call.operation, op.Print)
            pieces.append(call.operation.data)
            self._ends.append(self._ends[-1] + len(call.operation.data))
        self._data = b"".join(pieces)

    def length_by(self, ordinal: int) -> int:
        """Return how many bytes were printed by the calls up to `ordinal`."""
        return self._ends[bisect_right(self._ordinals, ordinal)]

    def by(self, ordinal: int) -> bytes:
        """Return the bytes that were printed by the calls up to `ordinal`."""
        return self._data[: self.length_by(ordinal)]
