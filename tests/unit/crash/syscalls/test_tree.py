from __future__ import annotations

import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resumeproof.crash.syscalls import operations as op
from resumeproof.crash.syscalls.file import FileBytes
from resumeproof.crash.syscalls.tree import Tree
from resumeproof.errors import RecordingContradicted


def listing(directory: Path) -> dict[str, object]:
    """What a directory holds: each path with kind, mode, bytes or target, and its first link."""
    found: dict[str, object] = {}
    first: dict[int, str] = {}
    for path in sorted(directory.rglob("*")):
        status = path.lstat()
        name = path.relative_to(directory).as_posix()
        if path.is_symlink():
            found[name] = str(path.readlink())
        elif path.is_dir():
            found[name] = stat.S_IMODE(status.st_mode)
        else:
            linked = first.setdefault(status.st_ino, name)
            found[name] = (stat.S_IMODE(status.st_mode), path.read_bytes(), linked)
    return found


MANY = (
    op.MakeDirectory("d", 0o750),
    op.Create(1, "d/a", 0o600),
    op.Write(1, "d/a", 5000, b"x" * 5000),
    op.Link(1, "also"),
    op.SymbolicLink("s", "d/a"),
    op.Truncate(1, "d/a", 5002),
    op.Truncate(1, "d/a", 9000),
    op.Allocate(1, "d/a", 5000, 1, zeroes=True),
    op.Allocate(1, "d/a", 8000, 2000),
    op.Allocate(1, "d/a", 8000, 20000, keeps_size=True),
    op.Create(2, "tmp", 0o644),
    op.Write(2, "tmp", 0, b"new"),
    op.Rename("tmp", "d/a"),
    op.ChangeMode("d/a", 0o400),
    op.Create(3, "gone", 0o644),
    op.Rename("gone", None),
    op.Rename(None, "came", inode=4, arrived=b"from elsewhere", mode=0o640),
    op.Rename("came", "also", exchanges=True),
    op.Rename("d", "e"),
    op.MakeDirectory("f", 0o755),
    op.RemoveDirectory("f"),
    op.Unlink("s"),
    op.SyncAll(),
    op.Print(b"done"),
)


def test_a_tree_holds_what_the_calls_leave_and_writes_it_as_it_is(tmp_path: Path) -> None:
    tree = Tree()
    for operation in MANY:
        tree.apply(operation)
    tree.write_to(tmp_path / "out")

    old = bytes(5001) + b"x" + bytes(4998)
    assert listing(tmp_path / "out") == {
        "also": (0o640, b"from elsewhere", "also"),
        "came": (0o600, old, "came"),
        "e": 0o750,
        "e/a": (0o400, b"new", "e/a"),
    }


def test_a_tree_read_from_a_directory_has_the_digest_of_the_tree_written_there(
    tmp_path: Path,
) -> None:
    tree = Tree()
    for operation in MANY[:9]:
        tree.apply(operation)
    tree.write_to(tmp_path / "out")

    assert Tree.read(tmp_path / "out", {"d/a": 7, "also": 7}).digest() == tree.digest()


@pytest.mark.parametrize("steps", range(len(MANY)))
def test_neither_side_of_a_clone_sees_what_the_other_is_given(steps: int) -> None:
    tree, alone = Tree(), Tree()
    for operation in MANY[:steps]:
        tree.apply(operation)
        alone.apply(operation)
    clone = tree.clone()
    clone.apply(MANY[steps])

    assert tree.digest() == alone.digest()
    tree.apply(MANY[steps])
    assert tree.digest() == clone.digest()


def test_a_path_that_leads_nowhere_is_named() -> None:
    with pytest.raises(RecordingContradicted, match="'no/where'"):
        Tree().apply(op.Unlink("no/where"))


OFFSETS = st.integers(0, 9000)
CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just("write"), OFFSETS, st.binary(min_size=1, max_size=5000)),
        st.tuples(st.just("resize"), OFFSETS, st.just(b"")),
        st.tuples(st.just("zero"), OFFSETS, st.binary(max_size=5000)),
    ),
    max_size=8,
)


@given(CHANGES)
def test_a_file_holds_what_a_plain_array_of_bytes_would(
    changes: list[tuple[str, int, bytes]],
) -> None:
    file, plain = FileBytes(), bytearray()
    for kind, offset, data in changes:
        file.digest()  # what is remembered of it must not outlive the next change
        if kind == "write":
            file.write(offset, data)
            plain.extend(bytes(max(0, offset + len(data) - len(plain))))
            plain[offset : offset + len(data)] = data
        elif kind == "resize":
            file.resize(offset)
            plain.extend(bytes(max(0, offset - len(plain))))
            del plain[offset:]
        else:
            file.zero(offset, len(data))
            end = min(offset + len(data), len(plain))
            plain[offset:end] = bytes(max(0, end - offset))

    assert file.read(0, 20_000) == bytes(plain)
    assert file.digest() == FileBytes(bytes(plain)).digest()
