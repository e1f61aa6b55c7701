"""The witness: what a process writes about its death just before it dies.

One line, in one write (below POSIX's least PIPE_BUF of 512 bytes, so it is whole or not there):

    resumeproof-witness {"boundary": "tool:after", "ordinal": 1, "pid": 4711}

`ordinal` is the occurrence of the boundary in this life, from 1. The line goes to the pipe that
the supervisor told of in the environment variable RESUMEPROOF_WITNESS (`descriptor:device:inode`),
and to standard error where there is none: on Windows, and when somebody crashes a command by hand.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Final

WITNESS_VARIABLE: Final = "RESUMEPROOF_WITNESS"

_MARK: Final = b"resumeproof-witness "
_LINE_LIMIT: Final = 512  # bytes, _POSIX_PIPE_BUF of limits.h
_STDERR: Final = 2


@dataclass(frozen=True)
class Witness:
    """The dying process's word: the `ordinal`-th (from 1) `boundary` of the life of `pid`."""

    boundary: str
    ordinal: int
    pid: int


def write_witness(boundary: str, ordinal: int) -> None:
    """Write this process's witness, unbuffered, to its supervisor or else to standard error.

    Raises nothing when neither can be written: death follows all the same, and a death without
    its witness is called invalid by whoever judges it.
    """
    words = {"boundary": boundary, "ordinal": ordinal, "pid": os.getpid()}
    line = _MARK + json.dumps(words).encode() + b"\n"
    assert len(line) <= _LINE_LIMIT, "a longer line would not be atomic"
    for descriptor in (_supervisor_descriptor(), _STDERR):
        if descriptor is None:
            continue
        try:
            os.write(descriptor, line)
        except OSError:
            continue
        return


def witness_address(descriptor: int) -> str:
    """What RESUMEPROOF_WITNESS says of a pipe's writing end."""
    status = os.fstat(descriptor)
    return f"{descriptor}:{status.st_dev}:{status.st_ino}"


def _supervisor_descriptor() -> int | None:
    address = os.environ.get(WITNESS_VARIABLE, "")
    try:
        descriptor = int(address.partition(":")[0])
        # The variable is inherited further than the descriptor: in a grandchild the same number
        # may be an open database, which a witness line would destroy.
        return descriptor if witness_address(descriptor) == address else None
    except (ValueError, OSError, OverflowError):
        return None


class WitnessReader:
    """Picks the whole witness lines out of a stream that comes in pieces; forgets all else."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, piece: bytes) -> list[Witness]:
        """Return the witnesses whose lines this piece completes."""
        *lines, rest = (self._rest + piece).split(b"\n")
        self._rest = rest[-_LINE_LIMIT:]
        found = (_parse(line) for line in lines if _MARK in line)
        return [witness for witness in found if witness is not None]


def _parse(line: bytes) -> Witness | None:
    # The mark may follow what somebody else printed without ending their line.
    try:
        words = json.loads(line[line.rindex(_MARK) + len(_MARK) :])
        return Witness(str(words["boundary"]), int(words["ordinal"]), int(words["pid"]))
    except (ValueError, KeyError, TypeError):
        return None
