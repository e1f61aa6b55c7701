"""What failing states have in common, so that one thing that is wrong is told once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from resumeproof.domain.verdict import FindingKind, Violation
from resumeproof.proof.commands.exploring import Explored
from resumeproof.proof.commands.images import Image, State


@dataclass(frozen=True, slots=True)
class Discovery:
    """States that fail in one way; `state` is the first of them, which leaves `image`, and `states`
    says how many they are.

    `explanation` says in words how that state comes about. `confirmed`: the program was really
    killed there, and left the same; None after a power cut, which nobody can make. `unconfirmed`
    says why it was not.
    """

    violation: Violation
    state: State
    image: Image
    states: int
    explanation: tuple[str, ...] = ()
    confirmed: bool | None = None
    unconfirmed: str | None = None

    @property
    def kind(self) -> FindingKind:
        return self.violation.kind


def grouped(explored: Explored) -> list[Discovery]:
    """One discovery for each way to fail, kills first, in the order in which they were found."""
    groups: dict[tuple[bool, Violation], list[State]] = {}
    for state, violation in failing(explored):
        groups.setdefault((state.power, violation), []).append(state)
    return [
        Discovery(violation, states[0], explored.images.images[states[0].image], len(states))
        for (_, violation), states in sorted(groups.items(), key=lambda item: item[0][0])
    ]


def failing(explored: Explored) -> Iterator[tuple[State, Violation]]:
    """Each violation of each state."""
    for state in explored.images.states:
        for violation in explored.violations(state):
            yield state, violation
