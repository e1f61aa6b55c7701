"""What people see on a terminal, and what programs read in a pipe."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click import unstyle

from resumeproof.domain.printable import shown
from tests.cli.conftest import Worked
from tests.cli.desk import CHARGE, TIMEOUT_SECONDS, Desk, environment, on_a_terminal

RED_LABEL = "\x1b[31m\x1b[1merror:\x1b[0m"


def test_text_on_a_terminal_and_one_document_in_a_pipe(worked: Worked) -> None:
    desk, workflow_id = worked("completed")
    status, text = on_a_terminal(desk, "show", "--workflow", workflow_id)
    piped = desk.run("show", "--workflow", workflow_id)
    assert (status, text.splitlines()[:2]) == (
        0,
        [f"workflow    {workflow_id}", "status      completed"],
    )
    assert piped.document["id"] == workflow_id
    assert text == desk.run("show", "--workflow", workflow_id, "--format", "text").stdout


def test_a_terminal_gets_json_if_it_is_asked_for(worked: Worked) -> None:
    desk, workflow_id = worked("completed")
    _, text = on_a_terminal(desk, "show", "--workflow", workflow_id, "--format=json")
    assert json.loads(text)["id"] == workflow_id


READING = ("show", "list", "timeline", "effects")


@pytest.mark.parametrize("command", READING)
@pytest.mark.parametrize("state", ["pending_approval", "running", "unknown", "completed"])
def test_every_reading_command_prints_both_forms(worked: Worked, state: str, command: str) -> None:
    desk, workflow_id = worked(state)
    words = [command] if command in {"list", "effects"} else [command, "--workflow", workflow_id]
    before = desk.files()
    text = desk.call(*words, "--format", "text")
    document = desk.call(*words, "--format", "json")
    assert (text.status, text.stderr, document.status, document.stderr) == (0, "", 0, "")
    assert workflow_id in json.dumps(document.document) or command == "effects"
    assert all(line.isprintable() for line in text.stdout.splitlines())
    with pytest.raises(json.JSONDecodeError):
        json.loads(text.stdout)
    assert desk.files() == before


WIDTHS = {"narrow": "80", "wide": "100"}


@pytest.mark.parametrize("columns", WIDTHS.values(), ids=WIDTHS)
@pytest.mark.parametrize("command", ["timeline", "demo"])
def test_a_picture_fits_the_terminal(worked: Worked, command: str, columns: str) -> None:
    desk, workflow_id = worked("unknown")
    words = ["timeline", "--workflow", workflow_id] if command == "timeline" else ["demo"]
    status, text = on_a_terminal(desk, *words, env={"COLUMNS": columns})
    # Colours take no room.
    lines = unstyle(text).splitlines()
    drawn = [line for line in lines if {*"│✖"} & {*line} or "   the ledger" in line]
    widest = max(map(len, drawn))
    assert (status, widest <= int(columns), widest > 80) == (0, True, columns == "100")


@pytest.mark.parametrize("command", ["list", "effects"])
def test_a_table_fits_a_terminal_of_100_columns(worked: Worked, command: str) -> None:
    desk, _ = worked("unknown")
    text = desk.call(command, "--format", "text").stdout
    assert max(map(len, text.splitlines())) <= 100


def test_who_sees_a_workflow_that_is_unknown_is_told_what_is_due(worked: Worked) -> None:
    desk, workflow_id = worked("unknown")
    text = desk.call("show", "--workflow", workflow_id, "--format", "text").stdout
    due = "decision    due: find out what happened, then `resumeproof reconcile`"
    assert due in text.splitlines()


# -- errors ------------------------------------------------------------------------------------


def test_people_get_an_error_as_one_line_and_nothing_else(desk: Desk) -> None:
    ran = desk.run("show", "--workflow", "wf_1", "--format", "text")
    assert (ran.status, ran.stdout, ran.stderr) == (
        5,
        "",
        f"resumeproof: error: no journal at {desk.path}/workflow-journal.sqlite3\n",
    )


def test_programs_get_an_error_as_a_document_with_its_facts(desk: Desk) -> None:
    ran = desk.run("show", "--workflow", "wf_1")
    path = f"{desk.path}/workflow-journal.sqlite3"
    assert ran.document == {
        "error": {
            "code": "store_not_found",
            "message": f"no journal at {path}",
            "kind": "journal",
            "path": path,
        }
    }
    assert ran.stderr == f"resumeproof: error: no journal at {path}\n"


def test_a_usage_error_knows_the_format_that_was_asked_for(desk: Desk) -> None:
    text = desk.run("show", "--format", "text")
    document = desk.run("show", "--format=json")
    assert (text.status, text.stdout) == (2, "")
    assert text.stderr == (
        "resumeproof: error: Missing option '--workflow'. Try 'resumeproof show --help'.\n"
    )
    assert document.document["error"]["code"] == "usage"


COLOURED: dict[str, tuple[dict[str, str], bool]] = {
    "as it is": ({}, True),
    "NO_COLOR": ({"NO_COLOR": "1"}, False),
    "a dumb terminal": ({"TERM": "dumb"}, False),
}


@pytest.mark.parametrize(("env", "coloured"), COLOURED.values(), ids=COLOURED)
def test_an_error_is_coloured_on_terminals_only(
    desk: Desk, env: dict[str, str], coloured: bool
) -> None:
    status, text = on_a_terminal(desk, "show", "--workflow", "wf_1", env=env)
    label = RED_LABEL if coloured else "error:"
    assert (status, text.startswith(f"resumeproof: {label} no journal")) == (5, True)
    assert ("\x1b" in text) is coloured


# -- hostile text ------------------------------------------------------------------------------

HOSTILE = {
    "terminal control": "\x1b[2J\x1b[31mred",
    "one-byte control": "\x9b31m",
    "carriage return": "alice\rmallory",
    "line ends": "alice\nstatus      completed\u2028\u2029",
    "bidirectional": "a\u202eecila\u2066",
    "zero width": "al\u200bice\ufeff",
    "tab and bell": "a\tb\a",
    "delete": "a\x7f",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_is_one_line_of_what_can_be_printed(text: str) -> None:
    assert shown(text).isprintable()
    assert shown(text).encode().decode("unicode-escape") == text


@pytest.mark.parametrize("text", ["", "alice", "naïve Łask 日本 👍", r"C:\dir"])
def test_harmless_text_is_shown_as_it_is(text: str) -> None:
    assert shown(text) == text


def test_hostile_text_is_escaped_for_people_and_kept_for_programs(desk: Desk) -> None:
    text = "".join(HOSTILE.values())
    action = desk.path / "action.json"
    action.write_text(json.dumps({"tool": f"t{text}", "arguments": {f"n{text}": f"v{text}"}}))
    workflow_id = desk.create("--key", f"k{text}", action=action)
    desk.done("approve", "--workflow", workflow_id, "--actor", f"a{text}")
    words = ("resume", "--workflow", workflow_id, "--crash-at", "tool:after")
    assert desk.run(*words).status == 86
    desk.sql("simulated-tool-ledger.sqlite3", "UPDATE effects SET attempt = 7")
    assert desk.call("resume", "--workflow", workflow_id).status == 4
    desk.done(
        "reconcile", "--workflow", workflow_id, "--resolution", "confirmed_applied",
        "--actor", f"a{text}", "--note", f"note{text}",
    )  # fmt: skip

    shown = [
        desk.call(*command, "--format", "text").stdout
        for command in (
            ("show", "--workflow", workflow_id),
            ("timeline", "--workflow", workflow_id),
            ("list",),
            ("effects",),
        )
    ]
    assert [line for page in shown for line in page.split("\n") if not line.isprintable()] == []
    workflow = desk.show(workflow_id)
    assert (workflow["key"], workflow["action"], workflow["decision"]["note"]) == (
        f"k{text}",
        {"tool": f"t{text}", "arguments": {f"n{text}": f"v{text}"}},
        f"note{text}",
    )


def test_hostile_text_is_escaped_in_errors(desk: Desk) -> None:
    status, text = on_a_terminal(
        desk, "show", "--workflow", "wf\x1b[2J\n\u202e", env={"NO_COLOR": "1"}
    )
    usage, hint = on_a_terminal(desk, "resume", "\x1b[2J\u202e", env={"NO_COLOR": "1"})
    name = desk.run("show", "--workflow", "w", "--journal", "j\x1b[2J\u202e", "--format", "text")
    assert (status, usage, name.status) == (5, 2, 5)
    assert all(each.removesuffix("\n").isprintable() for each in (text, hint, name.stderr))


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_a_narrow_encoding_gets_escapes_and_plain_lines(desk: Desk, encoding: str) -> None:
    action = desk.path / "action.json"
    action.write_text('{"city": "Łask"}')
    workflow_id = desk.create(action=action)
    narrow = {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    shown = desk.run("show", "--workflow", workflow_id, "--format", "text", env=narrow)
    drawn = desk.run("timeline", "--workflow", workflow_id, "--format", "text", env=narrow)
    assert (shown.status, shown.stderr, drawn.status, drawn.stderr) == (0, "", 0, "")
    assert "\\u0141" in shown.stdout
    assert drawn.stdout.isascii()


# -- where nobody reads ------------------------------------------------------------------------


def test_a_reader_that_has_enough_changes_nothing(desk: Desk) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    process = desk.start("create", "--action", str(CHARGE), stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    _, stderr = process.communicate(timeout=TIMEOUT_SECONDS)
    assert (process.returncode, stderr) == (0, b"")
    assert len(desk.done("list")["workflows"]) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_result_that_cannot_be_written_is_an_error(worked: Worked) -> None:
    desk, workflow_id = worked("completed")
    with Path("/dev/full").open("wb") as full:
        process = desk.start("show", "--workflow", workflow_id, stdout=full, stderr=subprocess.PIPE)
        _, stderr = process.communicate(timeout=TIMEOUT_SECONDS)
    assert (process.returncode, stderr) == (
        7,
        b"resumeproof: error: output stdout is not available: No space left on device\n",
    )


PAGES = {"help": ("--help",), "help of a command": ("list", "--help"), "version": ("--version",)}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("words", PAGES.values(), ids=PAGES)
def test_a_page_that_cannot_be_written_is_an_error(desk: Desk, words: tuple[str, ...]) -> None:
    with Path("/dev/full").open("wb") as full:
        process = desk.start(*words, stdout=full, stderr=subprocess.PIPE)
        _, stderr = process.communicate(timeout=TIMEOUT_SECONDS)
    assert (process.returncode, stderr) == (
        7,
        b"resumeproof: error: the system refuses: [Errno 28] No space left on device\n",
    )


@pytest.mark.parametrize("words", PAGES.values(), ids=PAGES)
def test_a_reader_that_has_enough_of_a_page_is_no_error(desk: Desk, words: tuple[str, ...]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    process = desk.start(*words, stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    _, stderr = process.communicate(timeout=TIMEOUT_SECONDS)
    assert (process.returncode, stderr) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_message_that_cannot_be_written_changes_no_exit_status(desk: Desk) -> None:
    with Path("/dev/full").open("wb") as full:
        process = desk.start("list", stdout=subprocess.PIPE, stderr=full)
        stdout, _ = process.communicate(timeout=TIMEOUT_SECONDS)
    assert (process.returncode, json.loads(stdout)["error"]["code"]) == (5, "store_not_found")


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_standard_streams_may_be_closed(worked: Worked, closed: str) -> None:
    desk, workflow_id = worked("approved")
    command = f'"$0" -m resumeproof resume --workflow {workflow_id} {closed}'
    ran = subprocess.run(
        ["sh", "-c", command, sys.executable],
        cwd=desk.path, env=environment(), capture_output=True, timeout=TIMEOUT_SECONDS,
    )  # fmt: skip
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert desk.show(workflow_id)["status"] == "completed"


def test_an_action_from_a_closed_standard_input(desk: Desk) -> None:
    ran = subprocess.run(
        ["sh", "-c", '"$0" -m resumeproof create --action - --format text <&-', sys.executable],
        cwd=desk.path, env=environment(), capture_output=True, timeout=TIMEOUT_SECONDS,
    )  # fmt: skip
    assert (ran.returncode, desk.files()) == (2, {})
    assert ran.stderr == (b"resumeproof: error: action refused: standard input is closed (in -)\n")


def test_each_counter_of_a_journal_is_said_in_words(desk: Desk) -> None:
    desk.done("create", "--action", CHARGE)
    ran = desk.call("health", "--format", "text")
    counters = desk.done("health")["counters"]
    told = [line.split(maxsplit=2) for line in ran.stdout.splitlines()]
    assert [(int(count), name) for count, name, _ in told] == [(0, name) for name in counters], (
        "and each has its words"
    )


# -- help, and what a start costs --------------------------------------------------------------

COMMANDS = (
    "create", "approve", "replace-action", "cancel", "resume", "reconcile", "timeline", "show",
    "list", "effects", "health", "verify", "report", "demo", "conform", "selftest", "shapes",
    "explore",
)  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_a_page_with_an_example(desk: Desk, command: str) -> None:
    ran = desk.call(command, "--help")
    assert (ran.status, ran.stderr) == (0, "")
    assert f"resumeproof {command}" in ran.stdout.partition("Example")[2]


def test_the_help_page_lists_every_command(desk: Desk) -> None:
    listed = desk.run("--help").stdout.partition("Commands:\n")[2]
    assert tuple(line.split()[0] for line in listed.splitlines()) == COMMANDS


HEAVY = ("psutil", "filelock", "rfc8785", "sqlite3", "json", "subprocess", "resumeproof.errors")


@pytest.mark.parametrize(
    ("words", "spared"),
    [
        (["--version"], HEAVY),
        (["--help"], ("psutil", "filelock", "rfc8785", "sqlite3", "subprocess")),
    ],
    ids=["version", "help"],
)
def test_a_start_imports_no_more_than_it_needs(
    desk: Desk, words: list[str], spared: tuple[str, ...]
) -> None:
    ran = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "resumeproof", *words],
        cwd=desk.path, env=environment(), capture_output=True, text=True, timeout=TIMEOUT_SECONDS,
    )  # fmt: skip
    imported = {line.rpartition("|")[2].strip() for line in ran.stderr.splitlines()}
    assert ran.returncode == 0
    assert "click" in imported
    assert imported & set(spared) == set()
