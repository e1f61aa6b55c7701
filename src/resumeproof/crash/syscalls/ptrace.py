"""ptrace(2), as far as a supervisor needs it that stops processes at their system calls.

Nothing here knows an architecture: the kernel itself says which call was entered or left
(PTRACE_GET_SYSCALL_INFO, Linux 5.3).
"""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass
from functools import cache
from typing import Final

WAIT_ALL: Final = 0x40000000  # __WALL, linux/wait.h

# linux/ptrace.h
_SYSCALL: Final = 24
_GETEVENTMSG: Final = 0x4201
_SEIZE: Final = 0x4206
_INTERRUPT: Final = 0x4207
_LISTEN: Final = 0x4208
_GET_SYSCALL_INFO: Final = 0x420E

_TRACE_SYSCALLS_AS_SUCH: Final = 0x1
_TRACE_FORK, _TRACE_VFORK, _TRACE_CLONE, _TRACE_EXEC = 0x2, 0x4, 0x8, 0x10
_KILL_ON_EXIT: Final = 0x100000
_OPTIONS: Final = (
    _TRACE_SYSCALLS_AS_SUCH
    | _TRACE_FORK
    | _TRACE_VFORK
    | _TRACE_CLONE
    | _TRACE_EXEC
    | _KILL_ON_EXIT
)

EVENTS_OF_BIRTH: Final = frozenset({1, 2, 3})  # PTRACE_EVENT_FORK, _VFORK, _CLONE
EVENT_OF_EXEC: Final = 4
EVENT_OF_STOP: Final = 128

_ENTRY, _EXIT = 1, 2


class _Entry(ctypes.Structure):
    _fields_ = (("number", ctypes.c_uint64), ("arguments", ctypes.c_uint64 * 6))


class _Exit(ctypes.Structure):
    _fields_ = (("value", ctypes.c_int64), ("failed", ctypes.c_uint8))


class _Way(ctypes.Union):
    _fields_ = (("entry", _Entry), ("exit", _Exit))


class _Info(ctypes.Structure):
    _fields_ = (
        ("operation", ctypes.c_uint8),
        ("padding", ctypes.c_uint8 * 3),
        ("architecture", ctypes.c_uint32),
        ("instruction", ctypes.c_uint64),
        ("stack", ctypes.c_uint64),
        ("way", _Way),
    )


@dataclass(frozen=True, slots=True)
class AtEntry:
    """A thread stands before a call, which does nothing before the thread is let go."""

    number: int
    arguments: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AtExit:
    """A thread stands behind a call, whose effect is there."""

    value: int
    failed: bool


@cache
def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.restype = ctypes.c_long
    libc.ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
    return libc


def _ptrace(request: int, thread: int, address: int | None, data: object) -> int:
    ctypes.set_errno(0)
    result = int(_libc().ptrace(request, thread, address, data))
    error = ctypes.get_errno()
    if result == -1 and error:
        raise OSError(error, os.strerror(error))
    return result


def seize(process: int) -> None:
    """Trace a process with all that it will start; they die with this process."""
    _ptrace(_SEIZE, process, None, _OPTIONS)


def interrupt(process: int) -> None:
    """Stop a traced process, wherever it is: it comes to a stop before it does anything more."""
    _ptrace(_INTERRUPT, process, None, None)


def let_go(thread: int, signal: int = 0) -> None:
    """Let a stopped thread run to its next system call, or stop; deliver a signal to it."""
    _ptrace(_SYSCALL, thread, None, signal)


def let_stay(thread: int) -> None:
    """Leave a thread stopped that a stopping signal has stopped, until it is continued."""
    _ptrace(_LISTEN, thread, None, None)


def event_message(thread: int) -> int:
    """The number of the newborn, or the former number of what executed a program."""
    message = ctypes.c_ulong(0)
    _ptrace(_GETEVENTMSG, thread, None, ctypes.addressof(message))
    return message.value


def system_call(thread: int) -> AtEntry | AtExit | None:
    """Where a thread stands that has stopped at a system call."""
    info = _Info()
    _ptrace(_GET_SYSCALL_INFO, thread, ctypes.sizeof(info), ctypes.addressof(info))
    if info.operation == _ENTRY:
        return AtEntry(int(info.way.entry.number), tuple(info.way.entry.arguments))
    if info.operation == _EXIT:
        return AtExit(int(info.way.exit.value), bool(info.way.exit.failed))
    return None
