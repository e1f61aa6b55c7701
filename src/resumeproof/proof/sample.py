"""Holds shared prefixes to what lives of their own come to, at a sample of the crash points.

A traced life is interrupted by nothing that it could notice, except that time passes while it
stands, and that it still lives when what its copy left is resumed. Who asks for either may do
something else than a life that really ends there: then nothing is shared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from resumeproof.proof.comparison import same_value
from resumeproof.proof.living import Boundary
from resumeproof.proof.oracle import Seen
from resumeproof.proof.share import NotShareable

_LARGEST: Final = 5
_ONE_OF: Final = 5


def spread(points: Sequence[Boundary]) -> frozenset[Boundary]:
    """One of five crash points, and five at most, from all parts of a life."""
    count = min(_LARGEST, -(-len(points) // _ONE_OF))
    return frozenset(
        points[(2 * number + 1) * len(points) // (2 * count)] for number in range(count)
    )


@dataclass(frozen=True)
class Course:
    """What a death left, by the file or store that says it, and what its resume came to."""

    left: Mapping[str, str]
    seen: Seen


def require_alike(shared: Course, in_full: Callable[[], Course]) -> None:
    """Raise `NotShareable` unless a scenario comes to the same when it is carried out in full.

    Where it does not, it is carried out once more: what is not even the same in two lives of
    their own, such as a time of day, says nothing.
    """
    first = in_full()
    names = _differing(shared, first)
    same_end = same_value(shared.seen, first.seen)
    if not names and same_end:
        return
    second = in_full()
    names -= _differing(first, second)
    if names:
        raise NotShareable(f"one that is run only to its death leaves another {min(names)}")
    if not same_end and same_value(first.seen, second.seen):
        raise NotShareable("one that is run only to its death is resumed otherwise")


def _differing(one: Course, other: Course) -> set[str]:
    names = one.left.keys() | other.left.keys()
    return {name for name in names if one.left.get(name) != other.left.get(name)}
