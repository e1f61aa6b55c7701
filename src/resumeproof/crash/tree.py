"""Finds what a dead life left behind, and ends it.

A life is started as the leader of its own session and process group, with a token of its own in
its environment, which every descendant inherits. What counts as left behind:

| platform | the sign that something was | what shows no sign |
|---|---|---|
| Linux | an orphan was adopted: this process is a subreaper while lives run | nothing |
| other POSIX | the group has members, or a pipe of the life is open | a daemon that closed its pipes |
| Windows | none, so each life's tree is looked for | nothing |

Only after such a sign are all processes looked through, by group, session, token and descent. Out
of reach is a process that has left session and group, lost its parent *and* was started with a
cleared environment: nothing says whose it was, and no stranger is ever killed. If it holds a pipe
of the life it is reported as not cleared.

Sources: PR_SET_CHILD_SUBREAPER(2const), proc_pid_task(5) for `children`.
"""

from __future__ import annotations

import itertools
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from resumeproof.crash.kill import group_has_members, kill_orphan

if TYPE_CHECKING:
    import psutil

LIFE_VARIABLE: Final = "RESUMEPROOF_LIFE"

GRACE_SECONDS: Final = 0.25
"""How long a survivor may take to end by itself, as a resource tracker does when its pipe ends."""

_DEATH_SECONDS: Final = 5.0
_ROUNDS: Final = 10  # a killed process may have started another one meanwhile

_PR_SET_CHILD_SUBREAPER: Final = 36  # linux/prctl.h
_PR_GET_CHILD_SUBREAPER: Final = 37


class LifeTree:
    """The processes of one life, from before its birth (`prepare`) to after its death."""

    _serial = itertools.count()
    _leaders: Final[set[int]] = set()  # of all lives that this process runs at this time

    def __init__(self) -> None:
        own = f"{os.getpid()}-{time.monotonic_ns()}-{next(self._serial)}"
        outer = os.environ.get(LIFE_VARIABLE)
        # A life may itself run lives: theirs are also its own.
        self.token = f"{outer}/{own}" if outer else own
        self._earlier = _own_children()

    def __repr__(self) -> str:
        return f"LifeTree({self.token!r})"

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
        strangers = _own_children() - self._earlier - self._leaders
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

        found = {
            process.pid: process
            for process in psutil.process_iter()
            if self._belongs(process, leader)
        }
        for process in list(found.values()):
            try:
                descendants = process.children(recursive=True)
            except psutil.Error:
                continue
            found.update((descendant.pid, descendant) for descendant in descendants)
        return [process for process in found.values() if not _is_dead_elsewhere(process)]

    def _belongs(self, process: psutil.Process, leader: int) -> bool:
        import psutil

        try:
            if sys.platform != "win32":
                group, session = os.getpgid(process.pid), os.getsid(process.pid)
                if leader in (group, session):
                    return True
            token = process.environ().get(LIFE_VARIABLE, "")
        except (psutil.Error, OSError):
            return False  # gone meanwhile, or a stranger's
        return token == self.token or token.startswith(f"{self.token}/")


class _Subreaper:
    """Adoption of orphans by this process, for as long as anybody needs it.

    It is a property of the whole process, so lives that run side by side share it, and the last
    one puts back what was in force before the first.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._before = 0

    @contextmanager
    def adopting(self) -> Iterator[None]:
        with self._lock:
            if self._users == 0:
                self._before = _subreaper_flag()
                _set_subreaper_flag(1)
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if self._users == 0:
                    _set_subreaper_flag(self._before)


_subreaper = _Subreaper()


@contextmanager
def adopting_orphans() -> Iterator[None]:
    """Let the orphans of this process's descendants become its children meanwhile (Linux only)."""
    if sys.platform != "linux":
        yield
        return
    with _subreaper.adopting():
        yield


def _prctl(option: int, argument: object) -> None:
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    zero = ctypes.c_ulong(0)
    if libc.prctl(option, argument, zero, zero, zero) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"prctl {option}: {os.strerror(error)}")


def _subreaper_flag() -> int:
    import ctypes

    flag = ctypes.c_int(0)
    _prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(flag))
    return flag.value


def _set_subreaper_flag(flag: int) -> None:
    import ctypes

    _prctl(_PR_SET_CHILD_SUBREAPER, ctypes.c_ulong(flag))


def _own_children() -> frozenset[int]:
    """The pids of this process's children; empty where /proc does not list them."""
    pids: set[int] = set()
    for listing in Path("/proc/self/task").glob("*/children"):
        try:
            pids.update(map(int, listing.read_text().split()))
        except OSError:
            continue  # that thread ended meanwhile; its children are listed with another
    return frozenset(pids)


def _is_dead_elsewhere(process: psutil.Process) -> bool:
    """Whether it is a zombie that only its own parent, some other process, can reap."""
    import psutil

    try:
        return bool(process.status() == psutil.STATUS_ZOMBIE and process.ppid() != os.getpid())
    except psutil.Error:
        return True
