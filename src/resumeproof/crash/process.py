"""Runs one life of a process: start it, watch it die, say how it died, and clear up after it.

A death is told by the kernel's wait status and by the witness that the dying process wrote, and
`verify_kill` holds both against the plan. What is waited for is the process, never the end of its
pipes: a grandchild may hold those open for ever.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from resumeproof.crash.adoption import adopting_orphans
from resumeproof.crash.child import DEFAULT_CHANNEL, Channel, Child
from resumeproof.crash.interrupts import InterruptsHeld
from resumeproof.crash.kill import Kill
from resumeproof.crash.plan import CrashPoint
from resumeproof.crash.tree import LIFE_VARIABLE, LifeTree
from resumeproof.crash.witness import Witness
from resumeproof.errors import UsageRefused


@dataclass(frozen=True)
class ChildExit:
    """How a process ended. `code` is the exit status, or the number of the signal."""

    kind: Literal["exit", "signal"]
    code: int
    text: str

    @classmethod
    def of(cls, returncode: int) -> ChildExit:
        """Describe a `subprocess.Popen.returncode`: negative where a signal ended the process.

        A shell that saw signal n end its last command exits with 128 + n itself (bash(1), EXIT
        STATUS), and a parent that hands a returncode of -9 on exits with 247. Both are exits, and
        are described as what they may stand for.
        """
        if returncode < 0:
            name = _signal_name(-returncode)
            text = f"signal {-returncode}" + (f" ({name})" if name else "")
            return cls("signal", -returncode, text)
        text = f"exit {returncode}"
        if sys.platform != "win32":
            if returncode == 256 - signal.SIGKILL:
                text += " (-9 in one byte: a parent's word for signal 9, SIGKILL)"
            elif returncode > 128 and (name := _signal_name(returncode - 128)):
                text += f" (a shell's word for signal {returncode - 128}, {name})"
        return cls("exit", returncode, text)

    def to_json(self) -> dict[str, str | int]:
        """As the receipt file holds it."""
        return {"kind": self.kind, "code": self.code, "text": self.text}


@dataclass(frozen=True)
class Life:
    """One life of a process, from its start to its death.

    `orphans` are the pids of processes that outlived it and had to be killed; `cleared` is False
    if something that holds its pipes, or that cannot be killed, is still there. `timed_out`: it
    did not end by itself, and was killed for it. `seconds` lie between start and death.
    `left_out_bytes` counts the output that was not kept, of both streams.
    """

    argv: tuple[str, ...]
    pid: int
    exit: ChildExit
    witnesses: tuple[Witness, ...]
    stdout: str
    stderr: str
    left_out_bytes: int
    timed_out: bool
    orphans: tuple[int, ...]
    cleared: bool
    seconds: float


def run_life(
    argv: Sequence[str | os.PathLike[str]],
    *,
    timeout_seconds: float,
    env: Mapping[str, str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
    kill_at_witness: bool = False,
    channel: Channel = DEFAULT_CHANNEL,
) -> Life:
    """Run a child until it is dead, kill what it left behind, and return what there was to see.

    The child leads its own session and process group. `env` None inherits this process's
    environment; either way RESUMEPROOF_WITNESS and RESUMEPROOF_LIFE are added. With
    `kill_at_witness` the child is killed from outside as soon as it has written its witness, for
    which it waits in `kill.hold_until_killed`. A hang is killed after `timeout_seconds`.

    Raises `UsageRefused` if the child cannot be started, or if its wait status is taken by somebody
    else in this process (SIGCHLD ignored, a foreign `waitpid(-1)`), and `ChildNotReaped` if it
    outlives SIGKILL.
    """
    words = tuple(os.fspath(word) for word in argv)
    with adopting_orphans(), InterruptsHeld() as interrupts:
        tree = LifeTree()
        started = time.monotonic()
        surroundings = {**(os.environ if env is None else env), LIFE_VARIABLE: tree.token}
        child = Child(words, env=surroundings, cwd=cwd, channel=channel, held=kill_at_witness)
        with tree.led_by(child.process.pid):
            try:
                interrupts.release()
                returncode, timed_out = child.watch(timeout_seconds)
                seconds = time.monotonic() - started
            finally:
                orphans, cleared = child.clear(tree)
    if returncode is None:
        raise UsageRefused(
            reason=f"the wait status of process {child.process.pid} was taken by somebody else; "
            "this process must neither ignore SIGCHLD nor wait for children that are not its own"
        )
    return Life(
        argv=words,
        pid=child.process.pid,
        exit=ChildExit.of(returncode),
        witnesses=tuple(child.witnesses),
        stdout=child.stdout.text(),
        stderr=child.stderr.text(),
        left_out_bytes=child.stdout.left_out_bytes + child.stderr.left_out_bytes,
        timed_out=timed_out,
        orphans=orphans,
        cleared=cleared,
        seconds=seconds,
    )


def verify_kill(life: Life, point: CrashPoint, kill: Kill) -> str | None:
    """Return why this life did not die by `kill` at `point`, or None if it did just that."""
    planned = ChildExit.of(kill.returncode)
    if life.timed_out:
        return f"planned {planned.text} at {point}, but it hung and was killed for that"
    if not life.witnesses:
        return f"planned {planned.text} at {point}, but no witness was written; {life.exit.text}"
    if len(life.witnesses) > 1:
        places = ", ".join(f"{seen.boundary}#{seen.ordinal}" for seen in life.witnesses)
        return f"planned one death at {point}, but there are witnesses of {places}"
    (witness,) = life.witnesses
    if (witness.boundary, witness.ordinal) != (point.boundary, point.occurrence):
        return f"planned {point}, but the witness is of {witness.boundary}#{witness.ordinal}"
    # On Windows a virtual environment's python.exe is a launcher, and its child is the program.
    if sys.platform != "win32" and witness.pid != life.pid:
        return f"process {life.pid} died, but the witness is of process {witness.pid}"
    if life.exit != planned:
        return f"planned {planned.text} at {point}, but it was {life.exit.text}"
    return None


def _signal_name(number: int) -> str | None:
    try:
        return signal.Signals(number).name
    except ValueError:
        return None
