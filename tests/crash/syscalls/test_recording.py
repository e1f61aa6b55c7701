"""What a recording says of real programs, and what it says that it cannot say."""

from __future__ import annotations

import os
import platform
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from resumeproof.crash.syscalls import operations as op
from resumeproof.crash.syscalls.operations import Recording
from resumeproof.crash.syscalls.recorder import record
from resumeproof.errors import (
    Exit,
    ProgramHung,
    StraceMissing,
    TracingForbidden,
    UsageRefused,
)
from tests.crash.syscalls.programs import (
    CHILDREN,
    Site,
    compiled,
    needs_strace,
    python_code,
    site_in,
)

pytestmark = needs_strace


@pytest.fixture
def site(directory: Path) -> Site:
    return site_in(directory)


def shell_code(script: str) -> list[str]:
    return ["/bin/sh", "-c", script]


def operations(recording: Recording) -> list[op.Operation]:
    return [call.operation for call in recording.calls]


def caveats(recording: Recording) -> tuple[object, ...]:
    return recording.not_covered, recording.outside, recording.left_running


# -- what a program did -----------------------------------------------------------------------


def test_calls_of_all_processes_stand_in_one_order(site: Site) -> None:
    recording = site.record(shell_code("echo hi > a; mv a b; echo done"))
    assert operations(recording) == [
        op.Create(1, "a", 0o644),
        op.Write(1, "a", 0, b"hi\n"),
        op.Rename("a", "b"),
        op.Print(b"done\n"),
    ]
    assert [call.process for call in recording.calls] == [0, 0, 1, 0]
    assert [process.command_line for process in recording.processes][1] == ("mv", "a", "b")
    assert (recording.returncode, caveats(recording)) == (0, ((), (), ()))


def test_what_was_there_is_numbered_and_kept(site: Site, directory: Path) -> None:
    (site.directory / "old").write_text("old\n")
    (site.directory / "link").hardlink_to(site.directory / "old")
    recording = site.record(shell_code("echo new >> link"))
    assert recording.initial_inodes == {"link": 1, "old": 1}
    assert operations(recording) == [op.Write(1, "link", 4, b"new\n")]
    assert (site.origin / "old").read_text() == "old\n"


def test_a_write_of_megabytes_is_recorded_whole(site: Site) -> None:
    code = (
        "import os; os.write(os.open('big', os.O_WRONLY | os.O_CREAT), bytes(range(256)) * 16384)"
    )
    (_, write) = operations(site.record(python_code(code)))
    assert isinstance(write, op.Write)
    assert write.data == bytes(range(256)) * 16384


def test_each_failure_domain_has_its_calls(directory: Path) -> None:
    site = site_in(directory)
    recording = record(
        shell_code("mkdir -p a/b c; echo 1 > a/b/x; echo 2 > c/y; echo 3 > z"),
        directory=site.directory,
        origin=site.origin,
        domains=("", "a/b", "c"),
    )
    writes = [call for call in recording.calls if isinstance(call.operation, op.Write)]
    assert [call.domain for call in writes] == [1, 2, 0]


def test_a_program_that_dies_by_itself(site: Site) -> None:
    code = "import os, signal; open('a', 'w').close(); os.kill(os.getpid(), signal.SIGSEGV)"
    recording = site.record(python_code(code))
    assert (recording.returncode, caveats(recording)) == (-signal.SIGSEGV, ((), (), ()))


@pytest.mark.parametrize("journal_mode", ["delete", "wal"])
def test_all_that_sqlite_does_is_seen(site: Site, journal_mode: str) -> None:
    code = (
        "import os, sqlite3\n"
        "base = sqlite3.connect('base')\n"
        f"base.execute('PRAGMA journal_mode = {journal_mode}')\n"
        "base.execute('CREATE TABLE t (a)')\n"
        "for number in range(30):\n"
        "    with base:\n"
        "        base.execute('INSERT INTO t VALUES (?)', (str(number) * 1000,))\n"
        "os.kill(os.getpid(), 9)\n"
    )
    recording = site.record(python_code(code))
    assert (recording.returncode, caveats(recording)) == (-signal.SIGKILL, ((), (), ()))
    assert len(recording.calls) > 100


def test_the_line_of_a_call_is_told_where_the_program_knows_it(directory: Path) -> None:
    site = site_in(directory)
    recording = record(
        compiled("every_call.c", directory),
        directory=site.directory,
        origin=site.origin,
        stack=True,
    )
    assert recording.calls[0].source is not None
    if shutil.which("addr2line") is not None:
        lines = (CHILDREN / "every_call.c").read_text().splitlines()
        number = next(n for n, line in enumerate(lines, 1) if 'open("plain", O_RDWR' in line)
        assert recording.calls[0].source == f"{CHILDREN / 'every_call.c'}:{number}"


def test_an_interpreters_own_lines_are_not_told(directory: Path) -> None:
    site = site_in(directory)
    recording = record(
        python_code("open('x', 'w').write('y')"),
        directory=site.directory,
        origin=site.origin,
        stack=True,
    )
    assert [call.source for call in recording.calls] == [None, None]


# -- what it cannot hold ----------------------------------------------------------------------


def test_what_is_written_outside_is_said(site: Site, directory: Path) -> None:
    elsewhere = directory / "elsewhere"
    recording = site.record(shell_code(f"echo x > {elsewhere}; echo y > /dev/null"))
    assert (operations(recording), recording.outside) == ([], (str(elsewhere),))


def test_a_file_that_comes_in_is_read_from_the_end(site: Site, directory: Path) -> None:
    elsewhere = directory / "elsewhere"
    recording = site.record(
        shell_code(f"echo x > {elsewhere}; mv {elsewhere} in; mv in {elsewhere}")
    )
    assert recording.not_covered == ("the bytes that renameat2 brought to in",)
    shutil.rmtree(site.origin)
    recording = site.record(shell_code(f"mv {elsewhere} in"))
    assert operations(recording) == [op.Rename(None, "in", inode=1, arrived=b"x\n", mode=0o644)]
    assert recording.not_covered == ()


def test_a_writable_shared_mapping_is_not_covered(site: Site) -> None:
    code = (
        "import mmap\n"
        "with open('mapped', 'wb+') as file:\n"
        "    file.write(bytes(8192)); file.flush()\n"
        "    with mmap.mmap(file.fileno(), 8192) as mapped:\n"
        "        mapped[5000] = 1\n"
    )
    assert site.record(python_code(code)).not_covered == (
        "a writable shared mapping of mapped",
        "mapped: something changed it that no recorded call shows",
    )


def test_the_name_of_a_socket_is_not_covered(site: Site, directory: Path) -> None:
    """Whoever binds it again after a crash finds it there, also where it is removed in the end."""
    elsewhere = directory.parent / "elsewhere"
    code = (
        "import os, socket\n"
        f"for name in ('here', {str(elsewhere)!r}, '\\0abstract'):\n"
        "    listening = socket.socket(socket.AF_UNIX)\n"
        "    listening.bind(name)\n"
        "    listening.close()\n"
        "    if name == 'here':\n"
        "        os.unlink(name)\n"
        "listening = socket.socket()\n"
        "listening.bind(('127.0.0.1', 0))\n"
        "listening.close()\n"
    )
    recording = site.record(python_code(code))
    elsewhere.unlink()
    assert recording.not_covered == ("a socket, which a crash leaves behind: here",)
    assert recording.outside == (str(elsewhere),)


def test_a_daemon_is_said_and_ended(site: Site) -> None:
    recording = site.record(
        shell_code("setsid sleep 600 > /dev/null 2>&1 < /dev/null & echo x > a")
    )
    assert recording.left_running == ("sleep 600",)
    assert operations(recording) == [op.Create(1, "a", 0o644), op.Write(1, "a", 0, b"x\n")]


def test_a_program_that_never_ends(site: Site) -> None:
    with pytest.raises(ProgramHung) as hung:
        site.record(["/bin/sleep", "600"], seconds=1.0)
    assert str(hung.value) == ("/bin/sleep did not end within 1 seconds; --timeout gives it more")


# -- where it is not possible -----------------------------------------------------------------


def test_no_strace(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(site.directory))
    with pytest.raises(StraceMissing) as missing:
        site.record(["/bin/true"])
    assert missing.value.exit == Exit.USAGE
    assert "apt-get install strace" in str(missing.value)


def test_no_such_program(site: Site) -> None:
    with pytest.raises(UsageRefused, match="cannot start 'no-such-program'"):
        site.record(["no-such-program"])


FORBIDDEN = """
import ctypes, struct, sys
from pathlib import Path
from resumeproof.crash.syscalls.recorder import record
from resumeproof.errors import TracingForbidden

# What a container's seccomp profile does: ptrace(2) fails with EPERM.
steps = [(0x20, 0, 0, 0), (0x15, 0, 1, int(sys.argv[2])), (6, 0, 0, 0x50001), (6, 0, 0, 0x7FFF0000)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("steps", ctypes.c_void_p)]


program = Program(len(steps), ctypes.addressof(code))
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.byref(program), 0, 0) == 0
try:
    record(["/bin/true"], directory=Path(sys.argv[1]), origin=Path(sys.argv[1] + "-origin"))
except TracingForbidden as error:
    print(error)
"""
PTRACE_NUMBER = {"x86_64": 101, "aarch64": 117, "riscv64": 117}


@pytest.mark.skipif(platform.machine() not in PTRACE_NUMBER, reason="another system call table")
def test_tracing_is_not_permitted(site: Site) -> None:
    number = str(PTRACE_NUMBER[platform.machine()])
    told = subprocess.run(
        [sys.executable, "-c", FORBIDDEN, site.directory, number],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert told.stdout.count("\n") == 1
    assert told.stdout.startswith("this system does not permit tracing")
    assert TracingForbidden.exit == Exit.USAGE


ORDINARY = """
import sys
from pathlib import Path
from resumeproof.crash.syscalls.killing import kill_at
from resumeproof.crash.syscalls.recorder import record

base = Path(sys.argv[1])
argv = ["/bin/sh", "-c", "echo one > a; echo two > b; chmod 400 b"]
(base / "first").mkdir()
recording = record(argv, directory=base / "first", origin=base / "origin")
(base / "second").mkdir()
killed = kill_at(argv, directory=base / "second", recording=recording, ordinal=4)
print(len(recording.calls), recording.not_covered, killed.unconfirmed)
print(*sorted(path.name + path.read_text() for path in (base / "second").iterdir()))
"""


def test_it_takes_no_privileges(directory: Path) -> None:
    """Everybody may do this; here even root may do no more than anybody."""
    without = []
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("setpriv is not installed: apt-get install util-linux")
        without = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]
    done = subprocess.run(
        [*without, sys.executable, "-c", ORDINARY, directory],
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("5 () None\naone\n b\n", "")
