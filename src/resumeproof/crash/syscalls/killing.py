"""Runs a recorded program again and really kills it at one of its recorded calls."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, Literal

from resumeproof.crash.process import Life, run_life
from resumeproof.crash.syscalls.killplan import KillPlan
from resumeproof.crash.syscalls.operations import (
    Allocate,
    Call,
    Operation,
    Recording,
    Sync,
    SyncDirectory,
    SyncRange,
    Truncate,
    Write,
)
from resumeproof.crash.syscalls.recorder import find_program

_MARGIN_SECONDS: Final = 10.0
_BY_PATH: Final = frozenset({"truncate", "open", "openat", "openat2", "creat"})
_FROM_ANOTHER: Final = frozenset({"copy_file_range", "splice"})


@dataclass(frozen=True)
class Killed:
    """How it went. `unconfirmed` is why the program did not die where it should have, or None."""

    unconfirmed: str | None
    life: Life


def kill_at(
    argv: Sequence[str],
    *,
    directory: Path,
    recording: Recording,
    ordinal: int,
    when: Literal["before", "after"] = "before",
    cut: int | None = None,
    env: Mapping[str, str] | None = None,
    timeout_seconds: float = 60.0,
) -> Killed:
    """Run `argv` in `directory`, a fresh copy of the recording's origin, and kill it at a call.

    All its processes are killed with SIGKILL when the call `ordinal` is about to begin, or has
    ended; with `cut`, when a write has put only its first `cut` bytes into the file. The order of
    the recorded calls is kept. What the directory holds then is for the caller to look at.
    """
    surroundings = dict(os.environ if env is None else env)
    root = Path(os.path.realpath(directory))
    plan = plan_of(
        recording, root, ordinal=ordinal, when=when, cut=cut, timeout_seconds=timeout_seconds
    )(program=find_program(argv[0], root, surroundings), argv=argv, env=surroundings)
    with tempfile.TemporaryDirectory(prefix="resumeproof-kill-") as scratch:
        plan_path, result_path = Path(scratch, "plan"), Path(scratch, "result")
        plan.write(plan_path)
        supervisor = "resumeproof.crash.syscalls.supervisor"
        life = run_life(
            [sys.executable, "-P", "-m", supervisor, str(plan_path), str(result_path)],
            cwd=root,
            timeout_seconds=timeout_seconds + _MARGIN_SECONDS,
        )
        return Killed(reason_of(result_path, recording, life.stderr or life.exit.text), life)


def plan_of(
    recording: Recording,
    root: Path,
    *,
    ordinal: int,
    when: Literal["before", "after"],
    cut: int | None,
    timeout_seconds: float,
) -> Callable[..., KillPlan]:
    """The plan of a kill at this call, which lacks only what is to be killed."""
    call = recording.calls[ordinal - 1]
    position, file = _file_of(call, root)
    return partial(
        KillPlan,
        schedule=[
            (turn.process, recording.numbers[turn.name], turn.occurrence, turn.failed)
            for turn in recording.turns
        ],
        target=1 + [turn.ordinal for turn in recording.turns].index(ordinal),
        parents=[process.parent for process in recording.processes],
        before=when == "before" and cut is None,
        timeout_seconds=timeout_seconds,
        size_limit=_size_limit(call.operation, cut),
        returns=cut,
        descriptor_argument=position,
        file=file,
    )


def reason_of(result: Path, recording: Recording, said: str) -> str | None:
    """Why a supervisor that wrote this result, and said so much, did not kill as planned."""
    if not result.exists():
        return f"the supervisor failed: {said.strip().splitlines()[-1]}"
    found: dict[str, str | None] = json.loads(result.read_text(encoding="utf-8"))
    reason = found["reason"]
    if reason is not None and any(process.thread for process in recording.processes):
        reason += " (which of its threads does what may differ from run to run)"
    return reason


def _size_limit(operation: Operation, cut: int | None) -> int | None:
    if cut is None:
        return None
    assert isinstance(operation, Write), "only a write is torn"
    return operation.offset + cut


def _file_of(call: Call, root: Path) -> tuple[int | None, str | None]:
    """Which argument of the call is the descriptor of an open file, and of which."""
    match call.operation:
        case Write() | Truncate() | Allocate() | Sync() | SyncRange() | SyncDirectory() as about:
            if call.name not in _BY_PATH and (about.path or isinstance(about, SyncDirectory)):
                position = 2 if call.name in _FROM_ANOTHER else 0
                return position, str(root / about.path)
        case _:
            pass
    return None, None
