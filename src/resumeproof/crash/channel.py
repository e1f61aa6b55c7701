"""A forked life's conversation with its host: frames on one pipe, and a word to go on by another.

A frame is a length, then a pickled tuple:

    ("boundary", name, occurrence, wait status of the copy that was killed there, or None)
    ("waiting", pid)                 it stands still until somebody traces it
    ("dying", name, occurrence)      the witness, just before it dies as planned
    ("end", outcome)                 it came to its end

After "boundary" and "waiting" the life stands still until the host answers, so that the host may
look around.
"""

from __future__ import annotations

import os
import signal
import threading
from functools import cache
from typing import TYPE_CHECKING, Final, NoReturn

from resumeproof.crash.adoption import permit_tracing
from resumeproof.crash.framing import framed, write_whole
from resumeproof.crash.kill import Kill, die, kill_life

if TYPE_CHECKING:
    import ctypes

GO: Final = b"g"


class LifeChannel:
    """The life's end of the conversation; every thread of the life may use it."""

    def __init__(self, up: int, down: int) -> None:
        self._up = up
        self._down = down
        self._lock = threading.Lock()

    def send(self, *frame: object) -> None:
        """Send one frame. Raises `OSError` where the subject has closed the pipe."""
        # Pickled before: what is sent may have lines of its own that send something.
        message = framed(frame)
        with self._lock:
            write_whole(self._up, message)

    def stand_at(self, name: str, occurrence: int, copy_status: int | None) -> None:
        """Tell of a boundary, and stand still until the host says go."""
        self.send("boundary", name, occurrence, copy_status)
        self._stand_still()

    def await_tracer(self) -> None:
        """Permit to be traced, and stand still until somebody does it."""
        permit_tracing()
        self.send("waiting", os.getpid())
        self._stand_still()

    def _stand_still(self) -> None:
        if not os.read(self._down, 1):
            # The host is gone: nobody would ever say go, or hear of the end.
            die(Kill.SIGKILL)

    def die_at(self, name: str, occurrence: int, kill: Kill) -> NoReturn:
        """Say where, and die there."""
        self.send("dying", name, occurrence)
        die(kill)


def send_copy_to_death(kill: Kill) -> int:
    """Fork this process as it stands and kill the copy; return the copy's wait status.

    The copy never runs a line of the subject's: what it leaves is what a death here leaves.
    """
    # Of whoever ignores it the kernel buries the children itself, and nobody hears how they died.
    ignores = signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN
    if ignores:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        copy = _fork_bare()
        if copy == 0:
            die(kill)
        if kill is Kill.SIGKILL:
            # Its own would be the same death, but this one it need not even wake for.
            kill_life(copy)
        return os.waitpid(copy, 0)[1]
    finally:
        if ignores:
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)


def _fork_bare() -> int:
    """fork(2) without the hooks of `os.register_at_fork`: those are the subject's lines as well.

    They make a child fit to go on in Python, which costs it more than its death does.
    """
    import ctypes

    pid: int = _interpreter().fork()
    if pid < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return pid


@cache
def _interpreter() -> ctypes.PyDLL:
    """This process, called without letting go of the interpreter's lock: a fork would lose it."""
    import ctypes

    return ctypes.PyDLL(None, use_errno=True)
