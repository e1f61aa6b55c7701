"""The process that forks lives, and does nothing else.

Whoever orders lives and judges them touches much memory between two forks, and after each fork the
kernel copies every page that is touched, one fault at a time (fork(2), NOTES). So the lives are
forked by a process of their own kind: it sleeps between two orders, and keeps what it was forked
with. It adopts and ends whatever outlives a life.

    host -> forker    an order, with three descriptors for the life; or a word to kill one
    forker -> host    a life is dead: its wait status, and what had outlived it

What each life costs the forker is paid in page faults, too, for after each fork all its pages are
shared: so what is said is numbers, and bytes that the forker hands on unread.
"""

from __future__ import annotations

import gc
import os
import pickle
import select
import signal
import socket
import struct
import sys
from collections.abc import Callable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NoReturn

from resumeproof.crash.adoption import adopting_orphans, die_with_parent
from resumeproof.crash.becoming import StandardStreams, live
from resumeproof.crash.channel import LifeChannel
from resumeproof.crash.framing import messages
from resumeproof.crash.kill import group_has_members, kill_life, leave
from resumeproof.crash.leftovers import end_leftovers

READ_BYTES: Final = 1 << 16
_PIECE_BYTES: Final = 1 << 10
_DESCRIPTORS_OF_A_LIFE: Final = 3
_CHILDREN: Final = "/proc/thread-self/children"
# How long to wait before looking for dead lives; None where each has a descriptor that tells.
_LOOK_MILLISECONDS: Final = None if sys.platform == "linux" else 5

# The last field counts the bytes that follow.
_ORDER: Final = struct.Struct("!II")  # a life's number; its order, or nothing: it is to be killed
_DEATH: Final = struct.Struct("!IiI")  # a life's number, its wait status; what it left, if anything

BodyOf = Callable[[Any], Callable[[LifeChannel], object]]
"""What a life does that was ordered so; it returns the life's outcome, which must be picklable."""


@dataclass(frozen=True)
class Death:
    """A life is dead. `status` is as `os.waitpid` gives it.

    `left` are the processes that had outlived it, each with the files that it held a lock on.
    """

    status: int
    left: Mapping[int, frozenset[Path]]


class Forker:
    """The host's side: orders lives, and hears of their deaths.

    `private` are descriptors of this process that neither the forker nor a life may inherit.
    """

    def __init__(self, body_of: BodyOf, private: Sequence[int]) -> None:
        self._link, theirs = socket.socketpair()
        self._ordered = 0
        self._heard = bytearray()
        self._deaths: dict[int, Death] = {}
        self._status: int | None = None
        self._pid = os.fork()
        if self._pid == 0:
            _serve(theirs, body_of, [self._link.fileno(), *private])
        theirs.close()

    def fileno(self) -> int:
        """Readable when there is something to hear."""
        return self._link.fileno()

    def fork(self, order: object, descriptors: Sequence[int]) -> int:
        """Order a life with these three descriptors of its own; return its number."""
        self._ordered += 1
        body = pickle.dumps(order)
        message = _ORDER.pack(self._ordered, len(body)) + body
        # Descriptors come with the first byte; what does not fit follows (sendmsg(2)).
        sent = socket.send_fds(self._link, [message], descriptors)
        self._link.sendall(message[sent:])
        return self._ordered

    def kill(self, number: int) -> None:
        """Have a life killed, if it is not dead already."""
        self._link.sendall(_ORDER.pack(number, 0))

    def hear(self) -> None:
        """Take what there is to hear. Raises `EOFError` where the forker is gone."""
        with suppress(BlockingIOError):
            piece = self._link.recv(READ_BYTES, socket.MSG_DONTWAIT)
            if not piece:
                raise EOFError
            self._heard += piece
        for (number, status), left in messages(self._heard, _DEATH):
            self._deaths[number] = Death(status, pickle.loads(left) if left else {})

    def death_of(self, number: int) -> Death | None:
        """The death of a life, once it was heard of; asked for once."""
        return self._deaths.pop(number, None)

    def wait_for_death(self, number: int, timeout_seconds: float) -> Death:
        """Wait until a life is dead that was killed. Raises `EOFError` as `hear` does.

        A forker that says nothing for so long is ended.
        """
        while True:
            death = self.death_of(number)
            if death is not None:
                return death
            if not select.select([self._link], [], [], timeout_seconds)[0]:
                self.end()
            self.hear()

    def end(self) -> None:
        """Kill the forker, which answers no more: a life may have stopped it, kill(2)."""
        kill_life(self._pid)

    def close(self) -> int:
        """Let the forker go, with its lives; return its wait status."""
        self._link.close()
        if self._status is None:
            self._status = os.waitpid(self._pid, 0)[1]
        return self._status


# -- in the forker's own process -------------------------------------------------------------


def _serve(link: socket.socket, body_of: BodyOf, foreign: Sequence[int]) -> NoReturn:
    status = 1
    try:
        die_with_parent()
        for descriptor in foreign:
            os.close(descriptor)
        with adopting_orphans():
            _Server(link, body_of).serve()
        status = 0
    finally:
        leave(status)


class _Server:
    def __init__(self, link: socket.socket, body_of: BodyOf) -> None:
        self._link = link
        # Each life closes it by its number: the method of a socket touches much more.
        self._link_number = link.fileno()
        self._body_of = body_of
        self._heard = bytearray()
        self._living: dict[int, tuple[int, int | None]] = {}  # numbers and pidfds by their pids
        self._descriptors: list[int] = []  # those of the order that is coming in
        self._poll = select.poll()
        self._poll.register(link, select.POLLIN)
        # Of a handler each life would have to rid itself.
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._streams = StandardStreams()
        # What the lives share with this process stays shared: no collection touches it.
        gc.collect()
        gc.freeze()
        gc.disable()

    def serve(self) -> None:
        """Fork what is ordered and bury what is dead, until the host is gone."""
        while True:
            for descriptor, _ in self._poll.poll(_LOOK_MILLISECONDS if self._living else None):
                if descriptor == self._link_number and not self._listen():
                    return
            self._bury()

    def _listen(self) -> bool:
        """Take an order; False where the host is gone."""
        piece, descriptors, _, _ = socket.recv_fds(self._link, _PIECE_BYTES, _DESCRIPTORS_OF_A_LIFE)
        if not piece:
            return False
        # They come with the first piece of an order, and the host says nothing else meanwhile.
        self._descriptors += descriptors
        self._heard += piece
        for (number,), order in messages(self._heard, _ORDER):
            if order:
                descriptors, self._descriptors = self._descriptors, []
                self._fork(number, order, descriptors)
            else:
                for pid in [pid for pid, (named, _) in self._living.items() if named == number]:
                    kill_life(pid)
        return True

    def _fork(self, number: int, order: bytes, descriptors: Sequence[int]) -> None:
        pid = os.fork()
        if pid == 0:
            os.close(self._link_number)
            for _, end in self._living.values():
                if end is not None:
                    os.close(end)
            up, down, out = descriptors
            # Read in the life, so that nothing of it is left in this process.
            live(self._body(order), LifeChannel(up, down), out, self._streams)
        for descriptor in descriptors:
            os.close(descriptor)
        end = None
        if sys.platform == "linux":
            end = os.pidfd_open(pid)
            self._poll.register(end, select.POLLIN)
        self._living[pid] = number, end

    def _body(self, order: bytes) -> Callable[[LifeChannel], object]:
        return lambda channel: self._body_of(pickle.loads(order))(channel)

    def _bury(self) -> None:
        for pid in list(self._living):
            reaped, status = os.waitpid(pid, os.WNOHANG)
            if reaped:
                number, end = self._living.pop(pid)
                if end is not None:
                    self._poll.unregister(end)
                    os.close(end)
                left = {} if self._is_all_of(pid) else end_leftovers(pid, self._living.keys())
                body = pickle.dumps(left) if left else b""
                self._link.sendall(_DEATH.pack(number, status, len(body)) + body)

    def _is_all_of(self, leader: int) -> bool:
        """Whether a dead life has left nothing. False where that would have to be looked into."""
        return _children() == self._living.keys() and not group_has_members(leader)


def _children() -> Set[int]:
    """The pids of the children of this process, which has one thread; empty where none are listed.

    Asked after each life: what is not touched here need not be copied after the next fork.
    """
    try:
        listing = os.open(_CHILDREN, os.O_RDONLY)
    except OSError:
        return frozenset()
    pids = b""
    while piece := os.read(listing, _PIECE_BYTES):
        pids += piece
    os.close(listing)
    return set(map(int, pids.split()))
