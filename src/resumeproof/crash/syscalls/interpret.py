"""From the calls of all processes to what they did to the recorded directory.

A call takes effect somewhere between its beginning and its end, and where several overlap nothing
says in which order. Each is taken to have effect at its end, when it certainly had; so is the order
of a recording one that can have been. Calls that give a number away which another thread may get
before they end are taken at their beginning.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from resumeproof.crash.syscalls.contents import CONTENTS
from resumeproof.crash.syscalls.descriptors import STDOUT, Description, Slot, Surroundings, Tracee
from resumeproof.crash.syscalls.history import History, Step
from resumeproof.crash.syscalls.lives import AT_BEGINNING, BIRTHS, LIVES
from resumeproof.crash.syscalls.names import NAMES
from resumeproof.crash.syscalls.opening import OPENING
from resumeproof.crash.syscalls.operations import Process
from resumeproof.crash.syscalls.parse import Ended, Entered, Event, RawCall
from resumeproof.crash.syscalls.permissions import PERMISSIONS
from resumeproof.crash.syscalls.turns import LOCKS, contends

_AT_END: Final[dict[str, Callable[[Step], None]]] = OPENING | CONTENTS | NAMES | PERMISSIONS | LIVES

KNOWN_CALLS: Final = frozenset(_AT_END) | frozenset(AT_BEGINNING) | LOCKS
"""The names of all calls that mean anything here."""


def interpret(
    events: Iterable[Event],
    births: Mapping[int, deque[RawCall]],
    history: History,
    surroundings: Surroundings,
    *,
    printing: bool = True,
    look: Callable[[Step], None] = lambda step: None,
) -> None:
    """Take up a whole run.

    `births` are those of `read_births`; `surroundings` are those that the run began in. What goes
    to the standard output counts as printed, unless not `printing`. `look` is called with each call
    that has ended, failed or not, before its effect.
    """
    surroundings = _placed(history, surroundings)
    for event in events:
        if isinstance(event, Ended):
            _take_over(history, event)
            continue
        call = event.call
        tracee = history.tracees.get(call.thread)
        if tracee is None:
            tracee = _unknown_tracee(history, call, surroundings, printing)
        if isinstance(event, Entered):
            tracee.count(call.name)
            if call.name in BIRTHS:
                call = births[call.thread].popleft()
            _take_up(AT_BEGINNING.get(call.name), Step(history, tracee, call))
        else:
            step = Step(history, tracee, call)
            look(step)
            ordinal = _take_up(_AT_END.get(call.name), step)
            if ordinal is not None or contends(step):
                history.take_turn(tracee, call, ordinal)


def _placed(history: History, surroundings: Surroundings) -> Surroundings:
    """The same, with a working directory that is in the tree told by its number there."""
    folder = surroundings.folder
    number = history.number_named(folder) if isinstance(folder, str) else None
    return surroundings if number is None else Surroundings(number, surroundings.mask)


def _take_up(meaning: Callable[[Step], None] | None, step: Step) -> int | None:
    """Let a call that did not fail have its effect; return its ordinal if that was durable."""
    before = len(step.history.calls)
    if meaning is not None and step.call.returned is not None:
        meaning(step)
    after = len(step.history.calls)
    return after if after > before else None


def _unknown_tracee(
    history: History, call: RawCall, surroundings: Surroundings, printing: bool
) -> Tracee:
    """The first process, with its output; or one whose birth nobody saw."""
    tracee = Tracee(index=len(history.processes), surroundings=surroundings.copy())
    if history.processes:
        history.uncovered(f"process {call.thread}, of which nothing shows where it came from")
        history.processes.append(Process(call.thread, 0, ()))
    else:
        if printing:
            tracee.slots[STDOUT] = Slot(Description(stdout=True, offset=None))
        history.processes.append(Process(call.thread, None, ()))
    history.tracees[call.thread] = tracee
    return tracee


def _take_over(history: History, ended: Ended) -> None:
    """A thread that executes a program goes on under its process's number, execve(2)."""
    tracee = history.tracees.pop(ended.thread, None)
    if ended.successor is not None and tracee is not None:
        history.tracees[ended.successor] = tracee
