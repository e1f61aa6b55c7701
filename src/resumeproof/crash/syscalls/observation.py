"""What a run has seen of the directory that it found: all that it can go by."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from resumeproof.crash.syscalls.tree import Name

Span = tuple[int, int]
"""Bytes of a file: from the first up to, and without, the second."""


@dataclass(frozen=True, slots=True)
class SawBytes:
    """A span of a file was read, all of which was there."""

    number: int
    span: Span


@dataclass(frozen=True, slots=True)
class SawSize:
    """A file's size was asked for, or its end was come to."""

    number: int


@dataclass(frozen=True, slots=True)
class SawName:
    """An entry was looked up, whether it was there or not."""

    name: Name


@dataclass(frozen=True, slots=True)
class SawNames:
    """All entries of a directory were read."""

    folder: int


Sight = SawBytes | SawSize | SawName | SawNames


@dataclass(frozen=True, slots=True)
class Observation:
    """What was seen first of what was there before, in the order in which it was seen.

    What a run has written itself tells it nothing. Files and directories are told by their numbers.
    `opaque`: nobody can say what was seen, so all of it counts.
    """

    sights: Sequence[Sight]
    opaque: bool = False


class Spans:
    """A growing set of bytes of one file."""

    def __init__(self) -> None:
        self._spans: list[Span] = []

    def add(self, span: Span) -> None:
        """Put bytes in."""
        start, stop = span
        apart = []
        for one in self._spans:
            if one[1] < start or one[0] > stop:
                apart.append(one)
            else:
                start, stop = min(start, one[0]), max(stop, one[1])
        self._spans = sorted([*apart, (start, stop)])

    def missing(self, span: Span) -> Iterator[Span]:
        """The parts of a span that are not in."""
        position, end = span
        for start, stop in self._spans:
            if position < start and position < end:
                yield position, min(start, end)
            position = max(position, stop)
        if position < end:
            yield position, end

    def __iter__(self) -> Iterator[Span]:
        return iter(self._spans)
