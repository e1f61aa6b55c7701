"""Finds what a dead life left behind, and ends it.

A life is started as the leader of its own session and process group, with a token of its own in
its environment, which every descendant inherits. What counts as left behind:

| platform | the sign that something was | what shows no sign |
|---|---|---|
| Linux | an orphan was adopted: this process is a subreaper while lives run | nothing |
| other POSIX | its group has members, or a pipe of it is open | a daemon that closed its pipes |
| Windows | none, so each life's tree is looked for | nothing |

Only after such a sign are all processes looked through, by group, session, token and descent. Out
of reach is a process that has left session and group, lost its parent *and* was started with a
cleared environment: nothing says whose it was, and no stranger is ever killed. If it holds a pipe
of the life it is reported as not cleared. An adopted zombie of that sort that led a session stays
one until this process ends, since it might be somebody's child in another thread.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from resumeproof.crash.adoption import own_children
from resumeproof.crash.kill import group_has_members, kill_orphan

if TYPE_CHECKING:
    import psutil

LIFE_VARIABLE: Final = "RESUMEPROOF_LIFE"

GRACE_SECONDS: Final = 0.5
"""How long a survivor may take to end by itself, as a resource tracker does when its pipe ends."""

_DEATH_SECONDS: Final = 5.0
_ROUNDS: Final = 10  # a killed process may have started another one meanwhile


class LifeTree:
    """The processes of one life; made before it starts, so that what was there before is known.

    `token` is for the child's environment, as RESUMEPROOF_LIFE.
    """

    _serial = itertools.count()
    _leaders: Final[set[int]] = set()  # of all lives that this process runs at this time

    def __init__(self) -> None:
        own = f"{os.getpid()}-{time.monotonic_ns()}-{next(self._serial)}"
        outer = os.environ.get(LIFE_VARIABLE)
        # A life may itself run lives: theirs are also its own.
        self.token = f"{outer}/{own}" if outer else own
        self._earlier = own_children()

    @contextmanager
    def led_by(self, leader: int) -> Iterator[None]:
        """Say that process `leader` is expected here, and no orphan of another life."""
        self._leaders.add(leader)
        try:
            yield
        finally:
            self._leaders.discard(leader)

    def something_amiss(self, leader: int) -> bool:
        """Whether a dead and reaped leader may have left anything behind. Cheap."""
        if sys.platform == "win32":
            return True
        strangers = own_children() - self._earlier - self._leaders
        return bool(strangers) or group_has_members(leader)

    def reap(self, leader: int) -> tuple[tuple[int, ...], bool]:
        """End all that `leader`, dead and reaped, left behind.

        Return the pids of the orphans (what was still alive after `GRACE_SECONDS`), and whether
        all of them are gone.
        """
        import psutil

        orphans: set[int] = set()
        patience_seconds = GRACE_SECONDS
        for _ in range(_ROUNDS):
            survivors = self._survivors(leader)
            if not survivors:
                return tuple(sorted(orphans)), True
            # Waiting also reaps those that are this process's children by adoption.
            _, alive = psutil.wait_procs(survivors, timeout=patience_seconds)
            patience_seconds = 0.0
            for process in alive:
                orphans.add(process.pid)
                kill_orphan(process)
            psutil.wait_procs(alive, timeout=_DEATH_SECONDS)
        return tuple(sorted(orphans)), False

    def _survivors(self, leader: int) -> list[psutil.Process]:
        import psutil

        sessions = {process: _session(process) for process in psutil.process_iter()}
        found = {
            process
            for process, session in sessions.items()
            if session == leader or _group(process) == leader or self._bears_token(process)
        }
        # Whoever shares a session with a descendant is one too; a zombie has no other mark left.
        theirs = {sessions[process] for process in found} - {None}
        found.update(process for process, session in sessions.items() if session in theirs)
        for process in list(found):
            with contextlib.suppress(psutil.Error):
                found.update(process.children(recursive=True))
        found.update(process for process, session in sessions.items() if _is_lost(process, session))
        return [process for process in found if not _is_anothers_zombie(process)]

    def _bears_token(self, process: psutil.Process) -> bool:
        import psutil

        try:
            token = process.environ().get(LIFE_VARIABLE, "")
        except (psutil.Error, OSError):
            return False  # gone meanwhile, or a stranger's
        return token == self.token or token.startswith(f"{self.token}/")


def _session(process: psutil.Process) -> int | None:
    if sys.platform == "win32":
        return None
    try:
        return os.getsid(process.pid)
    except OSError:
        return None


def _group(process: psutil.Process) -> int | None:
    if sys.platform == "win32":
        return None
    try:
        return os.getpgid(process.pid)
    except OSError:
        return None


def _is_lost(process: psutil.Process, session: int | None) -> bool:
    """Whether it is a zombie that this process adopted, whoever's it was, and must reap.

    A child that was born to this process shares its session or leads one.
    """
    if session is None or session in (process.pid, os.getsid(0)):
        return False
    return _zombies_parent(process) == os.getpid()


def _is_anothers_zombie(process: psutil.Process) -> bool:
    """Whether it is a zombie that only some other process can reap."""
    return _zombies_parent(process) not in (None, os.getpid())


def _zombies_parent(process: psutil.Process) -> int | None:
    import psutil

    try:
        return process.ppid() if process.status() == psutil.STATUS_ZOMBIE else None
    except psutil.Error:
        return None
