"""What failing states have in common, so that one thing that is wrong is told once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from resumeproof.domain.verdict import FindingKind, Violation
from resumeproof.proof.commands.exploring import Explored
from resumeproof.proof.commands.images import Image, State

_FIGURES: Final = re.compile(r"\W*\d[\W\d]*")


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


Likeness = tuple[FindingKind, str]


def likeness(violation: Violation) -> Likeness:
    """What violations have in common whose texts differ in their figures alone."""
    return violation.kind, _FIGURES.sub("#", violation.detail)


def grouped(explored: Explored) -> list[Discovery]:
    """One discovery for each way to fail, kills first, in the order in which they were found."""
    groups: dict[tuple[bool, Likeness], list[tuple[State, Violation]]] = {}
    for state, violation in failing(explored):
        groups.setdefault((state.power, likeness(violation)), []).append((state, violation))
    found = []
    for group in groups.values():
        state, violation = group[0]
        image = explored.images.images[state.image]
        found.append(Discovery(violation, state, image, len(group)))
    return sorted(found, key=lambda each: each.state.power)


def failing(explored: Explored) -> Iterator[tuple[State, Violation]]:
    """Each violation of each state."""
    for state in explored.images.states:
        for violation in explored.violations(state):
            yield state, violation
