"""What a forked child does to be a process of its own, and to end as a process ends."""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final, NoReturn

from resumeproof.crash.adoption import die_with_parent
from resumeproof.crash.channel import LifeChannel
from resumeproof.crash.kill import leave

FAILED_STATUS: Final = 1

_STANDARD: Final = (0, 1, 2)


class StandardStreams:
    """`sys.stdin`, `sys.stdout` and `sys.stderr` for lives to come, made once by their host.

    A life that made its own would pay, by a page fault each, for every page that this touches.
    """

    def __init__(self) -> None:
        # They ask what kind of file they are on when they are made.
        with _as_a_life_finds_them():
            self._stdin = open(0, closefd=False)  # noqa: SIM115
            self._stdout = open(1, "w", closefd=False)  # noqa: SIM115
            self._stderr = open(2, "w", buffering=1, closefd=False)  # noqa: SIM115

    def take(self) -> None:
        """Make them this process's own."""
        sys.stdin, sys.stdout, sys.stderr = self._stdin, self._stdout, self._stderr


@contextmanager
def _as_a_life_finds_them() -> Iterator[None]:
    """Have nothing to read at descriptor 0 and a pipe at 1 and 2 for a moment."""
    read_end, write_end = os.pipe()
    saved = {descriptor: _duplicate(descriptor) for descriptor in _STANDARD}
    try:
        _redirect(write_end)
        yield
    finally:
        os.close(read_end)
        for descriptor, copy in saved.items():
            if copy is None:
                os.close(descriptor)
            else:
                os.dup2(copy, descriptor)
                os.close(copy)


def _duplicate(descriptor: int) -> int | None:
    with suppress(OSError):
        return os.dup(descriptor)
    return None


def _redirect(out: int) -> None:
    """Nothing to read at descriptor 0, `out` at 1 and 2, and nowhere else."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(out, 1)
    os.dup2(out, 2)
    for descriptor in {nothing, out} - set(_STANDARD):
        os.close(descriptor)


def live(
    body: Callable[[LifeChannel], object], channel: LifeChannel, out: int, streams: StandardStreams
) -> NoReturn:
    """What the forked child does: become a process of its own, live, and end as a process ends."""
    status = FAILED_STATUS
    try:
        _become_a_process(out)
        streams.take()
        outcome = body(channel)
        channel.send("end", outcome)
        status = 0
        _end_as_processes_do()
    finally:
        # Never back into the code that forked us.
        leave(status)


def _become_a_process(out: int) -> None:
    os.setsid()
    die_with_parent()
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    _redirect(out)
    gc.enable()
    # The parent's handlers are the parent's; those that the subject registers are its own.
    atexit._clear()
    _seed_anew()


def _seed_anew() -> None:
    """A real process starts with randomness of its own; forks of one process would share it."""
    for name in ("random", "numpy.random"):
        module = sys.modules.get(name)
        if module is not None:
            module.seed()


def _end_as_processes_do() -> None:
    """Join threads, run what `atexit` holds, flush: what an interpreter does at its end."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    gc.collect()
    sys.stdout.flush()
    sys.stderr.flush()
