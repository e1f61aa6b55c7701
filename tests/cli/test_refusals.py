"""What is refused leaves every file as it was, and makes none."""

from __future__ import annotations

import os
import re
import shlex
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Worked
from tests.cli.desk import CHARGE, COMMAND, JOURNAL, LEDGER, Desk, Ran, environment

# -- actions -----------------------------------------------------------------------------------

ACTIONS = {
    "duplicate member": b'{"a": 1, "a": 2}',
    "NaN": b'{"a": NaN}',
    "overflow": b'{"a": 1e400}',
    "integer beyond 2^53": b'{"a": 9007199254740993}',
    "integral float beyond 2^53": b'{"a": 1e16}',
    "400 digits": b'{"a": ' + b"1" * 401 + b"}",
    "lone surrogate": rb'{"a": "\ud800"}',
    "byte-order mark": b'\xef\xbb\xbf{"a": 1}',
    "invalid UTF-8": b'{"a": "\xff"}',
    "nesting": b'{"a": ' + b"[" * 100 + b"]" * 100 + b"}",
    "1 MiB": b'{"a": "' + b"x" * (1 << 20) + b'"}',
    "no object": b"[1]",
    "no JSON": b"{",
    "nothing": b"",
    "empty tool": b'{"tool": "", "arguments": {}}',
    "terminal control": b'{"\x1b[31m": 1}',
}


@pytest.mark.parametrize("action", ACTIONS.values(), ids=ACTIONS)
def test_create_refuses_the_action_and_makes_no_store(desk: Desk, action: bytes) -> None:
    ran = desk.call("create", "--action", "-", stdin=action)
    assert ran.refusal == (2, "action_refused", 1, True)
    assert ran.document["error"]["place"]
    assert desk.files() == {}


def test_replace_action_refuses_the_action_and_keeps_the_approval(worked: Worked) -> None:
    desk, workflow_id = worked("approved")
    before = desk.files()
    ran = desk.call(
        "replace-action", "--workflow", workflow_id, "--action", "-", stdin=ACTIONS["NaN"]
    )
    assert ran.refusal == (2, "action_refused", 1, True)
    assert desk.files() == before


@pytest.mark.parametrize("named", ["missing.json", "."], ids=["missing", "a directory"])
def test_an_action_file_that_cannot_be_read(desk: Desk, named: str) -> None:
    ran = desk.call("create", "--action", named)
    assert ran.refusal == (2, "action_refused", 1, True)
    assert desk.files() == {}


# -- options -----------------------------------------------------------------------------------

OPTIONS: dict[str, tuple[str | bytes, ...]] = {
    "idempotent without a key": ("--mode", "idempotent"),
    "consistent lookup without a key": ("--lookup", "consistent"),
    "eventual lookup without a key": ("--lookup", "eventual"),
    "lag without an eventual lookup": ("--key", "k", "--lookup-lag", "1"),
    "lag of a consistent lookup": ("--key", "k", "--lookup", "consistent", "--lookup-lag", "0"),
    "lifetime without idempotence": (
        "--key", "k", "--mode", "non_idempotent", "--key-lifetime", "1",
    ),
    "no lifetime": ("--key", "k", "--key-lifetime", "0"),
    "negative lag": ("--key", "k", "--lookup", "eventual", "--lookup-lag", "-1"),
    "NaN seconds": ("--retry-base", "nan"),
    "infinite seconds": ("--retry-base", "inf"),
    "overflowing seconds": ("--retry-base", "1e400"),
    "more seconds than instants": ("--key", "k", "--key-lifetime", "1e12"),
    "no number": ("--retry-base", "soon"),
    "no retries": ("--max-retries", "0"),
    "no recoveries": ("--max-recoveries", "0"),
    "too many retries": ("--max-retries", "9007199254740993"),
    "negative failures": ("--fail-before", "-1"),
    "half a retry": ("--max-retries", "1.5"),
    "empty key": ("--key", ""),
    "blank key": ("--key", " \t"),
    "long key": ("--key", "k" * 256),
    "key that is no UTF-8": ("--key", b"\xff"),
    "unknown mode": ("--mode", "maybe"),
    "unknown option": ("--colour", "red"),
    "option that is nearly one": ("--mod", "idempotent"),
    "option without its value": ("--key",),
    "an argument": ("charge",),
    "unknown format": ("--format", "xml"),
}  # fmt: skip


@pytest.mark.parametrize("words", OPTIONS.values(), ids=OPTIONS)
def test_create_refuses_the_options_and_makes_no_store(
    desk: Desk, words: tuple[str | bytes, ...]
) -> None:
    ran = desk.call("create", "--action", CHARGE, *words)
    assert ran.refusal == (2, "usage", 1, True)
    assert re.search(r"[^.?][.?] Try '.*\bcreate --help'\.$", ran.stderr.strip())
    assert desk.files() == {}


LONGEST = {
    "key": ("--key", "k" * 255),
    "numbers": ("--key", "k", "--key-lifetime", "1e9", "--retry-base", "1e9"),
    "counts": ("--max-retries", "1000000", "--max-recoveries", "1000000"),
}


@pytest.mark.parametrize("words", LONGEST.values(), ids=LONGEST)
def test_create_takes_what_is_just_within_bounds(desk: Desk, words: tuple[str, ...]) -> None:
    workflow_id = desk.approved(*words)
    assert desk.done("resume", "--workflow", workflow_id)["status"] == "completed"


COMMANDS: dict[str, tuple[str | bytes, ...]] = {
    "blank actor": ("approve", "--workflow", "ID", "--actor", " "),
    "long actor": ("approve", "--workflow", "ID", "--actor", "a" * 1001),
    "actor that is no UTF-8": ("approve", "--workflow", "ID", "--actor", b"\xff"),
    "workflow that is no UTF-8": ("show", "--workflow", b"\xff"),
    "long note": (
        "reconcile", "--workflow", "ID", "--resolution", "confirmed_applied", "--actor", "a",
        "--note", "n" * ((64 << 10) + 1),
    ),
    "unknown resolution": (
        "reconcile", "--workflow", "ID", "--resolution", "maybe", "--actor", "a",
    ),
    "neither one nor all": ("resume",),
    "one and all": ("resume", "--workflow", "ID", "--all"),
    "crash of all": ("resume", "--all", "--crash-at", "tool:after"),
    "kill without a crash": ("resume", "--workflow", "ID", "--kill", "sigkill"),
    "infinite patience": ("resume", "--workflow", "ID", "--lock-timeout", "inf"),
    "negative patience": ("resume", "--workflow", "ID", "--lock-timeout", "-1"),
    "no workflow": ("show",),
    "unknown status": ("list", "--status", "lost"),
    "no command": (),
    "unknown command": ("charge",),
    "empty command": ("",),
}  # fmt: skip


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_a_command_refuses_its_options(worked: Worked, words: tuple[str | bytes, ...]) -> None:
    desk, workflow_id = worked("approved")
    before = desk.files()
    ran = desk.call(*(workflow_id if word == "ID" else word for word in words))
    assert ran.refusal == (2, "usage", 1, True)
    assert desk.files() == before


@pytest.mark.parametrize(
    "point", ["tool", "tool:during", "append#1:before", "tool:after#0", ""],
    ids=["no side", "no such side", "no boundary", "no occurrence", "empty"],
)  # fmt: skip
def test_a_crash_point_that_could_never_be_reached(worked: Worked, point: str) -> None:
    desk, workflow_id = worked("approved")
    before = desk.files()
    ran = desk.call("resume", "--workflow", workflow_id, "--crash-at", point)
    assert ran.refusal == (2, "plan_refused", 1, True)
    assert desk.files() == before


# -- transitions -------------------------------------------------------------------------------


def approve(workflow_id: str) -> tuple[str, ...]:
    return ("approve", "--workflow", workflow_id, "--actor", "bob")


def cancel(workflow_id: str) -> tuple[str, ...]:
    return ("cancel", "--workflow", workflow_id)


def replace(workflow_id: str) -> tuple[str, ...]:
    return ("replace-action", "--workflow", workflow_id, "--action", str(CHARGE))


def reconcile(workflow_id: str) -> tuple[str, ...]:
    resolution = ("--resolution", "confirmed_not_applied", "--actor", "bob")
    return ("reconcile", "--workflow", workflow_id, *resolution)


IMPOSSIBLE: dict[str, list[Callable[[str], tuple[str, ...]]]] = {
    "pending_approval": [reconcile],
    "approved": [approve, reconcile],
    "running": [approve, replace, cancel, reconcile],
    "unknown": [approve, replace, cancel],
    "completed": [approve, replace, cancel, reconcile],
}


@pytest.mark.parametrize(
    ("state", "command"),
    [(state, command) for state, commands in IMPOSSIBLE.items() for command in commands],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_what_the_state_machine_has_not_is_refused(
    worked: Worked, state: str, command: Callable[[str], tuple[str, ...]]
) -> None:
    desk, workflow_id = worked(state)
    before = desk.files()
    ran = desk.call(*command(workflow_id))
    assert ran.refusal == (3, "invalid_transition", 1, True)
    assert desk.files() == before


def test_an_action_for_another_tool_does_not_replace(worked: Worked) -> None:
    desk, workflow_id = worked("approved")
    before = desk.files()
    words = ("replace-action", "--workflow", workflow_id, "--action", "-")
    ran = desk.call(*words, stdin=b'{"tool": "send_message", "arguments": {}}')
    assert ran.refusal == (2, "usage_refused", 1, True)
    assert desk.files() == before


# -- paths -------------------------------------------------------------------------------------


def every_command(workflow_id: str) -> list[tuple[str, ...]]:
    """One of each kind: the reading, the deciding, the driving."""
    return [
        ("show", "--workflow", workflow_id),
        ("list",),
        approve(workflow_id),
        cancel(workflow_id),
        replace(workflow_id),
        reconcile(workflow_id),
        ("resume", "--workflow", workflow_id),
        ("resume", "--all"),
        ("timeline", "--workflow", workflow_id),
    ]


def test_a_mistyped_journal_makes_nothing(worked: Worked) -> None:
    desk, workflow_id = worked("approved")
    before = desk.files()
    for command in every_command(workflow_id):
        ran = desk.call(*command, "--journal", "wokflow-journal.sqlite3")
        assert (command[0], ran.refusal) == (command[0], (5, "store_not_found", 1, True))
    assert desk.files() == before


def test_a_mistyped_ledger_makes_nothing(worked: Worked) -> None:
    desk, workflow_id = worked("approved")
    before = desk.files()
    for command in (("resume", "--workflow", workflow_id), approve(workflow_id), ("effects",)):
        ran = desk.call(*command, "--ledger", "simulated.sqlite3")
        assert (command[0], ran.refusal) == (command[0], (5, "store_not_found", 1, True))
    assert desk.files() == before


@pytest.mark.parametrize("option", ["--journal", "--ledger"])
def test_create_in_a_directory_that_is_not_there(desk: Desk, option: str) -> None:
    ran = desk.call("create", "--action", CHARGE, option, "no/such/store.sqlite3")
    assert ran.refusal == (5, "store_not_found", 1, True)
    assert desk.files() == {}


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps a directory that is in use")
@pytest.mark.parametrize("words", [("create", "--action", str(CHARGE)), ("list",), ("demo",)])
def test_a_working_directory_that_is_gone(desk: Desk, words: tuple[str, ...]) -> None:
    gone = f'rmdir "$PWD"; exec {shlex.join(COMMAND)} {shlex.join(words)}'
    ran = subprocess.run(
        ["sh", "-c", gone], cwd=desk.path, env=environment(), capture_output=True, text=True
    )
    refusal = Ran(ran.returncode, ran.stdout, ran.stderr).refusal
    assert refusal in {(5, "store_not_found", 1, True), (7, "store_unavailable", 1, True)}


def test_another_good_ledger_is_refused(worked: Worked, desk: Desk) -> None:
    other = desk.path.parent / "other"
    other.mkdir()
    Desk(other).completed("--key", "k1")
    desk.path.rmdir()
    mine, workflow_id = worked("running")
    before, stranger = mine.files(), Desk(other).files()
    words = ("--ledger", str(other / LEDGER))
    commands = [*every_command(workflow_id)[2:7], ("timeline", "--workflow", workflow_id)]
    ran = [mine.call(*command, *words) for command in commands]
    assert [each.refusal for each in ran] == [(3, "wrong_ledger", 1, True)] * 6
    every = mine.call("resume", "--all", *words)
    assert (every.status, every.document["workflows"][0]["error"]["code"]) == (3, "wrong_ledger")
    assert (mine.files(), Desk(other).files()) == (before, stranger)


def one_file(desk: Desk) -> Path:
    return desk.path / JOURNAL


def symbolic_link(desk: Desk) -> Path:
    link = desk.path / "link"
    link.symlink_to(JOURNAL)
    return link


def hard_link(desk: Desk) -> Path:
    link = desk.path / "link"
    link.hardlink_to(desk.path / JOURNAL)
    return link


@pytest.mark.parametrize("alias", [one_file, symbolic_link, hard_link], ids=lambda f: f.__name__)
@pytest.mark.parametrize("command", ["create", "resume"])
def test_journal_and_ledger_are_two_files(
    worked: Worked, alias: Callable[[Desk], Path], command: str
) -> None:
    desk, workflow_id = worked("approved")
    words = {"create": ("--action", str(CHARGE)), "resume": ("--workflow", workflow_id)}[command]
    ledger = alias(desk)
    before = desk.files()
    ran = desk.call(command, *words, "--ledger", ledger)
    assert ran.refusal == (2, "same_store", 1, True)
    assert desk.files() == before


BELONGS_TO_THE_JOURNAL = [
    f"{JOURNAL}-wal", f"{JOURNAL}-shm", f"{JOURNAL}-journal", f"{JOURNAL}.lock",
    f"{JOURNAL}.health", f".{JOURNAL}.1-2.birth",
]  # fmt: skip
BELONGS_TO_THE_LEDGER = [f"{LEDGER}-wal", f"{LEDGER}-shm", f"{LEDGER}-journal"]


@pytest.mark.parametrize(
    ("option", "name"),
    [("--ledger", name) for name in BELONGS_TO_THE_JOURNAL]
    + [("--journal", name) for name in BELONGS_TO_THE_LEDGER],
)
def test_no_store_lies_under_a_name_that_belongs_to_the_other(
    desk: Desk, option: str, name: str
) -> None:
    ran = desk.call("create", "--action", CHARGE, option, name)
    assert (ran.refusal, desk.files()) == ((2, "name_taken", 1, True), {})


TOO_LONG = ["x" * 300, "y/" * 3_000]


@pytest.mark.parametrize("name", TOO_LONG, ids=["name", "path"])
def test_a_name_that_no_file_can_have(worked: Worked, name: str) -> None:
    desk, workflow_id = worked("approved")
    before = desk.files()
    resume, create = ("resume", "--workflow", workflow_id), ("create", "--action", CHARGE)
    ran = [
        desk.call("list", "--journal", f"{name}journal"),
        *(desk.call(*words, "--journal", f"{name}journal") for words in (resume, create)),
        *(desk.call(*words, "--ledger", f"{name}ledger") for words in (resume, create)),
        desk.call("verify", name),
        desk.call("demo", "--output-dir", name),
    ]
    assert {(each.refusal[0], *each.refusal[2:]) for each in ran} == {(7, 1, True)}
    assert desk.files() == before


@pytest.mark.parametrize("store", [JOURNAL, LEDGER], ids=["journal", "ledger"])
def test_a_store_with_two_names_is_not_written(worked: Worked, store: str) -> None:
    desk, workflow_id = worked("approved")
    (desk.path / "second-name").hardlink_to(desk.path / store)
    before = desk.files()
    ran = [
        desk.call("resume", "--workflow", workflow_id),
        desk.call("resume", "--all"),
        desk.call(*cancel(workflow_id)),
        desk.call("create", "--action", CHARGE),
    ]
    assert [each.refusal for each in ran] == [(2, "hard_linked", 1, True)] * 4
    assert desk.show(workflow_id)["status"] == "approved"
    assert desk.files() == before


# -- files that are no store -------------------------------------------------------------------


def text_file(path: Path) -> None:
    path.write_text("a note to myself\n")


def empty_file(path: Path) -> None:
    path.write_bytes(b"")


def only_nul(path: Path) -> None:
    path.write_bytes(b"\0" * path.stat().st_size)


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-4096])


def other_kind(path: Path) -> None:
    other = path.with_name({JOURNAL: LEDGER, LEDGER: JOURNAL}[path.name])
    path.write_bytes(other.read_bytes())


def newer_schema(path: Path) -> None:
    header = bytearray(path.read_bytes())
    header[60:64] = (99).to_bytes(4, "big")
    path.write_bytes(header)


def stranger_wal(path: Path) -> None:
    path.with_name(path.name + "-wal").write_bytes(b"\x37\x7f\x06\x82" + b"x" * 5000)


def damaged_schema(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[100:4096] = b"\xff" * (4096 - 100)
    path.write_bytes(content)


def directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


def named_socket(path: Path) -> None:
    path.unlink()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(path))


DAMAGES = [
    text_file, empty_file, only_nul, truncated, other_kind, newer_schema, stranger_wal,
    damaged_schema, directory, named_socket,
]  # fmt: skip


@pytest.mark.parametrize("store", [JOURNAL, LEDGER], ids=["journal", "ledger"])
@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_file_that_is_no_store_is_refused_and_left_alone(
    worked: Worked, damage: Callable[[Path], None], store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk, workflow_id = worked("approved")
    monkeypatch.chdir(desk.path)
    damage(Path(store))
    before = desk.files()
    ran = [
        desk.call("show", "--workflow", workflow_id) if store == JOURNAL else desk.call("effects"),
        desk.call("create", "--action", CHARGE),
        desk.call("resume", "--workflow", workflow_id),
    ]
    assert [each.refusal for each in ran] == [(7, "store_refused", 1, True)] * 3
    assert desk.files() == before


@pytest.mark.parametrize("store", [JOURNAL, LEDGER], ids=["journal", "ledger"])
def test_every_writing_command_refuses_what_is_no_store(worked: Worked, store: str) -> None:
    desk, workflow_id = worked("approved")
    truncated(desk.path / store)
    before = desk.files()
    commands = every_command(workflow_id)[2:]
    ran = {" ".join(words[:2]): desk.call(*words).refusal for words in commands}
    assert ran == dict.fromkeys(ran, (7, "store_refused", 1, True))
    assert len(ran) == 7
    assert desk.files() == before


@pytest.mark.parametrize("store", [JOURNAL, LEDGER], ids=["journal", "ledger"])
def test_create_beside_a_bad_store_does_not_make_the_other(desk: Desk, store: str) -> None:
    text_file(desk.path / store)
    before = desk.files()
    ran = desk.call("create", "--action", CHARGE)
    assert ran.refusal == (7, "store_refused", 1, True)
    assert desk.files() == before
