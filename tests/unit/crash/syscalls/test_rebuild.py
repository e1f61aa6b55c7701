from __future__ import annotations

from pathlib import Path

import pytest

from resumeproof.crash.syscalls import operations as op
from resumeproof.crash.syscalls.copying import copy_tree, number_files
from resumeproof.crash.syscalls.readback import differences
from resumeproof.crash.syscalls.rebuild import Rebuilder, page_cuts
from resumeproof.crash.syscalls.tree import Tree
from tests.unit.crash.syscalls.recordings import recording

PAGE = 4096


@pytest.mark.parametrize(
    ("offset", "length", "cuts"),
    [
        (0, PAGE, []),
        (0, PAGE + 1, [PAGE]),
        (1, PAGE, [PAGE - 1]),
        (100, 3 * PAGE, [PAGE - 100, 2 * PAGE - 100, 3 * PAGE - 100]),
        (PAGE, 1, []),
    ],
)
def test_a_write_is_torn_where_its_pages_meet(offset: int, length: int, cuts: list[int]) -> None:
    assert list(page_cuts(op.Write(1, "a", offset, bytes(length)))) == cuts


def test_any_state_can_be_had_in_any_order(tmp_path: Path) -> None:
    (tmp_path / "origin").mkdir()
    (tmp_path / "origin" / "a").write_bytes(b"old")
    recorded = recording(
        op.Write(1, "a", 0, b"x" * (PAGE + 5)), op.Rename("a", "b"), initial={"a": 1}
    )
    rebuilder = Rebuilder(recorded, tmp_path / "origin")
    states = [(2, None), (0, None), (1, PAGE), (1, None), (1, PAGE), (2, None)]
    seen = []
    for number, (ordinal, cut) in enumerate(states):
        rebuilder.go_to(ordinal, cut=cut)
        rebuilder.write_to(tmp_path / str(number))
        (file,) = (tmp_path / str(number)).iterdir()
        seen.append((file.name, file.stat().st_size, rebuilder.digest()))
    assert [entry[:2] for entry in seen] == [
        ("b", PAGE + 5),
        ("a", 3),
        ("a", PAGE),
        ("a", PAGE + 5),
        ("a", PAGE),
        ("b", PAGE + 5),
    ]
    assert len({digest for *_, digest in seen}) == 4
    assert (seen[0], seen[2]) == (seen[5], seen[4])


def test_a_copy_has_names_modes_links_and_bytes(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    (source / "d").mkdir(parents=True)
    (source / "d" / "large").write_bytes(bytes(range(256)) * 1000)
    (source / "one").write_text("1")
    (source / "two").hardlink_to(source / "one")
    (source / "way").symlink_to("d")
    (source / "one").chmod(0o604)
    (source / "d").chmod(0o550)
    copy_tree(source, target)
    copied = Tree.read(target, number_files(target))
    assert list(differences(copied, source)) == []
    (source / "two").unlink()
    (source / "two").write_text("1")
    (source / "two").chmod(0o604)
    assert list(differences(copied, source)) == ["two"]
    (source / "d").chmod(0o750)  # so that it can be cleared away
    (target / "d").chmod(0o750)
    assert list(differences(copied, source)) == ["d", "two"]
