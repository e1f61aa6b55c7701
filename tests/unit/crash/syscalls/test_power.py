"""Small recordings, and exactly the directories that a power cut can leave of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from resumeproof.crash.syscalls import operations as op
from resumeproof.crash.syscalls.power import PowerLoss
from resumeproof.crash.syscalls.tree import Tree
from tests.unit.crash.syscalls.recordings import recording, tree

PLENTY = 10_000


def holds(found: Tree) -> dict[str, bytes]:
    """What the files of a tree hold."""
    return {
        path: node.content.read(0, node.content.size)
        for path, _, node in found.walk()
        if node.content is not None
    }


def left(made: op.Recording, origin: Tree) -> dict[str, dict[str, bytes]]:
    """All that a power cut can leave and a kill cannot, by plan."""
    power = PowerLoss(made, origin, PLENTY)
    found = {str(state.point): holds(tree) for state, tree in power}
    assert power.untried == 0
    return found


CREATE = op.Create(10, "tmp", 0o644)
NEW = op.Write(10, "tmp", 0, b"new")
SYNC = op.Sync(10, "tmp")
RENAME = op.Rename("tmp", "state")
ZEROS = {"tmp": b"\0\0\0"}
PROMISE = op.Print(b"saved\n")


def test_renamed_with_nothing_synced_the_new_file_can_be_empty_zeros_or_not_there() -> None:
    assert left(recording(CREATE, NEW, RENAME, PROMISE), tree(state=b"old")) == {
        "power.l1-3:after#4": {"state": b"old"},
        "power.l2:after#4": {"state": b""},
        "power.l2-3:after#4": {"state": b"old", "tmp": b""},
        "power.l3:after#4": {"state": b"old", "tmp": b"new"},
        "power.z2:after#4": {"state": b"\0\0\0"},
        "power.z2.l3:after#4": {"state": b"old", "tmp": b"\0\0\0"},
    }


def test_renamed_with_the_file_synced_only_the_old_one_can_come_back() -> None:
    assert left(recording(CREATE, NEW, SYNC, RENAME, PROMISE), tree(state=b"old")) == {
        # before the sync
        "power.z2:after#2": {"state": b"old", "tmp": b"\0\0\0"},
        # after the promise
        "power.l1-4:after#5": {"state": b"old"},  # 1 and 4: 2 was synced
        "power.l4:after#5": {"state": b"old", "tmp": b"new"},
    }


def test_with_the_directory_synced_as_well_nothing_is_lost_once_it_is_promised() -> None:
    made = recording(CREATE, NEW, SYNC, RENAME, op.SyncDirectory(""), PROMISE)

    assert left(made, tree(state=b"old")) == {
        "power.z2:after#2": {"state": b"old", "tmp": b"\0\0\0"},
    }


def test_overwritten_in_place_truncation_and_write_are_lost_apart() -> None:
    made = recording(op.Truncate(1, "state", 0), op.Write(1, "state", 0, b"new"))

    assert left(made, tree(state=b"older")) == {
        "power.l1:after#2": {"state": b"new\0\0"},  # a sector holds what the file held: no `er`
        "power.z2:after#2": {"state": b"\0\0\0"},
    }


def test_a_later_write_to_a_sector_brings_the_earlier_along() -> None:
    made = recording(op.Write(1, "log", 0, b"one\n"), op.Write(1, "log", 4, b"two\n"), PROMISE)

    assert left(made, tree(log=b"")) == {
        "power.l1-2:after#3": {"log": b""},
        "power.l2:after#3": {"log": b"one\n"},
        "power.z1.l2:after#3": {"log": b"\0\0\0\0"},
        "power.l1.z2:after#3": {"log": b"\0" * 8},
        "power.z2:after#3": {"log": b"one\n\0\0\0\0"},
    }


def test_writes_to_different_sectors_are_lost_in_any_order() -> None:
    made = recording(op.Write(1, "f", 0, b"1"), op.Write(1, "f", 512, b"2"))
    old, gap = b"a" * 1024, b"a" * 511

    assert left(made, tree(f=old)) == {"power.l1:after#2": {"f": b"a" * 512 + b"2" + gap}}


def test_a_write_is_torn_at_each_page_and_each_sector() -> None:
    made = recording(op.Write(1, "f", 4000, b"b" * 1000))
    old = b"a" * 5000

    assert left(made, tree(f=old)) == {
        "power.h1-4096:after#1": {"f": b"a" * 4000 + b"b" * 96 + b"a" * 904},
        "power.t1-4096:after#1": {"f": b"a" * 4096 + b"b" * 904},
        "power.h1-4608:after#1": {"f": b"a" * 4000 + b"b" * 608 + b"a" * 392},
        "power.t1-4608:after#1": {"f": b"a" * 4608 + b"b" * 392},
    }


def test_a_synchronous_write_is_torn_only_until_it_returns() -> None:
    made = recording(op.Write(1, "f", 0, b"b" * 1024, synchronous=True), PROMISE)

    assert left(made, tree(f=b"a" * 1024)) == {
        "power.h1-512:before#1": {"f": b"b" * 512 + b"a" * 512},
        "power.t1-512:before#1": {"f": b"a" * 512 + b"b" * 512},
    }


def test_a_synchronous_write_stays_though_an_earlier_write_to_the_file_is_lost() -> None:
    made = recording(
        op.Write(1, "f", 0, b"1"), op.Write(1, "f", 1, b"2", synchronous=True), PROMISE
    )

    assert left(made, tree(f=b"a" * 2)) == {}  # one sector: the first came along


def test_a_synchronous_write_keeps_the_truncation_before_it() -> None:
    made = recording(op.Truncate(1, "f", 0), op.Write(1, "f", 0, b"new", synchronous=True), PROMISE)

    assert left(made, tree(f=b"older")) == {
        "power.l1:before#2": {"f": b"new\0\0"},
        "power.z2:before#2": {"f": b"\0\0\0"},
    }


def test_fdatasync_keeps_the_size_but_not_the_permissions() -> None:
    made = recording(
        op.ChangeMode("f", 0o600),
        op.Write(1, "f", 0, b"x"),
        op.Sync(1, "f", data_only=True),
        PROMISE,
    )
    power = PowerLoss(made, tree(f=b""), PLENTY)
    states = {str(state.point): found for state, found in power}

    assert "power.l1:after#4" in states
    assert holds(states["power.l1:after#4"]) == {"f": b"x"}
    assert states["power.l1:after#4"].nodes[1].mode == 0o644


def test_fsync_keeps_the_permissions_as_well() -> None:
    made = recording(op.ChangeMode("f", 0o600), op.Sync(1, "f"), PROMISE)

    assert left(made, tree(f=b"x")) == {}


def test_what_comes_from_outside_has_its_bytes_wherever_it_has_its_name() -> None:
    made = recording(
        op.Rename(None, "f", inode=1, arrived=b"new"), op.MakeDirectory("d", 0o755), PROMISE
    )

    assert left(made, tree()) == {
        "power.l1-2:after#3": {},
        "power.l1:after#3": {},
        "power.l2:after#3": {"f": b"new"},
    }


def test_a_name_that_is_used_again_waits_for_no_change_that_is_synced() -> None:
    origin = tree(f=b"old")
    origin.apply(op.MakeDirectory("d", 0o755))
    made = recording(
        op.Create(10, "tmp", 0o644),
        op.Rename("tmp", "d/f"),
        op.Create(11, "tmp", 0o644),
        op.SyncDirectory("d"),
        PROMISE,
        op.SyncDirectory(""),
    )

    assert left(made, origin) == {
        "power.l3:after#5": {"d/f": b"", "f": b"old"},
    }


def test_syncfs_keeps_what_is_on_its_own_disk_and_sync_what_is_on_any() -> None:
    for name, stays in (("sync", True), ("syncfs", False)):
        made = recording(
            (0, op.Write(1, "f", 0, b"new")),
            (1, op.SyncAll()),
            PROMISE,
            domains=["", "other"],
        )
        called = [replace(call, name=name) for call in made.calls]
        found = left(replace(made, calls=called), tree(f=b"old"))
        assert ("power.d0.l1:after#3" not in found) is stays


@pytest.mark.parametrize(
    ("sync", "lost"),
    [
        (op.SyncAll(), {}),
        (SYNC, {"power.l1:after#4": {}}),
        (op.SyncDirectory(""), {"power.l2:after#4": {"tmp": b""}, "power.z2:after#4": ZEROS}),
        (
            op.SyncRange(10, "tmp", 0, 3),
            {
                "power.l1-2:after#4": {},
                "power.l2:after#4": {"tmp": b""},
                "power.z2:after#4": ZEROS,
            },
        ),
    ],
    ids=["all", "file", "directory", "range"],
)
def test_what_each_sync_leaves_to_be_lost_after_a_promise(
    sync: op.Operation, lost: dict[str, dict[str, bytes]]
) -> None:
    found = left(recording(CREATE, NEW, sync, PROMISE), tree())

    assert {plan: files for plan, files in found.items() if plan.endswith("#4")} == lost


def test_a_name_goes_with_the_directory_that_nobody_synced() -> None:
    made = recording(
        op.MakeDirectory("d", 0o755),
        op.Create(1, "d/f", 0o644),
        op.Sync(1, "d/f"),
        op.SyncDirectory("d"),
        PROMISE,
    )

    assert left(made, tree()) == {"power.l1:after#5": {}}


def test_changes_of_one_name_keep_their_order_and_others_do_not() -> None:
    made = recording(op.Create(1, "a", 0o644), op.Create(2, "b", 0o644), op.Unlink("a"), PROMISE)

    assert left(made, tree()) == {
        "power.l1-3:after#4": {},
        "power.l2-3:after#4": {"a": b""},
        "power.l3:after#4": {"a": b"", "b": b""},
    }


def test_a_rename_between_directories_is_kept_by_a_sync_of_either() -> None:
    for synced in ("", "d"):
        origin = tree(f=b"x")
        origin.apply(op.MakeDirectory("d", 0o755))
        made = recording(op.Rename("f", "d/f"), op.SyncDirectory(synced), PROMISE)
        assert left(made, origin) == {}


def test_a_file_that_gets_its_name_last_can_have_it_without_its_bytes() -> None:
    made = recording(op.Create(1, None, 0o600), op.Write(1, "#1", 0, b"new"), op.Link(1, "f"))

    assert left(made, tree()) == {
        "power.l2:after#3": {"f": b""},
        "power.z2:after#3": {"f": b"\0\0\0"},
    }


def test_each_domain_loses_its_power_alone_and_all_do_together() -> None:
    origin = tree()
    for name, number in (("journal", 1), ("ledger", 2)):
        origin.apply(op.MakeDirectory(name, 0o755))
        origin.apply(op.Create(number, f"{name}/f", 0o644))
    made = recording(
        (0, op.Write(1, "journal/f", 0, b"claimed")),
        (1, op.Write(2, "ledger/f", 0, b"effect")),
        domains=["", "ledger"],
    )
    alone = left(made, origin)

    assert alone["power.d0.l1:after#2"] == {"journal/f": b"", "ledger/f": b"effect"}
    assert alone["power.d1.z2:after#2"] == {"journal/f": b"claimed", "ledger/f": b"\0" * 6}
    assert alone["power.z1-2:after#2"] == {"journal/f": b"\0" * 7, "ledger/f": b"\0" * 6}
    # What both ways of losing power have in common is told once.
    assert "power.l1:after#2" not in alone


def test_a_file_system_does_not_hang_on_the_one_it_is_mounted_in() -> None:
    made = recording(
        (0, op.MakeDirectory("ledger", 0o755)),
        (1, op.Create(1, "ledger/f", 0o644)),
        (1, op.SyncDirectory("ledger")),
        PROMISE,
        domains=["", "ledger"],
    )

    assert left(made, tree()) == {}
