"""The fewest losses of a failing power cut that still fail.

Delta debugging first, which is quick where much was lost; then, as far as the budget goes, every
smaller set. What needs a lost change is lost with it, and counts. Where that is much because the
program went on for long, an earlier power cut may show the same with less.
Source: Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input" (2002).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Final

from resumeproof.crash.syscalls.cut import Losses
from resumeproof.crash.syscalls.pending import Loss
from resumeproof.crash.syscalls.power import PowerLoss, PowerState

BUDGET_TRIALS: Final = 100


def fewest_losses(
    power: PowerLoss,
    state: PowerState,
    fails: Callable[[PowerState], bool],
    budget_trials: int = BUDGET_TRIALS,
) -> PowerState:
    """Return a state of the same power cut, or of an earlier one, with fewer losses that fails.

    `state` fails. `fails` is asked at most `budget_trials` times; within them no smaller set of the
    same power cut is overlooked, and after them the smallest found so far is returned.
    """
    search = _Search(power, state, fails, budget_trials)
    search.split()
    search.all_smaller()
    search.all_earlier()
    return search.smallest


class _Search:
    def __init__(
        self,
        power: PowerLoss,
        state: PowerState,
        fails: Callable[[PowerState], bool],
        budget_trials: int,
    ) -> None:
        self._power = power
        self._state = state
        self._fails = fails
        self._left = budget_trials
        self._known: dict[Losses, bool] = {}
        self.smallest = state

    def split(self) -> None:
        """Leave out ever smaller pieces, until no single loss can be left out any more."""
        pieces = 2
        while len(losses := self.smallest.losses) > 1:
            size = -(-len(losses) // pieces)
            parts = [losses[at : at + size] for at in range(0, len(losses), size)]
            rests = [tuple(loss for loss in losses if loss not in part) for part in parts]
            if any(self._still_fails(part) for part in parts):
                pieces = 2
            elif any(self._still_fails(rest) for rest in rests):
                pieces = max(pieces - 1, 2)
            elif size == 1:
                return
            else:
                pieces = min(2 * pieces, len(losses))

    def all_smaller(self) -> None:
        size = 1
        while size < len(self.smallest.losses) and self._left:
            found = any(
                self._still_fails(losses) for losses in combinations(self._state.losses, size)
            )
            if found:
                return
            size += 1

    def all_earlier(self) -> None:
        for state in self._power.earlier(self.smallest):
            if not self._left:
                return
            self._left -= 1
            if self._fails(state):
                self.smallest = state
                return

    def _still_fails(self, losses: Sequence[Loss]) -> bool:
        """Whether a state with these losses, and what follows from them, is smaller and fails."""
        state = self._power.losing(self._state, losses)
        if state is None or len(state.losses) >= len(self.smallest.losses):
            return False
        if state.losses not in self._known:
            if not self._left:
                return False
            self._left -= 1
            self._known[state.losses] = self._fails(state)
        if self._known[state.losses]:
            self.smallest = state
        return self._known[state.losses]
