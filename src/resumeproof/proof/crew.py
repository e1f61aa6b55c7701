"""Workers side by side: forked before the subject is touched, heard over pipes, never left behind.

The process that calls `conform()` may have threads and anything else; its workers have one thread
each, and a session of their own, so that a subject which kills its group kills no more than its
worker.
"""

from __future__ import annotations

import os
import selectors
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from resumeproof.crash.adoption import adopting_orphans, die_with_parent, own_children
from resumeproof.crash.framing import Frames, framed, write_whole
from resumeproof.crash.interrupts import InterruptsHeld
from resumeproof.crash.kill import kill_life, leave
from resumeproof.crash.process import ChildExit
from resumeproof.errors import ResumeproofError, WorkerDied

_READ_BYTES: Final = 1 << 16
_GENERATIONS: Final = 1_000  # of processes that start each other


class Report:
    """A worker's way to the process that ordered the work."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def __call__(self, content: object) -> None:
        """Say something, on the way to the result; anything picklable."""
        self.send("said", content)

    def send(self, kind: str, content: object) -> None:
        write_whole(self.descriptor, framed((kind, content)))


Task = Callable[[Report], object]
"""What one worker does: it reports as it goes, and returns its result."""


@dataclass(frozen=True)
class Message:
    """Something that a worker said; `done` with its result, which is its last word."""

    worker: int
    done: bool
    content: Any


class Crew:
    """Runs tasks in workers of their own, all at once."""

    def run(self, tasks: Sequence[Task]) -> Generator[Message, None, None]:
        """Yield what the workers say, until all are done.

        Raises what a task raises, and `WorkerDied` where a worker died before its last word.
        Whatever ends the iteration, no worker outlives it.
        """
        workers: list[_Worker] = []
        before = own_children()
        with selectors.DefaultSelector() as selector, adopting_orphans():
            try:
                for number, task in enumerate(tasks):
                    others = list(selector.get_map() or ())
                    with InterruptsHeld() as held:
                        worker = _Worker(number, *_fork_worker(task, others, held))
                        workers.append(worker)
                    for descriptor in worker.descriptors:
                        selector.register(descriptor, selectors.EVENT_READ, worker)
                yield from _listen(selector)
            finally:
                for worker in workers:
                    worker.end()
                _end_adopted(before)
                for key in list((selector.get_map() or {}).values()):
                    os.close(int(key.fd))


class _Worker:
    """One worker, as the process that forked it sees it.

    Its pipe may be held by whatever it has started, for ever. So its death is heard of by a
    descriptor of its own, where the system has such (pidfd_open(2)).
    """

    def __init__(self, number: int, read_end: int, pid: int) -> None:
        self.number = number
        self.done = False
        self._read_end = read_end
        self._pid = pid
        self._frames = Frames()
        self._exit: ChildExit | None = None
        self.descriptors = [read_end]
        os.set_blocking(read_end, False)
        if sys.platform == "linux":
            self.descriptors.append(os.pidfd_open(pid))

    def hear(self, descriptor: int) -> Generator[Message, None, bool]:
        """Yield what it has said; return whether it is done. Raises what its task raised."""
        at_end = descriptor != self._read_end
        with suppress(BlockingIOError):
            while piece := os.read(self._read_end, _READ_BYTES):
                self._frames.add(piece)
                if not at_end:
                    break
            else:
                at_end = True
        for kind, content in self._frames.whole():
            if kind == "error":
                raise content
            if kind == "bug":
                raise RuntimeError(f"in a worker:\n{content}")
            self.done = kind == "done"
            yield Message(self.number, self.done, content)
        if at_end and not self.done:
            raise WorkerDied(self._reaped().text)
        return self.done

    def end(self) -> None:
        """Kill and reap it, if that is not done."""
        if self._exit is None:
            kill_life(self._pid)
            self._reaped()

    def _reaped(self) -> ChildExit:
        status = os.waitpid(self._pid, 0)[1]
        self._exit = ChildExit.of(os.waitstatus_to_exitcode(status))
        return self._exit


def _end_adopted(before: Set[int]) -> None:
    """End what a dead worker's lives left to this process.

    Lives, and whatever they start, are in sessions of their own; a child that somebody else in
    this process has started meanwhile is in ours. What a life has started becomes ours only when
    that life is dead.
    """
    for _ in range(_GENERATIONS):
        strangers = [pid for pid in own_children() - before if _is_elsewhere(pid)]
        if not strangers:
            return
        for pid in strangers:
            with suppress(ProcessLookupError, ChildProcessError):
                kill_life(pid)
                os.waitpid(pid, 0)


def _is_elsewhere(pid: int) -> bool:
    try:
        return os.getsid(pid) != os.getsid(0)
    except ProcessLookupError:
        return False


def _listen(selector: selectors.BaseSelector) -> Iterator[Message]:
    while selector.get_map():
        for key, _ in selector.select():
            worker: _Worker = key.data
            if worker.done:
                continue
            if (yield from worker.hear(int(key.fd))):
                for descriptor in worker.descriptors:
                    selector.unregister(descriptor)
                    os.close(descriptor)


def _fork_worker(task: Task, others: list[Any], held: InterruptsHeld) -> tuple[int, int]:
    """Fork, with interrupts held: what is raised in a hook that runs after a fork is ignored."""
    read_end, write_end = os.pipe()
    with warnings.catch_warnings():
        # Python 3.12 warns of forks beside threads; the worker only forks again, and pickles.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        held.release_in_child()
        _work(task, write_end, [read_end, *others])
    os.close(write_end)
    return read_end, pid


def _work(task: Task, write_end: int, foreign: list[int]) -> NoReturn:
    status = 1
    try:
        os.setsid()
        die_with_parent()
        # The process that ordered the work decides what Ctrl-C means.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        for descriptor in foreign:
            os.close(descriptor)

        report = Report(write_end)
        try:
            result = task(report)
        except ResumeproofError as error:
            report.send("error", error)
        except Exception:
            report.send("bug", traceback.format_exc())
        else:
            report.send("done", result)
        status = 0
    finally:
        leave(status)
