"""What is to be known of a recording beside what was found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations

from resumeproof.crash.syscalls.operations import Recording


def notes_of(recording: Recording) -> Iterator[str]:
    """What was not looked at, each in one line."""
    yield from recording.not_covered
    for path in recording.outside:
        yield f"it wrote outside of the directory: {path}"
    for command, count in Counter(recording.left_running).items():
        left = "a process running, which was" if count == 1 else f"{count} processes running, all"
        yield f"it left {left} ended with it: {command}"
    concurrent = _concurrent(recording)
    if concurrent:
        yield (
            f"{concurrent} threads or processes made durable calls side by side: "
            "this is one order of these calls, and others were not tried"
        )


def _concurrent(recording: Recording) -> int:
    """How many threads and processes made calls while another, not its ancestor, was at it."""
    spans: dict[int, tuple[int, int]] = {}
    for call in recording.calls:
        first, _ = spans.get(call.process, (call.ordinal, call.ordinal))
        spans[call.process] = (first, call.ordinal)
    found: set[int] = set()
    for one, other in combinations(spans, 2):
        overlap = spans[one][0] < spans[other][1] and spans[other][0] < spans[one][1]
        if overlap and not (_descends(recording, one, other) or _descends(recording, other, one)):
            found |= {one, other}
    return len(found)


def _descends(recording: Recording, process: int, ancestor: int) -> bool:
    """Whether a process comes from another, which mostly waits for it then; a thread does not."""
    child = recording.processes[process]
    while not child.thread and child.parent is not None:
        if child.parent == ancestor:
            return True
        child = recording.processes[child.parent]
    return False
