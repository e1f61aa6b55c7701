"""Traces a life that somebody else has forked: it waits until it is traced, and then goes on."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence, Set
from pathlib import Path
from typing import Final, Self

from resumeproof.crash.kill import kill_child
from resumeproof.crash.syscalls.copying import copy_tree
from resumeproof.crash.syscalls.descriptors import Surroundings
from resumeproof.crash.syscalls.interpret import KNOWN_CALLS
from resumeproof.crash.syscalls.killing import plan_of, reason_of
from resumeproof.crash.syscalls.observation import Observation
from resumeproof.crash.syscalls.observer import WATCHED_CALLS, observation_of
from resumeproof.crash.syscalls.operations import Recording
from resumeproof.crash.syscalls.recorder import interpreted, mask_of
from resumeproof.crash.syscalls.states import KillState
from resumeproof.crash.syscalls.strace import attaching_line, refusal
from resumeproof.crash.syscalls.supervisor import ATTACHED
from resumeproof.crash.syscalls.tree import Tree
from resumeproof.errors import TracingForbidden

_END_SECONDS: Final = 10.0
_READ_BYTES: Final = 1 << 12
_WATCHED_STRING_BYTES: Final = 64
"""Enough for an access control list; what else a life writes says nothing of what it saw."""


class _Tracer:
    """Has a process trace one waiting life. It ends when the life does, and all that it started.

    Use as a context manager: whatever happens, no tracer outlives it. `scratch` is a directory that
    is made, and gone in the end.
    """

    def __init__(self, scratch: Path) -> None:
        scratch.mkdir()
        self.scratch = scratch
        self.said = ""
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            kill_child(self._process)
            self._process.wait()
            os.close(self._hearing)
        shutil.rmtree(self.scratch)

    @property
    def trace(self) -> Path:
        """The calls of the life, for those who have them written down."""
        return self.scratch / "trace"

    def start(self, words: Sequence[str]) -> None:
        """Start it, and wait until it has the life. Raises `TracingForbidden`."""
        self._hearing, saying = os.pipe()
        # It must never wait for somebody to read what it says: what finds no room is lost.
        os.set_blocking(saying, False)
        try:
            self._process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=saying
            )
        finally:
            os.close(saying)
        while ATTACHED not in self.said:
            piece = os.read(self._hearing, _READ_BYTES)
            if not piece:
                raise TracingForbidden(reason=refusal(self.said) or self.said.strip() or "it ended")
            self.said += piece.decode("utf-8", "replace")

    def end(self) -> None:
        """Wait until it ends, once the life is dead."""
        assert self._process is not None, "there was no life"
        self._process.wait(_END_SECONDS)


def surroundings_of(process: int) -> Surroundings:
    """Where a process stands, and its mask."""
    return Surroundings(str(Path(f"/proc/{process}/cwd").readlink()), mask_of(process))


class LifeRecorder(_Tracer):
    """Records one life by strace.

        with LifeRecorder(root, origin, scratch) as recorder:
            life = host.run(order, timeout_seconds=30.0, attach=recorder.attach)
            recording = recorder.recording()

    `origin` is made: a copy of the directory `root` as it was before.
    """

    def __init__(self, root: Path, origin: Path, scratch: Path) -> None:
        super().__init__(scratch)
        self._root = Path(os.path.realpath(root))
        self._origin = origin
        copy_tree(self._root, origin)

    def attach(self, process: int) -> None:
        """Record what this waiting process does from here on. Raises `TracingForbidden`."""
        self._surroundings = surroundings_of(process)
        self.start(attaching_line(process, KNOWN_CALLS, self.trace))

    def recording(self) -> Recording:
        """What the life did, now that it is dead. What it printed is no part of it."""
        self.end()
        return interpreted(self.trace, self._root, self._origin, self._surroundings, printing=False)


class LifeObserver(_Tracer):
    """Tells what one life sees of a directory; to be used like a `LifeRecorder`.

    `tree` is what it finds at `root`, and `varied` are the files of which it matters what it sees.
    """

    def __init__(self, root: Path, tree: Tree, varied: Set[int], scratch: Path) -> None:
        super().__init__(scratch)
        self._root = Path(os.path.realpath(root))
        self._tree = tree
        self._varied = varied

    def attach(self, process: int) -> None:
        """Watch this waiting process from here on. Raises `TracingForbidden`."""
        self._surroundings = surroundings_of(process)
        words = attaching_line(
            process, WATCHED_CALLS, self.trace, string_bytes=_WATCHED_STRING_BYTES
        )
        self.start(words)

    def observation(self) -> Observation:
        """What the life saw, now that it is dead."""
        self.end()
        return observation_of(self.trace, self._root, self._tree, self._varied, self._surroundings)


class LifeKiller(_Tracer):
    """Really kills one life at a recorded state; it must be as it was when it was recorded."""

    def __init__(
        self,
        root: Path,
        recording: Recording,
        state: KillState,
        timeout_seconds: float,
        scratch: Path,
    ) -> None:
        super().__init__(scratch)
        self._recording = recording
        self._plan = plan_of(
            recording,
            Path(os.path.realpath(root)),
            ordinal=max(1, state.ordinal),
            when="after" if state.ordinal else "before",
            cut=state.cut,
            timeout_seconds=timeout_seconds,
        )

    def attach(self, process: int) -> None:
        """Kill this waiting process when it comes there. Raises `TracingForbidden`."""
        plan = self.scratch / "plan"
        self._plan(process=process).write(plan)
        supervisor = "resumeproof.crash.syscalls.supervisor"
        self.start([sys.executable, "-P", "-m", supervisor, str(plan), str(self._result)])

    def unconfirmed(self) -> str | None:
        """Why the life did not die there, now that it is dead; None where it did."""
        self.end()
        return reason_of(self._result, self._recording, self.said)

    @property
    def _result(self) -> Path:
        return self.scratch / "result"
