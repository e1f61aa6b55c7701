"""The only place that kills.

In the process that dies: `die`, and `hold_until_killed` where a supervisor does it from outside.
In the supervisor: `kill_child`, `kill_orphan`. On Windows, which has no signals, SIGKILL means
TerminateProcess, and the wait status says 15.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NoReturn

from resumeproof.errors import Exit, UsageRefused

if TYPE_CHECKING:
    import subprocess

    import psutil

CRASH_STATUS: Final = int(Exit.CRASHED)
UNKILLED_STATUS: Final = 70
"""Left with by a process that should have been killed and was not; no plan accepts it."""

if sys.platform == "win32":
    _KILL_SIGNAL: Final = signal.SIGTERM  # os.kill: TerminateProcess, exit code 15
else:
    _KILL_SIGNAL: Final = signal.SIGKILL

_READ_BYTES: Final = 4096


class Kill(StrEnum):
    """How a process dies at its crash point."""

    EXIT86 = "exit86"
    SIGKILL = "sigkill"

    @property
    def returncode(self) -> int:
        """The wait status this death leaves, as `subprocess.Popen.returncode` spells it."""
        if self is Kill.EXIT86:
            return CRASH_STATUS
        return int(_KILL_SIGNAL) if sys.platform == "win32" else -int(_KILL_SIGNAL)


def kill_named(name: str) -> Kill:
    """The death of this name. Raises `UsageRefused` where there is none."""
    try:
        return Kill(name)
    except ValueError:
        known = ", ".join(sorted(Kill))
        raise UsageRefused(reason=f"kill {name!r} is none of {known}") from None


def die(kill: Kill) -> NoReturn:
    """Die here and now: no `finally`, no `atexit`, no flush, no return to Python."""
    if kill is Kill.EXIT86:
        os._exit(CRASH_STATUS)
    os.kill(os.getpid(), _KILL_SIGNAL)
    # Process 1 of a container is immune to its own SIGKILL (pid_namespaces(7)).
    os._exit(UNKILLED_STATUS)


def hold_until_killed() -> NoReturn:
    """Stand still at a barrier until the supervisor kills this process.

    The barrier is standard input, which the supervisor keeps open: its end means that the
    supervisor itself is gone, and then nobody would ever end this process.
    """
    with contextlib.suppress(OSError):
        while os.read(0, _READ_BYTES):
            pass
    os._exit(UNKILLED_STATUS)


def kill_child(process: subprocess.Popen[bytes]) -> None:
    """Kill this one process from outside, as a crash would: what it started lives on.

    Does nothing to a child that is dead already.
    """
    if sys.platform != "win32":
        process.kill()
    elif process.poll() is None:
        # Not Popen.kill: its exit code would be 1, which is also what an exception leaves.
        with contextlib.suppress(PermissionError):
            os.kill(process.pid, _KILL_SIGNAL)


def kill_life(pid: int) -> None:
    """Kill an unreaped child of this process, which is what keeps its number from being reused."""
    os.kill(pid, _KILL_SIGNAL)


def stop(pid: int) -> None:
    """Let a process stand still (POSIX); the kernel's locks stay with it."""
    os.kill(pid, signal.SIGSTOP)


def let_go_on(pid: int) -> None:
    """Let a stopped process go on where it stood."""
    os.kill(pid, signal.SIGCONT)


def leave(status: int) -> NoReturn:
    """End a forked life here, and never return into the code that forked it."""
    os._exit(status)


def kill_orphan(process: psutil.Process) -> None:
    """Kill a process that a dead life left behind; psutil refuses a number that was recycled."""
    import psutil

    with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
        process.kill()


def group_has_members(group: int) -> bool:
    """Whether any process, dead and unreaped ones included, is in this process group (POSIX)."""
    assert group > 1, "0 and 1 would mean this process's own group, and everybody's"
    if sys.platform == "win32":
        return False
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
