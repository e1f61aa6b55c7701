from __future__ import annotations

import pytest

from resumeproof.crash.syscalls import operations as op
from tests.unit.crash.syscalls.recordings import tree
from tests.unit.crash.syscalls.trace import ROOT, read

OPEN_A = f'7 [257] openat(AT_FDCWD<{ROOT}>, "a", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 3<{ROOT}/a>'
OPEN_APPENDING = f'7 [257] openat(AT_FDCWD<{ROOT}>, "a", O_WRONLY|O_APPEND) = 3<{ROOT}/a>'
FORK = "7 [ 56] clone(child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLD) = 8"
CREATED = op.Create(1, "a", 0o644)


def operations(*lines: str) -> list[op.Operation]:
    return [call.operation for call in read(*lines).calls]


def test_a_short_write_has_written_what_it_returned() -> None:
    lines = [OPEN_A, f'7 [1] write(3<{ROOT}/a>, "hello", 5) = 2']
    again = f'7 [1] write(3<{ROOT}/a>, "llo", 3) = 3'
    assert operations(*lines, again)[1:] == [
        op.Write(1, "a", 0, b"he"),
        op.Write(1, "a", 2, b"llo"),
    ]


def test_a_failed_call_did_nothing() -> None:
    failed = f'7 [1] write(3<{ROOT}/a>, "x", 1) = -1 ENOSPC (No space left on device)'
    assert operations(OPEN_A, failed) == [CREATED]


def test_opening_what_is_there_empties_it_or_does_nothing() -> None:
    start = tree(a=b"old")
    history = read(OPEN_A, start=start)
    assert [call.operation for call in history.calls] == [op.Truncate(1, "a", 0)]
    assert read(OPEN_APPENDING, start=tree(a=b"old")).calls == []


def test_an_appending_write_goes_to_the_end_wherever_its_offset_is() -> None:
    lines = (OPEN_APPENDING, f"7 [8] lseek(3<{ROOT}/a>, 0, SEEK_SET) = 0")
    history = read(*lines, f'7 [1] write(3<{ROOT}/a>, "!", 1) = 1', start=tree(a=b"old"))
    assert [call.operation for call in history.calls] == [op.Write(1, "a", 3, b"!")]


def test_a_read_moves_the_offset() -> None:
    opened = f'7 [257] openat(AT_FDCWD<{ROOT}>, "a", O_RDWR) = 3<{ROOT}/a>'
    written = f'7 [1] write(3<{ROOT}/a>, "!", 1) = 1'
    history = read(opened, "7 [0] read(0x3, 0x7ff0, 0x2) = 0x2", written, start=tree(a=b"old"))
    assert [call.operation for call in history.calls] == [op.Write(1, "a", 2, b"!")]


def test_copies_of_a_descriptor_share_its_offset_across_a_fork() -> None:
    lines = [
        OPEN_A,
        f'7 [1] write(3<{ROOT}/a>, "one", 3) = 3',
        f"7 [33] dup2(3<{ROOT}/a>, 9) = 9<{ROOT}/a>",
        FORK,
        f'8 [1] write(9<{ROOT}/a>, "two", 3) = 3',
        f'7 [1] write(3<{ROOT}/a>, "three", 5) = 5',
    ]
    assert operations(*lines)[1:] == [
        op.Write(1, "a", 0, b"one"),
        op.Write(1, "a", 3, b"two"),
        op.Write(1, "a", 6, b"three"),
    ]


def test_a_child_may_call_before_its_birth_is_told() -> None:
    lines = [
        "7 [ 56] clone(child_stack=NULL, flags=SIGCHLD <unfinished ...>",
        '8 [ 83] mkdir("d", 0777) = 0',
        "7 [ 56] <... clone resumed>) = 8",
    ]
    history = read(*lines)
    assert [(call.process, call.operation) for call in history.calls] == [
        (1, op.MakeDirectory("d", 0o755))
    ]
    assert (history.processes[1].parent, history.not_covered) == (0, {})


def test_a_number_that_is_closed_may_be_had_by_another_thread_at_once() -> None:
    thread = (
        "7 [435] clone3({flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_THREAD, stack=0x7f}, 88) = 8"
    )
    lines = [
        OPEN_A,
        thread,
        f"7 [3] close(3<{ROOT}/a> <unfinished ...>",
        f'8 [257] openat(AT_FDCWD<{ROOT}>, "b", O_WRONLY|O_CREAT, 0600) = 3<{ROOT}/b>',
        "7 [3] <... close resumed>) = 0",
        '8 [1] write(3, "x", 1) = 1',
    ]
    assert operations(*lines)[1:] == [op.Create(2, "b", 0o600), op.Write(2, "b", 0, b"x")]


def test_only_threads_share_the_working_directory() -> None:
    lines = [
        '7 [83] mkdir("d", 0700) = 0',
        FORK,
        '8 [80] chdir("d") = 0',
        '8 [83] mkdir("e", 0700) = 0',
        '7 [83] mkdir("f", 0700) = 0',
    ]
    assert operations(*lines) == [
        op.MakeDirectory("d", 0o700),
        op.MakeDirectory("d/e", 0o700),
        op.MakeDirectory("f", 0o700),
    ]


def test_what_closes_on_exec_is_closed() -> None:
    lines = [
        OPEN_A.replace("O_TRUNC", "O_TRUNC|O_CLOEXEC"),
        '7 [59] execve("/bin/x", ["x"], 0x7f /* 3 vars */) = 0',
        '7 [1] write(3, "x", 1) = 1',
    ]
    assert operations(*lines) == [CREATED]


def test_the_standard_output_wherever_it_is_passed_on() -> None:
    lines = [
        FORK,
        "8 [72] fcntl(1<pipe:[5]>, F_DUPFD, 10) = 10<pipe:[5]>",
        '8 [1] write(10<pipe:[5]>, "one", 3) = 3',
        '7 [1] write(2<pipe:[6]>, "error", 5) = 5',
        '7 [20] writev(1<pipe:[5]>, [{iov_base="t", iov_len=1}, {iov_base="w", iov_len=1}], 2) = 2',
    ]
    assert operations(*lines) == [op.Print(b"one"), op.Print(b"tw")]


def test_nobody_sees_what_is_written_to_a_file_without_a_name() -> None:
    lines = [
        OPEN_A,
        '7 [87] unlink("a") = 0',
        f'7 [1] write(3<{ROOT}/a>(deleted), "x", 1) = 1',
        f"7 [74] fsync(3<{ROOT}/a>(deleted)) = 0",
    ]
    assert operations(*lines) == [CREATED, op.Unlink("a")]


def test_a_path_through_a_link_is_that_of_what_it_leads_to() -> None:
    lines = [
        '7 [83] mkdir("d", 0700) = 0',
        '7 [88] symlink("d", "way") = 0',
        '7 [83] mkdir("way/e", 0700) = 0',
        '7 [83] mkdir("way/e/../f", 0700) = 0',
        '7 [84] rmdir("d/f/.././f") = 0',
    ]
    assert operations(*lines)[2:] == [
        op.MakeDirectory("d/e", 0o700),
        op.MakeDirectory("d/f", 0o700),
        op.RemoveDirectory("d/f"),
    ]


@pytest.mark.parametrize(
    ("flags", "synchronous"),
    [("O_WRONLY|O_SYNC", True), ("O_WRONLY|O_DSYNC", True), ("O_RDWR", False)],
)
def test_a_write_may_be_its_own_sync(flags: str, synchronous: bool) -> None:
    opened = f'7 [257] openat(AT_FDCWD<{ROOT}>, "a", {flags}) = 3<{ROOT}/a>'
    history = read(opened, f'7 [1] write(3<{ROOT}/a>, "x", 1) = 1', start=tree(a=b"old"))
    assert [call.operation for call in history.calls] == [op.Write(1, "a", 0, b"x", synchronous)]


def access_list(*entries: tuple[int, int]) -> str:
    spelt = "".join(f"\\x{t:02x}\\x00\\x{bits:02x}\\x00\\xff\\xff\\xff\\xff" for t, bits in entries)
    value = f'"\\x02\\x00\\x00\\x00{spelt}"'
    return f'7 [190] fsetxattr(3<{ROOT}/a>, "system.posix_acl_access", {value}, 28, 0) = 0'


def test_a_list_that_says_what_a_mode_says_is_a_mode() -> None:
    said = access_list((1, 6), (4, 4), (0x20, 0))
    assert operations(OPEN_A, said) == [CREATED, op.ChangeMode("a", 0o640, 1)]


def test_a_list_that_says_more_is_not_covered() -> None:
    said = access_list((1, 6), (2, 6), (4, 4), (0x10, 6), (0x20, 0))
    assert list(read(OPEN_A, said).not_covered) == ["fsetxattr of a"]


def test_what_keeps_its_turn() -> None:
    lines = [
        OPEN_A,
        f'7 [257] openat(AT_FDCWD<{ROOT}>, "a", O_RDONLY) = 4<{ROOT}/a>',
        '7 [257] openat(AT_FDCWD, "/elsewhere", O_RDONLY) = 5</elsewhere>',
        '7 [83] mkdir("a", 0700) = -1 EEXIST (File exists)',
        f"7 [73] flock(4<{ROOT}/a>, LOCK_EX|LOCK_NB) = -1 EAGAIN (Try again)",
    ]
    assert read(*lines).turns == [
        op.Turn(0, "openat", 1, 1),
        op.Turn(0, "openat", 2),
        op.Turn(0, "mkdir", 1, failed=True),
        op.Turn(0, "flock", 1, failed=True),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "7 [425] io_uring_setup(8, {flags=0}) = 5",
        '7 [161] chroot("/x") = 0',
        f"7 [9] mmap(NULL, 4096, PROT_READ|PROT_WRITE, MAP_SHARED, 3<{ROOT}/a>, 0) = 0x7f00",
        '7 [259] mknodat(AT_FDCWD, "pipe", S_IFIFO|0600) = 0',
        f"7 [285] fallocate(3<{ROOT}/a>, FALLOC_FL_COLLAPSE_RANGE, 0, 4096) = 0",
    ],
    ids=["io_uring", "chroot", "mapping", "pipe", "collapse"],
)
def test_what_no_recording_holds_is_said(line: str) -> None:
    assert len(read(OPEN_A, line).not_covered) == 1


def test_sqlites_shared_memory_is_rebuilt_by_it() -> None:
    opened = OPEN_A.replace('"a"', '"a-shm"').replace("/a>", "/a-shm>")
    mapped = f"7 [9] mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, 3<{ROOT}/a-shm>, 0) = 0x7f00"
    assert read(opened, mapped).not_covered == {}
