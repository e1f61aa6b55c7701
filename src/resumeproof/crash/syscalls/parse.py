"""Reads what strace wrote: lines into calls, in the order in which the calls came and went.

The lines are those of `strace.command_line`: a process number, the call's number in brackets, and
all strings in hexadecimal, so that no character of a name or of a file can be taken for syntax.
A call that others overlap is written as two lines, `<unfinished ...>` and `<... name resumed>`.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

_LINE: Final = re.compile(r"(\d+) +(?:\[ *(\d+|\?+)\] )?(.*)", re.DOTALL)
_RESUMED: Final = re.compile(r"<\.\.\. (\w+) resumed>(.*)", re.DOTALL)
_STARTED: Final = re.compile(r"(\w+)\((.*)", re.DOTALL)
_RESULT: Final = re.compile(r"(0x[0-9a-f]+|-?\d+|\?)")
_ENDED: Final = re.compile(r"\+\+\+ (exited with|killed by|superseded by execve in pid) (\w+)")
_BIRTH: Final = re.compile(r"^\d+ +(?:\[ *\d+\] )?(?:<\.\.\. )?(?:v?fork|clone3?)\b")
_UNFINISHED: Final = " <unfinished ...>"
_FRAME: Final = " > "


@dataclass(slots=True)
class RawCall:
    """One call of one thread, as strace spells it.

    `result` is what follows its `=`, None while it is unfinished; `frames` are the lines of its
    stack, innermost first. `overlapped`: others began or ended meanwhile.
    """

    thread: int
    name: str
    number: int | None
    arguments: str
    result: str | None = None
    frames: list[str] = field(default_factory=list)
    overlapped: bool = False

    @property
    def returned(self) -> int | None:
        """The value it returned; None for a call that failed or never returned."""
        found = _RESULT.match(self.result or "")
        if found is None or found[1] == "?" or found[1].startswith("-"):
            return None
        text = found[1]
        return int(text, 8 if text.startswith("0") and text.isdigit() else 0)


@dataclass(frozen=True, slots=True)
class Entered:
    """A call has begun: it may take effect from now on."""

    call: RawCall


@dataclass(frozen=True, slots=True)
class Left:
    """A call has ended: its effect is there by now."""

    call: RawCall


@dataclass(frozen=True, slots=True)
class Ended:
    """A thread is gone, or goes on under its `successor`'s number, as execve(2) has it."""

    thread: int
    successor: int | None = None


Event = Entered | Left | Ended


def read_events(lines: Iterable[str]) -> Iterator[Event]:
    """Yield beginnings and ends of calls; both share one `RawCall`, complete only at its end."""
    unfinished: dict[int, RawCall] = {}
    events: list[Event] = []
    for text in lines:
        line = text.rstrip("\n")
        if line.startswith(_FRAME):
            # The stack follows the call that it is of.
            if events and isinstance(events[-1], Left):
                events[-1].call.frames.append(line.removeprefix(_FRAME))
            continue
        yield from events
        events = _events_of(line, unfinished)
    yield from events


def _events_of(line: str, unfinished: dict[int, RawCall]) -> list[Event]:
    parts = _LINE.fullmatch(line)
    if parts is None:
        return []  # a remark of strace's own, such as a change of personality
    thread, rest = int(parts[1]), parts[3]
    if (ended := _ENDED.match(rest)) is not None:
        unfinished.pop(thread, None)
        successor = int(ended[2]) if ended[1].startswith("superseded") else None
        return [Ended(thread, successor)]
    if (resumed := _RESUMED.fullmatch(rest)) is not None:
        begun = unfinished.pop(thread, None)
        if begun is None:
            return []
        more, begun.result = _split_result(resumed[2])
        begun.arguments += more
        return [Left(begun)]
    if (started := _STARTED.fullmatch(rest)) is None:
        return []
    number = int(parts[2]) if parts[2] and parts[2].isdigit() else None
    call = RawCall(thread, started[1], number, started[2])
    if call.arguments.endswith(_UNFINISHED):
        call.arguments = call.arguments.removesuffix(_UNFINISHED)
        call.overlapped = True
        unfinished[thread] = call
        return [Entered(call)]
    call.arguments, call.result = _split_result(call.arguments)
    return [Entered(call), Left(call)]


def read_births(lines: Iterable[str]) -> dict[int, deque[RawCall]]:
    """The complete calls by which threads made others, by the thread that made them, in order.

    A child may call before its parent's line is complete; so they are read beforehand.
    """
    births: dict[int, deque[RawCall]] = {}
    for event in read_events(line for line in lines if _BIRTH.search(line)):
        if isinstance(event, Entered):
            births.setdefault(event.call.thread, deque()).append(event.call)
    return births


def _split_result(text: str) -> tuple[str, str]:
    """Part `arguments) = result` at its last equals sign outside of all strings."""
    end = text.rfind(") ")
    while end >= 0:
        result = text[end + 1 :].lstrip(" ")
        if result.startswith("= "):
            return text[:end], result.removeprefix("= ")
        end = text.rfind(") ", 0, end)
    return text, "?"
