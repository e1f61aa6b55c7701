from __future__ import annotations

import pytest

from resumeproof.crash.plan import CrashPoint
from resumeproof.crash.syscalls import operations as op
from resumeproof.crash.syscalls.power import PowerLoss
from resumeproof.crash.syscalls.tree import Tree
from resumeproof.proof.losses import (
    FAULT_WORDS,
    Cause,
    Fault,
    causes_of_loss,
)
from tests.unit.crash.syscalls.recordings import recording, tree

CREATE = op.Create(10, "tmp", 0o644)
NEW = op.Write(10, "tmp", 0, b"new")
SYNC = op.Sync(10, "tmp")
RENAME = op.Rename("tmp", "state")
PROMISE = op.Print(b"saved\n")
OLD = {"state": b"older"}


def causes(plan: str, origin: Tree, *calls: op.Operation) -> list[Cause]:
    made = recording(*calls)
    power = PowerLoss(made, origin, 1)
    state = power.state(CrashPoint.parse(plan))
    return causes_of_loss(made, origin, state, power.tree(state))


CASES: list[tuple[str, Tree, tuple[op.Operation, ...], tuple[str, Fault, str, int, int | None]]] = [
    (
        "power.l2:after#4",
        tree(**OLD),
        (CREATE, NEW, RENAME, PROMISE),
        ("state", Fault.RENAMED_UNSYNCED, "empty", 2, None),
    ),
    (
        "power.z2:after#3",
        tree(**OLD),
        (CREATE, NEW, RENAME, SYNC),
        ("state", Fault.RENAMED_UNSYNCED, "full of zeros", 2, 4),
    ),
    (
        "power.l2:after#3",
        tree(),
        (op.Create(10, None, 0o644), op.Write(10, "?", 0, b"new"), op.Link(10, "state")),
        ("state", Fault.LINKED_UNSYNCED, "empty", 2, None),
    ),
    (
        "power.l4:after#5",
        tree(**OLD),
        (CREATE, NEW, SYNC, RENAME, PROMISE, op.SyncDirectory("")),
        ("state", Fault.NAME_UNSYNCED, "what it was before", 4, 6),
    ),
    (
        "power.l1:after#4",
        tree(),
        (CREATE, NEW, SYNC, PROMISE),
        ("tmp", Fault.NAME_UNSYNCED, "missing", 1, None),
    ),
    (
        "power.l1:after#2",
        tree(**OLD),
        (op.Unlink("state"), PROMISE),
        ("state", Fault.REMOVAL_UNSYNCED, "back", 1, None),
    ),
    (
        "power.z2:after#2",
        tree(**OLD),
        (op.Truncate(1, "state", 0), op.Write(1, "state", 0, b"new"), op.SyncAll()),
        ("state", Fault.TRUNCATED, "full of zeros", 2, 3),
    ),
    (
        "power.l1:after#2",
        tree(**OLD),
        (op.Truncate(1, "state", 0), op.Write(1, "state", 0, b"new"), op.SyncAll()),
        ("state", Fault.TRUNCATED, "new with other bytes behind", 1, 3),
    ),
    (
        "power.l1:after#2",
        tree(state=b"a" * 1024),
        (op.Write(1, "state", 0, b"b"), op.Write(1, "state", 600, b"b")),
        ("state", Fault.OVERWRITTEN, "partly new and partly old or zeros", 1, None),
    ),
    (
        "power.l1:after#2",
        tree(log=b"one\n"),
        (op.Write(1, "log", 4, b"two\n"), PROMISE),
        ("log", Fault.APPENDED, "what it was before", 1, None),
    ),
    (
        "power.h1-512:after#1",
        tree(log=b""),
        (op.Write(1, "log", 0, b"x" * 600), PROMISE),
        ("log", Fault.TORN, "cut short", 1, None),
    ),
    (
        "power.h1-4096:after#1",
        tree(state=b"a" * 8192),
        (op.Write(1, "state", 0, b"b" * 8192), op.Sync(1, "state")),
        ("state", Fault.TORN, "partly new and partly old or zeros", 1, 2),
    ),
    (
        "power.l1:after#2",
        tree(**OLD),
        (op.ChangeMode("state", 0o600), PROMISE),
        ("state", Fault.MODE_UNSYNCED, "without its new permissions", 1, None),
    ),
]


@pytest.mark.parametrize(
    ("plan", "origin", "calls", "expected"),
    CASES,
    ids=[f"{case[3][1]}-{case[3][2]}".replace(" ", "_") for case in CASES],
)
def test_a_loss_says_what_is_missing_since_when(
    plan: str,
    origin: Tree,
    calls: tuple[op.Operation, ...],
    expected: tuple[str, Fault, str, int, int | None],
) -> None:
    (cause,) = causes(plan, origin, *calls)
    synced_by = cause.synced_by.ordinal if cause.synced_by else None

    assert (cause.path, cause.fault, cause.outcome, cause.call.ordinal, synced_by) == expected


def test_a_cause_in_words() -> None:
    never, late = causes("power.l2:after#4", tree(**OLD), CREATE, NEW, RENAME, PROMISE) + causes(
        "power.z2:after#3", tree(**OLD), CREATE, NEW, RENAME, SYNC
    )

    assert str(never) == (
        "state: replaced by rename without fsync of the new file; after a power cut it can be "
        "empty (since call 2, write; no later call syncs it)"
    )
    assert str(late).endswith("(since call 2, write; synced only by call 4, sync)")


def test_every_fault_is_shown_here_and_has_words() -> None:
    assert {expected[1] for *_, expected in CASES} == set(Fault) == FAULT_WORDS.keys()


def test_the_line_of_the_program_is_told_where_it_is_known() -> None:
    made = recording(op.Write(1, "log", 0, b"x"), PROMISE, sources=["save.py:12", None])
    power = PowerLoss(made, tree(log=b""), 1)
    state = power.state(CrashPoint("power.l1:after", 2))
    (cause,) = causes_of_loss(made, tree(log=b""), state, power.tree(state))

    assert "since call 1, write at save.py:12" in str(cause)


def test_losses_of_one_kind_in_one_file_are_one_cause() -> None:
    found = causes(
        "power.l1-2:after#3",
        tree(log=b""),
        op.Write(1, "log", 0, b"one\n"),
        op.Write(1, "log", 4, b"two\n"),
        PROMISE,
    )

    assert [(cause.path, cause.fault, cause.call.ordinal) for cause in found] == [
        ("log", Fault.APPENDED, 1)
    ]
