"""A child process under watch: its output, its witness and its death, each in its own thread.

Threads, because they read pipes and wait for a process in the same way everywhere, without
polling. They own the handles they read, and end with them.
"""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import IO, Final, Literal

from resumeproof.crash.capture import Capture
from resumeproof.crash.kill import kill_child
from resumeproof.crash.tree import LifeTree
from resumeproof.crash.witness import WITNESS_VARIABLE, Witness, WitnessReader, witness_address
from resumeproof.errors import ChildNotReaped, UsageRefused

Channel = Literal["pipe", "stderr"]
"""Where the witness is listened for. A pipe of its own takes descriptors that are inherited by
number, which Windows lacks; there it is picked out of standard error."""

if sys.platform == "win32":
    DEFAULT_CHANNEL: Final[Channel] = "stderr"
    _OWN_GROUP: Final = subprocess.CREATE_NEW_PROCESS_GROUP
else:
    DEFAULT_CHANNEL: Final[Channel] = "pipe"
    _OWN_GROUP: Final = 0

_DEATH_SECONDS: Final = 10.0
_PIPE_END_SECONDS: Final = 1.0
_READ_BYTES: Final = 1 << 16
_WITNESS_LIMIT: Final = 16  # a second one is wrong already


@dataclass(frozen=True)
class _Death:
    """`returncode` as `subprocess.Popen` spells it; None if somebody else took the status."""

    returncode: int | None


class Child:
    """A running child process. Whoever makes one calls `watch`, and `clear` whatever happens.

    `held`: the child stands still after its witness, and is then killed from outside; until then
    its standard input stays open, which is the barrier of `kill.hold_until_killed`.
    """

    def __init__(
        self,
        argv: tuple[str, ...],
        *,
        env: Mapping[str, str],
        cwd: str | os.PathLike[str] | None,
        channel: Channel,
        held: bool,
    ) -> None:
        self.stdout, self.stderr = Capture(), Capture()
        self.witnesses: list[Witness] = []
        self._held = held
        self._reader = WitnessReader()
        self._notices: queue.SimpleQueue[Witness | _Death] = queue.SimpleQueue()
        pipe = os.pipe() if channel == "pipe" else None
        witness = os.fdopen(pipe[0], "rb", buffering=0) if pipe else None
        try:
            self.process = _start(argv, env, cwd, pipe[1] if pipe else None, held)
        except OSError as error:
            if witness:
                witness.close()
            raise UsageRefused(reason=f"cannot start {argv[0]!r}: {error}") from error
        finally:
            if pipe:
                os.close(pipe[1])
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self._pipes = [
            _thread(_pump, self.process.stdout, self.stdout.add),
            _thread(_pump, self.process.stderr, self.stderr.add if pipe else self._keep_and_hear),
        ]
        if witness:
            self._pipes.append(_thread(_pump, witness, self._hear))
        self._undertaker = _thread(self._await_death)

    def watch(self, timeout_seconds: float) -> tuple[int | None, bool]:
        """Wait for the death; return its wait status (None: taken by others), and if it hung."""
        deadline = time.monotonic() + timeout_seconds
        timed_out = False
        while True:
            try:
                notice = self._notices.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                if timed_out:
                    raise ChildNotReaped(self.process.pid, _DEATH_SECONDS) from None
                timed_out = True
                deadline = time.monotonic() + _DEATH_SECONDS
                kill_child(self.process)
                continue
            if isinstance(notice, _Death):
                return notice.returncode, timed_out
            if self._held:
                kill_child(self.process)

    def clear(self, tree: LifeTree) -> tuple[tuple[int, ...], bool]:
        """Leave no process, thread or handle behind; return the orphans, and if that worked."""
        kill_child(self.process)
        try:
            self.process.wait(_DEATH_SECONDS)
        except subprocess.TimeoutExpired:
            raise ChildNotReaped(self.process.pid, _DEATH_SECONDS) from None
        self._undertaker.join()
        if self.process.stdin is not None:
            self.process.stdin.close()
        # A pipe without an end is held by somebody: the sign where there is no other.
        if not tree.something_amiss(self.process.pid) and self._pipes_end():
            return (), True
        orphans, all_gone = tree.reap(self.process.pid)
        return orphans, self._pipes_end() and all_gone

    def _pipes_end(self) -> bool:
        deadline = time.monotonic() + _PIPE_END_SECONDS
        for pipe in self._pipes:
            pipe.join(max(0.0, deadline - time.monotonic()))
        return not any(pipe.is_alive() for pipe in self._pipes)

    def _keep_and_hear(self, piece: bytes) -> None:
        self.stderr.add(piece)
        self._hear(piece)

    def _hear(self, piece: bytes) -> None:
        for witness in self._reader.feed(piece):
            if len(self.witnesses) < _WITNESS_LIMIT:
                self.witnesses.append(witness)
                self._notices.put(witness)

    def _await_death(self) -> None:
        returncode: int | None
        if sys.platform != "win32" and hasattr(os, "waitid"):
            # Not reaped yet (WNOWAIT): nobody else can get its number while we may still kill it.
            try:
                death = os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOWAIT)
            except ChildProcessError:
                returncode = None
            else:
                assert death is not None
                exited = death.si_code == os.CLD_EXITED
                returncode = death.si_status if exited else -death.si_status
        else:
            returncode = self.process.wait()
        self._notices.put(_Death(returncode))


def _start(
    argv: tuple[str, ...],
    env: Mapping[str, str],
    cwd: str | os.PathLike[str] | None,
    witness: int | None,
    held: bool,
) -> subprocess.Popen[bytes]:
    # An outer life's witness pipe is not this one's: never hand its address on.
    own = {name: value for name, value in env.items() if name != WITNESS_VARIABLE}
    if witness is not None:
        own[WITNESS_VARIABLE] = witness_address(witness)
    return subprocess.Popen(
        argv,
        bufsize=0,
        stdin=subprocess.PIPE if held else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=own,
        cwd=cwd,
        pass_fds=() if witness is None else (witness,),
        start_new_session=sys.platform != "win32",
        creationflags=_OWN_GROUP,
    )


def _thread(target: Callable[..., None], *arguments: object) -> threading.Thread:
    thread = threading.Thread(target=target, args=arguments, daemon=True)
    thread.start()
    return thread


def _pump(stream: IO[bytes], take: Callable[[bytes], None]) -> None:
    with stream:
        while piece := stream.read(_READ_BYTES):
            take(piece)
