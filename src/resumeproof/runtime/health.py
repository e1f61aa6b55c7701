"""Counters that no failure may bypass.

They are kept beside the journal, in `<journal>.health`, and said on stderr: never in the store that
has just refused. Each line of the sidecar is one event: counter, instant, process, detail.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections import Counter as Tally
from enum import StrEnum
from pathlib import Path
from typing import Final

from resumeproof.domain.instant import format_instant
from resumeproof.errors import StoreUnavailable
from resumeproof.runtime.clock import Clock, SystemClock
from resumeproof.stores.durable import sync_directory
from resumeproof.stores.place import resolved

UNREADABLE: Final = "unreadable"
"""What `read_counts` calls a line that names no counter: torn by a full disk, or a stranger's."""

_DETAIL_LENGTH_MAX: Final = 1_000


class Counter(StrEnum):
    """What is counted."""

    TERMINAL_APPEND_FAILED = "terminal_append_failed"
    """The record that ends a workflow could not be appended, or not committed."""
    OUTCOME_COMMIT_FAILED = "outcome_commit_failed"
    """A driver knew something, such as a tool's answer, and the journal would not take it."""
    CUT_OFF = "cut_off"
    """A death had left what was never committed, such as a torn line, and it was cut off."""


class Health:
    """Counts the failures of one journal. Nothing that goes wrong in here ever raises."""

    def __init__(self, journal_path: Path, clock: Clock | None = None) -> None:
        self._path = sidecar_path(journal_path)
        self._clock = clock or SystemClock()

    def count(self, counter: str, detail: str) -> None:
        """Append one line to the sidecar, durably, and print one on stderr.

        Raises nothing, since it is called while the failure that matters is on its way up: what
        the sidecar will not take is on stderr all the same, with the reason.
        """
        # JSON, since a detail may hold line ends or a terminal's control sequences.
        text = json.dumps(detail[:_DETAIL_LENGTH_MAX])
        line = f"{counter} {format_instant(self._clock.now())} pid {os.getpid()} {text}"
        try:
            _append_durably(self._path, line)
        except OSError as error:
            line += f" (not recorded in {self._path}: {error.strerror or error})"
        # print(file=None) would go to stdout, which belongs to the command's document.
        if sys.stderr is not None:
            with contextlib.suppress(OSError, ValueError):
                print(f"resumeproof: {line}", file=sys.stderr, flush=True)


def sidecar_path(journal_path: Path) -> Path:
    """`<journal>.health`, beside the journal itself and not beside a link to it."""
    return Path(f"{resolved(journal_path)}.health")


def read_counts(journal_path: Path) -> dict[str, int]:
    """How often each counter was counted; empty for a journal that nothing ever happened to.

    Raises `StoreUnavailable` where there is a sidecar that cannot be read.
    """
    path = sidecar_path(journal_path)
    try:
        lines = path.read_bytes().decode(errors="replace").split("\n")
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise StoreUnavailable("health file", str(path), error.strerror or str(error)) from error
    names = (line.partition(" ")[0] for line in lines if line.strip())
    return dict(Tally(name if name in set(Counter) else UNREADABLE for name in names))


def _append_durably(path: Path, line: str) -> None:
    # The line end comes first: a line that a full disk tore must not swallow the one after it.
    entry = f"\n{line}".encode()
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(path, flags, 0o666)
    try:
        # One write: lines of several processes never mix (open(2), O_APPEND).
        written = os.write(descriptor, entry)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    if written < len(entry):
        raise OSError(f"only {written} of {len(entry)} bytes written")
    sync_directory(path.parent)
