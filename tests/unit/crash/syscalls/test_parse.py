from __future__ import annotations

import pytest

from resumeproof.crash.syscalls import arguments
from resumeproof.crash.syscalls.parse import Ended, Entered, Left, RawCall, read_births, read_events


def test_a_call_on_one_line_begins_and_ends() -> None:
    (entered, left) = read_events(["7 [   3] close(3</a>)            = 0\n"])
    call = RawCall(7, "close", 3, "3</a>", "0")
    assert (entered, left) == (Entered(call), Left(call))


def test_a_call_that_others_overlap_is_put_together() -> None:
    events = list(
        read_events(
            [
                '7 [   1] write(3, "\\x61" <unfinished ...>\n',
                "8 [  74] fsync(4)          = 0\n",
                "7 [   1] <... write resumed>, 1) = 1\n",
            ]
        )
    )
    named = [(type(event), event.call.name) for event in events if not isinstance(event, Ended)]
    assert named == [(Entered, "write"), (Entered, "fsync"), (Left, "fsync"), (Left, "write")]
    last = events[-1]
    assert isinstance(last, Left)
    assert (last.call.arguments, last.call.returned) == ('3, "\\x61", 1', 1)


@pytest.mark.parametrize(
    ("result", "returned"),
    [
        ("3</a>", 3),
        ("0x340", 0x340),
        ("022", 0o22),
        ("0", 0),
        ("-1 ENOENT (No such file or directory)", None),
        ("?", None),
        ("? ERESTARTSYS (To be restarted if SA_RESTART is set)", None),
    ],
)
def test_what_a_call_returned(result: str, returned: int | None) -> None:
    *_, left = read_events([f"7 [   3] close(3) = {result}\n"])
    assert isinstance(left, Left)
    assert left.call.returned == returned


@pytest.mark.parametrize(
    ("line", "event"),
    [
        ("7 [ 231] +++ exited with 0 +++", Ended(7)),
        ("7 [  60] +++ killed by SIGKILL +++", Ended(7)),
        ("7 +++ superseded by execve in pid 8 +++", Ended(7, 8)),
    ],
)
def test_the_end_of_a_thread(line: str, event: Ended) -> None:
    assert list(read_events([line])) == [event]


def test_the_stack_belongs_to_the_call_above_it() -> None:
    lines = [
        "7 [  74] fsync(3)          = 0\n",
        " > /lib/libc.so.6(fsync+0x10) [0xf8350]\n",
        " > /bin/program(main+0x7f) [0x2518]\n",
        "7 [  74] fsync(4)          = 0\n",
    ]
    frames = [event.call.frames for event in read_events(lines) if isinstance(event, Left)]
    assert frames == [
        ["/lib/libc.so.6(fsync+0x10) [0xf8350]", "/bin/program(main+0x7f) [0x2518]"],
        [],
    ]


def test_births_are_known_before_their_line_is_complete() -> None:
    births = read_births(
        [
            "7 [  58] vfork( <unfinished ...>\n",
            '8 [  59] execve("\\x61", ["\\x61"], 0x7f /* 3 vars */) = 0\n',
            "7 [  58] <... vfork resumed>)       = 8\n",
        ]
    )
    assert [call.returned for call in births[7]] == [8]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", [""]),
        ("3, 4", ["3", "4"]),
        ('3</a>, [{iov_base="\\x2c", iov_len=1}, {iov_base="", iov_len=0}], 2', None),
    ],
)
def test_arguments_are_parted(text: str, parts: list[str] | None) -> None:
    expected = parts or ["3</a>", '[{iov_base="\\x2c", iov_len=1}, {iov_base="", iov_len=0}]', "2"]
    assert arguments.split(text) == expected


def test_bytes_that_strace_cut_short_are_not_known() -> None:
    assert arguments.data('"\\x00\\xff"') == b"\x00\xff"
    assert arguments.data('"\\x00"...') is None
    assert arguments.data("0x7ffe0000") is None
    assert (
        arguments.vector('[{iov_base="\\x61", iov_len=1}, {iov_base="\\x62"..., iov_len=9}]')
        is None
    )


def test_a_descriptor_and_what_it_refers_to() -> None:
    assert arguments.descriptor("3<\\x2f\\x61>(deleted)") == arguments.DescriptorArgument(
        3, "/a", True
    )
    assert arguments.descriptor("AT_FDCWD<\\x2f>") == arguments.DescriptorArgument(-100, "/")
    assert arguments.descriptor("NULL") is None
