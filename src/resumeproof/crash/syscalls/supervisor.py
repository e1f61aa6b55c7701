"""Runs a program again, and kills all of it at one recorded call. A process of its own.

    python -P -m resumeproof.crash.syscalls.supervisor PLAN RESULT

Only a process that traces can be sure where another one stands. The recorded order is kept: a
thread that comes to a recorded call waits there until all calls before it have returned, so that
what several processes have done by the moment of the kill is what the recording says.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NoReturn

from resumeproof.crash.kill import UNKILLED_STATUS, kill_life, leave
from resumeproof.crash.syscalls import ptrace
from resumeproof.crash.syscalls.killplan import KillPlan
from resumeproof.crash.tree import LIFE_VARIABLE
from resumeproof.crash.witness import WITNESS_VARIABLE

ATTACHED: Final = "attached"
"""What is said, as strace says it too, once a waiting process is traced."""

_SYSTEM_CALL_STOP: Final = signal.SIGTRAP | 0x80
_OWN_VARIABLES: Final = (LIFE_VARIABLE, WITNESS_VARIABLE)
_STOPPING: Final = frozenset({signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU})


class _TookAnotherCourse(Exception):
    """The program did not come to the call as it did when it was recorded."""


class _TimeIsUp(Exception):
    """It has taken too long."""


@dataclass(eq=False)
class _Thread:
    """A traced thread. `index` is its place in the recording, None if it has none there."""

    number: int
    index: int | None
    counts: dict[int, int] = field(default_factory=dict)
    births: int = 0
    doing: int | None = None  # the turn of the call that it is in


class _Supervisor:
    def __init__(self, plan: KillPlan) -> None:
        self._plan = plan
        self._turns = plan.turns()
        self._children = plan.children()
        self._threads: dict[int, _Thread] = {}
        self._early: set[int] = set()  # newborns of which no parent has told yet
        self._held: dict[int, _Thread] = {}  # by the turn that they wait for
        self._next = 1
        self._dying = False
        self.target: int | None = None
        self.target_status: int | None = None

    def run(self) -> None:
        """Run the program to its death. Raises `_TookAnotherCourse`."""
        first = self._start()
        self._threads[first.number] = first
        while self._threads or self._early:
            thread, status = os.waitpid(-1, ptrace.WAIT_ALL)
            if os.WIFSTOPPED(status):
                self._stopped(thread, status)
            else:
                self._gone(thread, status)

    def end(self) -> None:
        """Kill and reap whatever there still is."""
        self._kill_all()
        with contextlib.suppress(ChildProcessError):
            while True:
                thread, status = os.waitpid(-1, ptrace.WAIT_ALL)
                if not os.WIFSTOPPED(status):
                    self._gone(thread, status)

    def _start(self) -> _Thread:
        if self._plan.process is not None:
            return self._attach(self._plan.process)
        reading, writing = os.pipe()
        process = os.fork()
        if process == 0:
            os.close(writing)
            self._become(reading)
        os.close(reading)
        try:
            ptrace.seize(process)
        finally:
            os.write(writing, b"!")
            os.close(writing)
        return _Thread(process, 0)

    def _attach(self, process: int) -> _Thread:
        ptrace.seize(process)
        # From here on it does nothing before it has come to a stop, even if it is let go on.
        ptrace.interrupt(process)
        self.target = process
        print(ATTACHED, file=sys.stderr, flush=True)
        return _Thread(process, 0)

    def _become(self, reading: int) -> NoReturn:
        """Be the program, once traced: as strace's child was."""
        try:
            os.setsid()
            for number in (signal.SIGPIPE, signal.SIGXFSZ):
                signal.signal(number, signal.SIG_DFL)
            if os.read(reading, 1):
                os.execve(self._plan.program, [*self._plan.argv], self._environment())
        finally:
            leave(UNKILLED_STATUS)

    def _environment(self) -> dict[str, str]:
        """What this life is told by is told on, as it was when the program was recorded."""
        own = {name: os.environ[name] for name in _OWN_VARIABLES if name in os.environ}
        return {**self._plan.env, **own}

    def _stopped(self, number: int, status: int) -> None:
        stop, event = os.WSTOPSIG(status), status >> 16
        if self._dying:
            return  # SIGKILL ends it as it stands
        thread = self._threads.get(number)
        if thread is None:
            self._early.add(number)
            return
        if stop == _SYSTEM_CALL_STOP:
            self._at_system_call(thread)
        elif event in ptrace.EVENTS_OF_BIRTH:
            self._bear(thread, ptrace.event_message(number))
            ptrace.let_go(number)
        elif event == ptrace.EVENT_OF_EXEC:
            self._executed(thread, ptrace.event_message(number))
            ptrace.let_go(number)
        elif event == ptrace.EVENT_OF_STOP:
            if stop in _STOPPING:
                ptrace.let_stay(number)
            else:
                ptrace.let_go(number)
        else:
            ptrace.let_go(number, stop)

    def _bear(self, parent: _Thread, number: int) -> None:
        known = [] if parent.index is None else self._children.get(parent.index, [])
        index = known[parent.births] if parent.births < len(known) else None
        parent.births += 1
        self._threads[number] = _Thread(number, index)
        if number in self._early:
            self._early.discard(number)
            ptrace.let_go(number)

    def _executed(self, thread: _Thread, former: int) -> None:
        """The threads are gone but for the one that called, which has the process's number now."""
        if former != thread.number and former in self._threads:
            caller = self._threads.pop(former)
            caller.number = thread.number
            self._threads[thread.number] = caller
        elif thread.index == 0 and self.target is None:
            self.target = thread.number
            thread.counts.clear()  # what this module did on the way

    def _at_system_call(self, thread: _Thread) -> None:
        stands = ptrace.system_call(thread.number)
        if isinstance(stands, ptrace.AtEntry):
            self._at_entry(thread, stands)
        elif isinstance(stands, ptrace.AtExit):
            self._at_exit(thread, stands)
        else:
            ptrace.let_go(thread.number)

    def _at_entry(self, thread: _Thread, call: ptrace.AtEntry) -> None:
        count = thread.counts[call.number] = thread.counts.get(call.number, 0) + 1
        turn = None
        if thread.index is not None:
            turn = self._turns.get((thread.index, call.number, count))
        if turn is None:
            ptrace.let_go(thread.number)
            return
        if turn == self._plan.target:
            self._check_file(thread, call)
        if turn == self._next:
            self._begin(thread, turn)
        else:
            self._held[turn] = thread

    def _check_file(self, thread: _Thread, call: ptrace.AtEntry) -> None:
        """Whether it is the recorded file that the call is about, where the call has it open."""
        position, file = self._plan.descriptor_argument, self._plan.file
        if position is None or file is None:
            return
        opened = Path(f"/proc/{thread.number}/fd/{call.arguments[position] & 0xFFFFFFFF}")
        if Path(file).exists():
            same = opened.exists() and opened.samefile(file)
        else:
            # A temporary file has a new name each time.
            same = opened.is_symlink() and opened.readlink().parent == Path(file).parent
        if not same:
            raise _TookAnotherCourse(f"it was about another file than {file}")

    def _begin(self, thread: _Thread, turn: int) -> None:
        thread.doing = turn
        if turn == self._plan.target:
            self.target = thread.number
            if self._plan.before:
                self._kill_all()
                return
            if self._plan.size_limit is not None:
                _limit_file_size(thread.number, self._plan.size_limit)
        ptrace.let_go(thread.number)

    def _at_exit(self, thread: _Thread, call: ptrace.AtExit) -> None:
        turn, thread.doing = thread.doing, None
        if turn is None:
            ptrace.let_go(thread.number)
            return
        if call.failed != self._plan.fails(turn):
            how = f"failed: {os.strerror(-call.value)}" if call.failed else "did not fail"
            raise _TookAnotherCourse(f"a call before it, or it, {how}")
        if turn == self._plan.target:
            if self._plan.returns not in (None, call.value):
                raise _TookAnotherCourse(f"it wrote {call.value} bytes, not {self._plan.returns}")
            self._kill_all()
            return
        self._next += 1
        ptrace.let_go(thread.number)
        waiting = self._held.pop(self._next, None)
        if waiting is not None:
            self._begin(waiting, self._next)

    def _kill_all(self) -> None:
        self._dying = True
        for number in [*self._threads, *self._early]:
            with contextlib.suppress(ProcessLookupError):
                kill_life(number)

    def _gone(self, number: int, status: int) -> None:
        self._early.discard(number)
        self._threads.pop(number, None)
        if number == self.target:
            self.target_status = status


def _limit_file_size(process: int, size_bytes: int) -> None:
    """Let the kernel cut a write short at this size, setrlimit(2)."""
    _, hard = resource.prlimit(process, resource.RLIMIT_FSIZE)
    resource.prlimit(process, resource.RLIMIT_FSIZE, (size_bytes, hard))


def _time_is_up(*_: object) -> NoReturn:
    raise _TimeIsUp


def supervise(plan: KillPlan) -> str | None:
    """Carry a plan out; return why the death was not the planned one, None if it was."""
    supervisor = _Supervisor(plan)
    signal.signal(signal.SIGALRM, _time_is_up)
    signal.setitimer(signal.ITIMER_REAL, plan.timeout_seconds)
    reason = None
    try:
        supervisor.run()
    except _TookAnotherCourse as course:
        reason = str(course)
    except _TimeIsUp:
        reason = "it did not come to this call in time"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        supervisor.end()
    if reason is not None:
        return reason
    status = supervisor.target_status
    if status is None or not os.WIFSIGNALED(status) or os.WTERMSIG(status) != signal.SIGKILL:
        return "it ended without coming to this call"
    return None


def main(plan_path: str, result_path: str) -> None:
    reason = supervise(KillPlan.read(Path(plan_path)))
    Path(result_path).write_text(json.dumps({"reason": reason}), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
