"""Runs a program once under strace, and tells what it did to a directory."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from resumeproof.crash.process import Life, run_life
from resumeproof.crash.syscalls.copying import copy_tree, number_files
from resumeproof.crash.syscalls.descriptors import Surroundings
from resumeproof.crash.syscalls.history import History
from resumeproof.crash.syscalls.interpret import KNOWN_CALLS, interpret
from resumeproof.crash.syscalls.operations import Recording
from resumeproof.crash.syscalls.parse import read_births, read_events
from resumeproof.crash.syscalls.places import Places
from resumeproof.crash.syscalls.readback import differences, fill_in
from resumeproof.crash.syscalls.strace import command_line, refusal
from resumeproof.crash.syscalls.tree import Tree
from resumeproof.errors import ProgramHung, TracingForbidden, UsageRefused


def record(
    argv: Sequence[str],
    *,
    directory: Path,
    origin: Path,
    domains: Sequence[str] = ("",),
    env: Mapping[str, str] | None = None,
    timeout_seconds: float = 60.0,
    stack: bool = False,
) -> Recording:
    """Run a program with `directory` as its working directory, and return what it did there.

    `origin` is made: a copy of the directory as it was before, from which it is rebuilt. The
    directory itself holds what the program left behind when this returns. `domains` are relative
    to it; the first is `""`. `env` None inherits this process's environment. With `stack` each call
    bears the line or the function that made it, where the program's file tells that.

    Raises `StraceMissing`, `TracingForbidden` where the system does not allow it, `ProgramHung`,
    and `UsageRefused` for a program that cannot be started.
    """
    root = Path(os.path.realpath(directory))
    surroundings = dict(os.environ if env is None else env)
    program = (find_program(argv[0], root, surroundings), *argv[1:])
    copy_tree(root, origin)
    with tempfile.TemporaryDirectory(prefix="resumeproof-trace-") as scratch:
        trace = Path(scratch, "trace")
        command = command_line(program, KNOWN_CALLS, trace, stack=stack)
        life = run_life(command, cwd=root, env=surroundings, timeout_seconds=timeout_seconds)
        _refuse_failures(life, argv, trace, timeout_seconds)
        recording = interpreted(trace, root, origin, Surroundings(mask=mask_of()), domains)
    return replace(
        recording,
        returncode=life.exit.code if life.exit.kind == "exit" else -life.exit.code,
        left_running=tuple(
            " ".join(process.command_line)
            for process in recording.processes
            if process.pid in life.orphans and not process.thread
        ),
    )


def find_program(name: str, directory: Path, env: Mapping[str, str]) -> str:
    """The file that a command's first word stands for. Raises `UsageRefused` if there is none."""
    if os.sep in name:
        place = Path(directory, name)
        if place.is_file() and os.access(place, os.X_OK):
            return name
    elif (found := shutil.which(name, path=env.get("PATH"))) is not None:
        return found
    raise UsageRefused(reason=f"cannot start {name!r}: there is no such program")


def _refuse_failures(life: Life, argv: Sequence[str], trace: Path, timeout_seconds: float) -> None:
    if not trace.exists() or trace.stat().st_size == 0:
        reason = refusal(life.stderr) or life.stderr.strip() or life.exit.text
        raise TracingForbidden(reason=reason.splitlines()[0])
    if life.timed_out:
        raise ProgramHung(program=argv[0], seconds=timeout_seconds)


def interpreted(
    trace: Path,
    root: Path,
    origin: Path,
    surroundings: Surroundings,
    domains: Sequence[str] = ("",),
    *,
    printing: bool = True,
) -> Recording:
    """What a trace tells of a run that is over: it began in `origin` and left `root`.

    What is printed is part of it, unless not `printing`; how the run ended is not.
    """
    inodes = number_files(origin)
    tree = Tree.read(origin, inodes)
    history = History(
        places=Places(str(root), tree),
        domains=tuple(domains),
        next_inode=max(inodes.values(), default=0) + 1,
    )
    with open(trace, encoding="ascii", errors="replace") as lines:
        births = read_births(lines)
        lines.seek(0)
        interpret(read_events(lines), births, history, surroundings, printing=printing)
    fill_in(history, root)
    start = Tree.read(origin, inodes)
    for call in history.calls:
        start.apply(call.operation)
    for path in differences(start, root):
        history.uncovered(f"{path}: something changed it that no recorded call shows")
    return Recording(
        calls=tuple(history.calls),
        processes=tuple(history.processes),
        initial_inodes=inodes,
        returncode=0,
        domains=tuple(domains),
        not_covered=tuple(history.not_covered),
        outside=tuple(history.outside),
        turns=tuple(history.turns),
        numbers=history.numbers,
    )


def mask_of(process: int | str = "self") -> int:
    """The file mode mask of a process, which those that it starts inherit."""
    with open(f"/proc/{process}/status", encoding="ascii", errors="replace") as status:
        for line in status:
            if line.startswith("Umask:"):
                return int(line.split()[1], 8)
    return 0o022
