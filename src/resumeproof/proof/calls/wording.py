"""What an agent's life did, in words: its files by the names that it knows them by."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from resumeproof.crash.plan import CrashPoint
from resumeproof.crash.syscalls.operations import Call, Print, Recording, SyncAll
from resumeproof.crash.syscalls.states import kill_state
from resumeproof.domain.course import Undisturbed
from resumeproof.proof.agent import AGENT_NAME, RECEIVER_NAME
from resumeproof.proof.commands.notes import notes_of
from resumeproof.proof.commands.wording import in_words
from resumeproof.proof.explanation import kill_in_words

RECEIVER: Final = "the receiver's ledger"
_PATHS: Final = ("path", "source", "target")
_IN_TEXT: Final = re.compile(rf"(?<![^\s]){AGENT_NAME}/")
_BYTECODE: Final = "/__pycache__/"


def death_in_words(recording: Recording, point: CrashPoint) -> str:
    """Between which calls a life died, and of which files. Raises `PlanRefused`."""
    told = _told(recording)
    return kill_in_words(told, kill_state(point, told)).replace("the program dies", "it dies")


def told_calls(recording: Recording, committed: Mapping[int, int]) -> Undisturbed:
    """Every call with its two sides, each of them in words, and each effect behind its call.

    `committed` counts the effects that were there after a call, by its ordinal.
    """
    told: list[tuple[str, str]] = []
    effects = 0
    for call in _told(recording).calls:
        words = in_words(call)
        told += [(f"call:{side}#{call.ordinal}", words) for side in ("before", "after")]
        for number in range(effects + 1, committed.get(call.ordinal, effects) + 1):
            told.append((f"effect:after#{number}", f"effect {number}"))
            effects = number
    return Undisturbed(
        passed=tuple(boundary for boundary, _ in told), words=tuple(words for _, words in told)
    )


def not_covered(recording: Recording) -> Iterator[str]:
    """What the agent did that nobody looked at; what Python keeps for itself is nothing of it."""
    for note in notes_of(recording):
        if _BYTECODE not in note:
            yield named(note).replace("outside of the directory", "outside of ctx.directory")


def named(text: str) -> str:
    """A text about the scenario's files, by the names that the agent knows them by."""
    return _IN_TEXT.sub("", text)


def _told(recording: Recording) -> Recording:
    processes = [replace(each, command_line=()) for each in recording.processes]
    return replace(
        recording, calls=[_worded(call) for call in recording.calls], processes=processes
    )


def _worded(call: Call) -> Call:
    if isinstance(call.operation, SyncAll | Print):
        return call
    paths: dict[str, Any] = {
        name: _path(getattr(call.operation, name))
        for name in _PATHS
        if getattr(call.operation, name, None) is not None
    }
    return replace(call, operation=replace(call.operation, **paths))


def _path(path: str) -> str:
    if path.startswith(RECEIVER_NAME):
        return RECEIVER
    return "." if path == AGENT_NAME else path.removeprefix(f"{AGENT_NAME}/")
