"""What outlives a forked life is found, with the locks it holds, and ended."""

from __future__ import annotations

import os
from collections.abc import Set
from pathlib import Path
from typing import TYPE_CHECKING, Final

from resumeproof.crash.adoption import own_children
from resumeproof.crash.kill import group_has_members, kill_orphan
from resumeproof.crash.locks import locked_files
from resumeproof.crash.tree import GRACE_SECONDS

if TYPE_CHECKING:
    import psutil

_DEATH_SECONDS: Final = 10.0
_ROUNDS: Final = 10  # a killed process may have started another one meanwhile


def end_leftovers(leader: int, living: Set[int]) -> dict[int, frozenset[Path]]:
    """End what outlived a life, and return the pids of what had to be killed, with its locks.

    The host has no other children than its lives, so whoever it has adopted is an orphan, unless
    it is a life that stands at a boundary meanwhile. Where nothing is adopted, an orphan shows
    while it keeps to the life's process group.
    """
    if not _adopted(living) and not group_has_members(leader):
        return {}
    import psutil

    left: dict[int, frozenset[Path]] = {}
    patience_seconds = GRACE_SECONDS
    for _ in range(_ROUNDS):
        adopted = [psutil.Process(pid) for pid in _adopted(living)]
        offspring = [child for process in adopted for child in process.children(recursive=True)]
        _, alive = psutil.wait_procs(
            adopted + offspring + _members(leader), timeout=patience_seconds
        )
        patience_seconds = 0.0
        for process in alive:
            left[process.pid] = locked_files(process.pid)
            kill_orphan(process)
        if not alive:
            break
        psutil.wait_procs(alive, timeout=_DEATH_SECONDS)
    return left


def _adopted(living: Set[int]) -> Set[int]:
    """The children of this process that are none of its lives; reaps those that are dead."""
    if not living:
        # Much cheaper than to read /proc, and nearly always true.
        try:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return frozenset()
    return own_children() - living


def _members(group: int) -> list[psutil.Process]:
    import psutil

    if not group_has_members(group):
        return []
    return [process for process in psutil.process_iter() if _group_of(process.pid) == group]


def _group_of(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return None
