"""A forked life is recorded, and killed at one of its calls, while its host waits for it."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from resumeproof.crash.channel import LifeChannel
from resumeproof.crash.forked import ForkedLife, LifeHost
from resumeproof.crash.syscalls.attached import LifeKiller, LifeRecorder
from resumeproof.crash.syscalls.operations import Recording
from resumeproof.crash.syscalls.rebuild import Rebuilder
from resumeproof.crash.syscalls.states import KillState, kill_states
from resumeproof.errors import Exit, StraceMissing, TracingForbidden
from tests.crash.syscalls.programs import needs_strace, snapshot
from tests.crash.syscalls.test_recording import PTRACE_NUMBER

PAGES = b"x" * 10_000


def work(directory: Path) -> None:
    """What a life does: it prints, has a child print, and writes more than a page."""
    print("at work", flush=True)
    subprocess.run(["/bin/echo", "so am I"], check=True)
    with open(directory / "pages", "wb", buffering=0) as pages:
        pages.write(PAGES)
    (directory / "pages").rename(directory / "done")


@dataclass
class Stage:
    """A directory, and a host whose lives work in it."""

    base: Path
    host: LifeHost

    def empty(self, name: str) -> Path:
        directory = self.base / name
        directory.mkdir()
        return directory

    def record(self) -> Recording:
        with self.recorder() as recorder:
            self.live("recorded", recorder.attach)
            return recorder.recording()

    def recorder(self) -> LifeRecorder:
        return LifeRecorder(self.empty("recorded"), self.base / "origin", self.base / "scratch")

    def killer(self, directory: Path, recording: Recording, state: KillState) -> LifeKiller:
        return LifeKiller(directory, recording, state, 60.0, self.base / "scratch")

    def live(self, name: str, attach: Callable[[int], None]) -> ForkedLife:
        return self.host.run(self.base / name, timeout_seconds=60.0, attach=attach)


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    def body_of(directory: Path) -> Callable[[LifeChannel], object]:
        def body(channel: LifeChannel) -> object:
            channel.await_tracer()
            work(directory)
            return "worked"

        return body

    with LifeHost(body_of) as host:
        yield Stage(tmp_path, host)


@needs_strace
def test_what_a_forked_life_did_is_recorded_and_not_what_it_printed(stage: Stage) -> None:
    recording = stage.record()
    made = [
        (call.name, type(call.operation).__name__, getattr(call.operation, "path", None))
        for call in recording.calls
    ]
    assert made == [
        ("openat", "Create", "pages"),
        ("write", "Write", "pages"),
        ("rename", "Rename", None),
    ]
    assert (recording.not_covered, recording.outside) == ((), ())


@needs_strace
def test_what_a_life_does_that_began_in_the_directory_is_recorded(tmp_path: Path) -> None:
    directory = tmp_path / "directory"
    directory.mkdir()

    def body_of(order: object) -> Callable[[LifeChannel], object]:
        def body(channel: LifeChannel) -> None:
            os.chdir(directory)
            channel.await_tracer()
            Path("made").write_bytes(b"here")

        return body

    with (
        LifeHost(body_of) as host,
        LifeRecorder(directory, tmp_path / "origin", tmp_path / "scratch") as recorder,
    ):
        host.run(None, timeout_seconds=60.0, attach=recorder.attach)
        recording = recorder.recording()
    assert [getattr(call.operation, "path", None) for call in recording.calls] == ["made", "made"]
    assert (recording.not_covered, recording.outside) == ((), ())


@needs_strace
def test_a_life_that_is_recorded_comes_to_its_end(stage: Stage) -> None:
    with stage.recorder() as recorder:
        life = stage.live("recorded", recorder.attach)
    told = life.outcome, life.exit.text, life.output, life.orphans
    assert told == ("worked", "exit 0", "at work\nso am I\n", ())


@needs_strace
def test_a_real_kill_leaves_what_is_rebuilt(stage: Stage) -> None:
    recording = stage.record()
    rebuilder = Rebuilder(recording, stage.base / "origin")
    states = kill_states(recording)
    assert [str(state.point) for state in states] == [
        "call:before#1",
        "call:after#1",
        "write-cut4096:after#2",
        "write-cut8192:after#2",
        "call:after#2",
        "call:after#3",
    ]
    for number, state in enumerate(states):
        rebuilder.go_to(state.ordinal, cut=state.cut)
        rebuilder.write_to(stage.base / f"rebuilt-{number}")
        killed = stage.empty(f"killed-{number}")
        with stage.killer(killed, recording, state) as killer:
            life = stage.live(killed.name, killer.attach)
            reason = killer.unconfirmed()
        assert (reason, life.exit.text, life.ended) == (None, "signal 9 (SIGKILL)", False)
        assert snapshot(killed) == snapshot(stage.base / f"rebuilt-{number}"), state.point


@needs_strace
def test_a_life_that_takes_another_course_is_not_said_to_have_died_there(stage: Stage) -> None:
    recording = stage.record()
    other = stage.empty("other")
    (other / "pages").mkdir()  # it cannot be opened for writing
    with stage.killer(other, recording, KillState(2)) as killer:
        stage.live("other", killer.attach)
        reason = killer.unconfirmed()
    assert reason == "a call before it, or it, failed: Is a directory"


def test_no_strace(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(stage.base))
    with stage.recorder() as recorder, pytest.raises(StraceMissing):
        stage.live("recorded", recorder.attach)
    assert not (stage.base / "scratch").exists()


FORBIDDEN = """
import ctypes, struct, sys
from resumeproof import conform
from resumeproof.errors import TracingForbidden

class Writer:
    def __init__(self, ctx):
        self.file = ctx.directory / "file"
    def step(self, item):
        self.file.write_text(item)

# What a container's seccomp profile does: ptrace(2) fails with EPERM.
steps = [(0x20, 0, 0, 0), (0x15, 0, 1, int(sys.argv[1])), (6, 0, 0, 0x50001), (6, 0, 0, 0x7FFF0000)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))

class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("steps", ctypes.c_void_p)]

program = Program(len(steps), ctypes.addressof(code))
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.byref(program), 0, 0) == 0
try:
    conform(Writer, ["a"], at="calls")
except TracingForbidden as error:
    print(error)
"""


@needs_strace
@pytest.mark.skipif(platform.machine() not in PTRACE_NUMBER, reason="another system call table")
def test_tracing_is_not_permitted(tmp_path: Path) -> None:
    told = subprocess.run(
        [sys.executable, "-c", FORBIDDEN, str(PTRACE_NUMBER[platform.machine()])],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        cwd=tmp_path,
        env={**os.environ, "RESUMEPROOF_ISOLATION": "process"},
    )
    assert told.stdout.count("\n") == 1
    assert told.stdout.startswith("this system does not permit tracing")
    assert TracingForbidden.exit == Exit.USAGE
