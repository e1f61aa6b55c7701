"""The states that are tried: each a death in its scenario, and the image that it leaves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from resumeproof.crash.plan import CrashPlan, CrashPoint
from resumeproof.crash.syscalls.states import kill_state
from resumeproof.crash.syscalls.tree import Tree
from resumeproof.proof.calls.worker import Death, Run
from resumeproof.proof.commands.images import killed


@dataclass(frozen=True, slots=True)
class State:
    """One death, the last of `points`; `committed` effects were there at each of them.

    States with the same `image` are resumed as one.
    """

    points: tuple[CrashPoint, ...]
    run: Run
    death: Death
    committed: tuple[int, ...]
    image: str

    @property
    def plan(self) -> str:
        return str(CrashPlan(self.points))

    @property
    def invalid(self) -> str | None:
        """Why it proves nothing."""
        return self.run.recorded.problem


@dataclass
class Images:
    """The distinct directories of all states, by what tells them apart."""

    dedupe: bool
    trees: dict[str, Tree] = field(default_factory=dict)

    def of_run(self, run: Run, before: State | None = None) -> list[State]:
        """All states of a recorded life; it resumed after `before`, if it is not the first."""
        return list(self._listed(run, before, None))

    def at(self, run: Run, point: CrashPoint, before: State | None = None) -> State:
        """The state of one point alone. Raises `PlanRefused` where the life comes to none such."""
        (state,) = self._listed(run, before, point)
        return state

    def _listed(self, run: Run, before: State | None, only: CrashPoint | None) -> Iterator[State]:
        points = () if before is None else before.points
        committed = () if before is None else before.committed
        chosen = None if only is None else _death_at(run, only)
        for death, (_, tree, _) in zip(run.deaths, _left(run), strict=True):
            if chosen is not None and death is not chosen:
                continue
            point = only or death.state.point
            plan = (*points, point)
            image = death.digest if self.dedupe else str(CrashPlan(plan))
            self.trees.setdefault(image, tree.clone())
            yield State(plan, run, death, (*committed, death.effects), image)


def _left(run: Run) -> Iterable[tuple[object, Tree, bytes]]:
    return killed(run.recorded.recording, run.recorded.start)


def _death_at(run: Run, point: CrashPoint) -> Death:
    """The death at a point; after a call that changes nothing it is that before it."""
    wanted = kill_state(point, run.recorded.recording)
    deaths: Sequence[Death] = run.deaths
    if wanted.cut is not None:
        return next(each for each in deaths if each.state.point == wanted.point)
    whole = [each for each in deaths if each.state.cut is None]
    return [each for each in whole if each.state.ordinal <= wanted.ordinal][-1]
