"""The lives of a proof with nothing round them: the floor of what a scenario costs.

As many lives, forked from a process of the same size, which send the same SQL and write the same
bytes through nothing but `sqlite3` and `open`, in copies of the same template, and die by the same
kill. They prove nothing, and keep nothing apart.
"""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import IO, NoReturn

from resumeproof.proof.agent import RECEIVER_NAME, AgentSubject
from resumeproof.proof.context import Context
from resumeproof.proof.payload import pack
from resumeproof.stores.receiver import _INSERT, _SELECT

KIND = "charge"


class Appending:
    """An agent with steps of constant cost: it asks the receiver once, and appends to a file."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        path = _log(ctx.directory)
        self._done = set(path.read_text().split()) if path.exists() else set()
        self._sent = set(ctx.effects.keys())
        self._out = path.open("a")

    def step(self, item: int) -> None:
        key = str(item)
        if key in self._done:
            return
        if key not in self._sent:
            self._ctx.effect(KIND, item, key=key)
        _append(self._out, key)
        self._done.add(key)

    def state(self) -> int:
        return len(self._done)


def _log(directory: Path) -> Path:
    return directory / "done"


def _append(out: IO[str], key: str) -> None:
    out.write(f"{key}\n")
    out.flush()


def forked(body: Callable[[], object]) -> int:
    pid = os.fork()
    if pid == 0:
        _live(body)
    return pid


def _live(body: Callable[[], object]) -> NoReturn:
    status = 1
    try:
        body()
        status = 0
    finally:
        os._exit(status)


def bare(subject: AgentSubject, jobs: int, scratch: Path) -> None:
    """The lives of a proof in `jobs` processes, each with a half of the crash points."""
    count = len(subject.inputs)
    deaths = [(effect, after) for effect in range(count) for after in (False, True)]
    pids = [
        forked(partial(_bare_share, subject, scratch / f"bare-{job}", deaths[job::jobs]))
        for job in range(jobs)
    ]
    statuses = [os.waitpid(pid, 0)[1] for pid in pids]
    assert not any(statuses), statuses


def _bare_share(subject: AgentSubject, directory: Path, deaths: Sequence[tuple[int, bool]]) -> None:
    blank, root = directory / "blank", directory / "root"
    blank.mkdir(parents=True)
    subject.lay_out(blank)
    for number, (effect, after) in enumerate(deaths):
        shutil.copytree(blank, root)
        _run(partial(_killed_life, root, effect, after), signal.SIGKILL)
        _run(partial(_resumed_life, root, len(subject.inputs)), 0)
        # All resumes come to the same bytes, and these are opened afresh but once.
        if number == 0:
            _run(partial(_rereading_life, root), 0)
        shutil.rmtree(root)
    shutil.rmtree(directory)


def _run(body: Callable[[], object], expected: int) -> None:
    _, status = os.waitpid(forked(body), 0)
    assert status == expected, status


class _BareAgent:
    """What `Appending` does, and the receiver for it, with nothing in between."""

    def __init__(self, root: Path, life: int) -> None:
        self._life = life
        self._connection = sqlite3.connect(root / RECEIVER_NAME, isolation_level=None)
        self._connection.execute("PRAGMA synchronous=OFF")
        self.sent = {row[5] for row in self._connection.execute(_SELECT)}
        log = _log(root / "subject")
        self.done = set(log.read_text().split()) if log.exists() else set()
        self._out = log.open("a")

    def send(self, item: int) -> None:
        row = (item + 1, self._life, item + 1, KIND, pack(item, ""), str(item), time.time(), None)
        self._connection.execute(_INSERT, row)

    def note(self, item: int) -> None:
        _append(self._out, str(item))

    def close(self) -> None:
        self._connection.close()
        self._out.close()


def _killed_life(root: Path, effect: int, after: bool) -> None:
    agent = _BareAgent(root, 1)
    for item in range(effect):
        agent.send(item)
        agent.note(item)
    if after:
        agent.send(effect)
    os.kill(os.getpid(), signal.SIGKILL)


def _resumed_life(root: Path, count: int) -> None:
    agent = _BareAgent(root, 2)
    for item in range(count):
        key = str(item)
        if key not in agent.done:
            if key not in agent.sent:
                agent.send(item)
            agent.note(item)
    agent.close()


def _rereading_life(root: Path) -> None:
    _BareAgent(root, 3).close()
