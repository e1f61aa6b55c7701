"""What a life sees of a directory: what it reads of what it found, and nothing that it wrote."""

from __future__ import annotations

import mmap
import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from resumeproof.crash.channel import LifeChannel
from resumeproof.crash.forked import LifeHost
from resumeproof.crash.syscalls import operations as op
from resumeproof.crash.syscalls.attached import LifeObserver
from resumeproof.crash.syscalls.observation import (
    Observation,
    SawBytes,
    SawName,
    SawNames,
    SawSize,
    Sight,
)
from resumeproof.crash.syscalls.tree import ROOT, Tree
from tests.crash.syscalls.programs import needs_strace

A, B, DEEP, SCRIPT = 1, 2, 3, 4
SUB = -2

pytestmark = needs_strace


def found() -> Tree:
    tree = Tree()
    tree.apply(op.MakeDirectory("sub", 0o755))
    files = {"a": b"a" * 2000, "b": b"", "sub/deep": b"d" * 10, "run": b"#!/bin/sh\ncat a\n"}
    for number, (path, data) in enumerate(files.items(), 1):
        tree.apply(op.Create(number, path, 0o755))
        tree.apply(op.Write(number, path, 0, data))
    return tree


def sights(tmp_path: Path, work: Callable[[], object]) -> Observation:
    """What a life sees that does this in such a directory."""
    directory, tree = tmp_path / "directory", found()
    tree.write_to(directory)

    def life(order: object) -> Callable[[LifeChannel], object]:
        def live(channel: LifeChannel) -> None:
            os.chdir(directory)
            channel.await_tracer()
            work()

        return live

    with (
        LifeHost(life) as host,
        LifeObserver(directory, tree, {A, B, DEEP, SCRIPT}, tmp_path / "traced") as observer,
    ):
        ended = host.run(None, timeout_seconds=60.0, attach=observer.attach)
        assert ended.ended, ended.output
        return observer.observation()


def of_files(seen: Observation) -> list[Sight]:
    return [each for each in seen.sights if isinstance(each, SawBytes | SawSize)]


def opened(path: str, flags: int = os.O_RDONLY) -> int:
    return os.open(path, flags | os.O_CLOEXEC)


def reads_a_part() -> None:
    descriptor = opened("a")
    os.pread(descriptor, 100, 500)
    os.pread(descriptor, 100, 550)


def reads_on() -> None:
    descriptor = opened("a")
    os.read(descriptor, 10)
    os.lseek(descriptor, 100, os.SEEK_SET)
    os.read(descriptor, 10)


def reads_to_the_end() -> None:
    os.pread(opened("a"), 5000, 0)


def asks_for_the_size() -> None:
    Path("a").stat()
    os.fstat(opened("a"))


def seeks_the_end() -> None:
    os.lseek(opened("a"), 0, os.SEEK_END)


def maps_it() -> None:
    with mmap.mmap(opened("a"), 0, prot=mmap.PROT_READ) as mapped:
        assert mapped[0] == ord("a")


def appends() -> None:
    os.write(opened("a", os.O_WRONLY | os.O_APPEND), b"more")


def reads_back_what_it_wrote() -> None:
    descriptor = opened("a", os.O_RDWR)
    os.pwrite(descriptor, b"new" * 100, 0)
    os.pread(descriptor, 400, 0)


def empties_it_and_reads() -> None:
    descriptor = opened("a", os.O_RDWR | os.O_TRUNC)
    os.read(descriptor, 100)
    os.fstat(descriptor)


def makes_a_file_and_reads_it() -> None:
    descriptor = opened("new", os.O_RDWR | os.O_CREAT)
    os.write(descriptor, b"new")
    os.pread(descriptor, 100, 0)
    os.fstat(descriptor)


def has_a_child_read() -> None:
    subprocess.run(["/bin/cat", "a"], check=True, stdout=subprocess.DEVNULL)


def runs_a_script() -> None:
    subprocess.run(["./run"], check=True, stdout=subprocess.DEVNULL)


def copies_in_the_kernel() -> None:
    os.copy_file_range(opened("sub/deep"), opened("b", os.O_WRONLY), 10)


WHOLE_A = [SawSize(A), SawBytes(A, (0, 2000))]


@pytest.mark.parametrize(
    ("work", "expected"),
    [
        (reads_a_part, [SawBytes(A, (500, 600)), SawBytes(A, (600, 650))]),
        (reads_on, [SawBytes(A, (0, 10)), SawBytes(A, (100, 110))]),
        (reads_to_the_end, [SawBytes(A, (0, 2000)), SawSize(A)]),
        (asks_for_the_size, [SawSize(A)]),
        (seeks_the_end, [SawSize(A)]),
        (maps_it, WHOLE_A),
        (appends, [SawSize(A)]),
        (reads_back_what_it_wrote, [SawBytes(A, (300, 400))]),
        (empties_it_and_reads, []),
        (makes_a_file_and_reads_it, []),
        (copies_in_the_kernel, [SawSize(DEEP), SawBytes(DEEP, (0, 10))]),
    ],
)
def test_of_files_it_sees_what_it_reads(
    tmp_path: Path, work: Callable[[], object], expected: Sequence[Sight]
) -> None:
    seen = sights(tmp_path, work)
    assert (of_files(seen), seen.opaque) == (list(expected), False)


@pytest.mark.parametrize("work", [has_a_child_read, runs_a_script])
def test_what_its_children_see_counts(tmp_path: Path, work: Callable[[], object]) -> None:
    seen = sights(tmp_path, work)
    assert set(WHOLE_A) <= set(seen.sights)
    if work is runs_a_script:
        assert SawBytes(SCRIPT, (0, 16)) in seen.sights


def looks_in_vain() -> None:
    assert not Path("gone").exists()
    with pytest.raises(FileNotFoundError):
        opened("sub/nothing")
    assert not os.access("sub/none/x", os.F_OK)


def lists() -> None:
    assert list(Path("sub").iterdir())


def goes_in_and_looks() -> None:
    os.chdir("sub")
    Path("../b").stat()
    Path("deep").stat()


@pytest.mark.parametrize(
    ("work", "expected"),
    [
        (
            looks_in_vain,
            {
                SawName((ROOT, "gone")),
                SawName((ROOT, "sub")),
                SawName((SUB, "nothing")),
                SawName((SUB, "none")),
            },
        ),
        (lists, {SawName((ROOT, "sub")), SawNames(SUB)}),
        (
            goes_in_and_looks,
            {
                SawName((ROOT, "sub")),
                SawName((ROOT, "b")),
                SawName((SUB, "deep")),
                SawSize(B),
                SawSize(DEEP),
            },
        ),
    ],
)
def test_of_names_it_sees_those_that_it_looks_up(
    tmp_path: Path, work: Callable[[], object], expected: set[Sight]
) -> None:
    seen = sights(tmp_path, work)
    assert (set(seen.sights), seen.opaque) == (expected, False)


def maps_it_to_write() -> None:
    mmap.mmap(opened("a", os.O_RDWR), 0).close()


def test_where_nobody_can_say_what_was_seen_all_counts(tmp_path: Path) -> None:
    assert sights(tmp_path, maps_it_to_write).opaque


@pytest.mark.skipif(shutil.which("sqlite3") is None, reason="no sqlite3")
def test_a_shell_sees_the_file_that_it_asks(tmp_path: Path) -> None:
    def asks() -> None:
        subprocess.run(["sqlite3", "b", "select 1 from sqlite_master"], check=True)

    seen = sights(tmp_path, asks)
    assert SawSize(B) in seen.sights
    assert SawName((ROOT, "b-journal")) in seen.sights or SawName((ROOT, "b-wal")) in seen.sights
