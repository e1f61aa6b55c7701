"""Lets this process adopt its descendants' orphans, as `init` would, while lives run (Linux).

Without it a daemon of a dead life belongs to the machine, and nothing shows that it is there.
Sources: PR_SET_CHILD_SUBREAPER(2const), proc_tid_children(5).
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import ctypes

_PR_SET_PDEATHSIG: Final = 1  # linux/prctl.h
_PR_SET_CHILD_SUBREAPER: Final = 36
_PR_GET_CHILD_SUBREAPER: Final = 37
_PR_SET_PTRACER: Final = 0x59616D61  # "Yama"
_PR_SET_PTRACER_ANY: Final = -1


class _Subreaper:
    """Adoption of orphans by this process, for as long as anybody needs it.

    It is a property of the whole process, so lives that run side by side share it, and the last
    one puts back what was in force before the first.
    """

    def __init__(self) -> None:
        self._forget()

    def _forget(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._users = 0
        self._before = 0

    @contextmanager
    def adopting(self) -> Iterator[None]:
        # A fork inherits what we remember, and not what the kernel does (PR_SET_CHILD_SUBREAPER).
        if self._pid != os.getpid():
            self._forget()
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
    """Let orphans of this process's descendants become its children meanwhile; Linux only."""
    if sys.platform != "linux":
        yield
        return
    with _subreaper.adopting():
        yield


def die_with_parent() -> None:
    """Let the kernel kill this process when the one that forked it dies; Linux only.

    A parent that died before this call is noticed by its pipes, whose other end is gone.
    """
    if sys.platform == "linux":
        import ctypes

        _prctl(_PR_SET_PDEATHSIG, ctypes.c_ulong(signal.SIGKILL))


def permit_tracing() -> None:
    """Let any process of this user trace this one, where only ancestors may; Linux only."""
    import ctypes

    # Without the Yama module nobody knows this option, and nobody needs it: PR_SET_PTRACER(2const).
    with suppress(OSError):
        _prctl(_PR_SET_PTRACER, ctypes.c_ulong(_PR_SET_PTRACER_ANY))


@cache
def _libc() -> ctypes.CDLL:
    import ctypes

    return ctypes.CDLL(None, use_errno=True)


def _prctl(option: int, argument: object) -> None:
    import ctypes

    zero = ctypes.c_ulong(0)
    if _libc().prctl(option, argument, zero, zero, zero) != 0:
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


def own_children() -> frozenset[int]:
    """The pids of this process's children; empty where /proc does not list them."""
    pids: set[int] = set()
    try:
        with os.scandir("/proc/self/task") as tasks:
            listings = [f"{task.path}/children" for task in tasks]
    except OSError:
        return frozenset()
    for path in listings:
        try:
            with open(path, "rb", buffering=0) as listing:
                pids.update(map(int, listing.readall().split()))
        except OSError:
            continue  # that thread ended meanwhile; its children are listed with another
    return frozenset(pids)
