"""Run what a document shows: its Python blocks, and its console sessions.

A ```python block is run as one program with the other Python blocks of its document. A ```console
block is a session at a terminal: each line after `$ ` is a command (continued after a `\\`, or on
lines after `> `), what follows is its output, in which `...` stands for anything. The sessions of
a document are one session, in one shell, so that variables and files live on. A command must
succeed, unless the next one is `echo $?`. A ```sh block is for the reader, and is not run.
"""

from __future__ import annotations

import doctest
import os
import pty
import re
import subprocess
import sys
import termios
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FENCED = re.compile(
    r"^(?P<indent> *)```(?P<language>\w+)\n(?P<text>.*?)^(?P=indent)```$", re.M | re.S
)
SHOWS_EXIT_STATUS = "echo $?"
END_OF_COMMAND = "-- end of command, exit"
ENDED = re.compile(rf"\n{END_OF_COMMAND} (\d+)\n")


@dataclass(frozen=True)
class Block:
    """A fenced block; `line` is the number of its first line in the document."""

    line: int
    text: str


@dataclass(frozen=True)
class Step:
    """One command of a session, with the output that the document shows."""

    line: int
    command: str
    expected: str


def blocks(document: str, language: str) -> Iterator[Block]:
    for match in FENCED.finditer(document):
        if match["language"] == language:
            line = document.count("\n", 0, match.start("text")) + 1
            yield Block(line, textwrap.dedent(match["text"]))


def run_python(document: str, directory: Path) -> subprocess.CompletedProcess[str]:
    """Run a document's Python blocks; a traceback's line numbers are the document's."""
    program = ""
    for block in blocks(document, "python"):
        program += "\n" * (block.line - 1 - program.count("\n")) + block.text
    path = directory / "document.py"
    path.write_text(program, encoding="utf-8")
    return subprocess.run(
        [sys.executable, path], cwd=directory, capture_output=True, text=True, timeout=100
    )


def steps(document: str) -> list[Step]:
    """The steps of all sessions of a document, in order."""
    found: list[Step] = []
    for block in blocks(document, "console"):
        continues = False
        for line, text in enumerate(block.text.splitlines(), block.line):
            last = found[-1] if found else Step(line, "", "")
            if text.startswith("$ "):
                found.append(Step(line, text[2:], ""))
            elif line == block.line:
                raise ValueError(f"line {line}: a session begins with a command after `$ `")
            elif continues or (text.startswith("> ") and not last.expected):
                found[-1] = Step(last.line, f"{last.command}\n{text.removeprefix('> ')}", "")
            else:
                found[-1] = Step(last.line, last.command, f"{last.expected}{text}\n")
            continues = found[-1].command.endswith("\\") and not found[-1].expected
    return found


def run_at_terminal(script: str, directory: Path) -> str:
    """Run a shell script whose output goes to a terminal of 100 columns; return what it shows."""
    near = Path(sys.executable).parent
    environment = {
        **os.environ,
        "COLUMNS": "100",  # in the environment of a worker of xdist it is 80
        "HOME": str(directory),
        "LC_ALL": "C.UTF-8",
        "NO_COLOR": "1",
        "PATH": f"{near}{os.pathsep}{os.environ['PATH']}",
        "TERM": "xterm",
    }
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "rb") as screen, os.fdopen(theirs, "wb") as terminal:
        termios.tcsetwinsize(terminal, (50, 100))
        with subprocess.Popen(
            ["sh", "-c", script],
            cwd=directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=terminal,
            stderr=terminal,
        ) as shell:
            terminal.close()
            try:
                shown = b"".join(read_until_hung_up(screen.fileno()))
            finally:
                shell.kill()
    # What a return leads back over is drawn over: progress is not there any more at the end.
    return re.sub(r"[^\n]*\r", "", shown.decode().replace("\r\n", "\n"))


def read_until_hung_up(terminal: int) -> Iterator[bytes]:
    while True:
        try:
            read = os.read(terminal, 65_536)
        except OSError:  # EIO: Linux has no end of file here, the last process has let go
            return
        if not read:
            return
        yield read


def session_problems(document: str, directory: Path) -> list[str]:
    """Run a document's sessions in `directory`, and say where it shows what is not so."""
    session = steps(document)
    script = "".join(
        f"{step.command}\n"
        f"ended_with=$?; printf '\\n{END_OF_COMMAND} %s\\n' $ended_with; (exit $ended_with)\n"
        for step in session
    )
    shown = ENDED.split(run_at_terminal(script, directory))
    following = [step.command for step in session[1:]] + [""]
    problems = []
    for step, after, got, status in zip(session, following, shown[0::2], shown[1::2], strict=False):
        where = f"line {step.line}: $ {step.command}"
        if status != "0" and after != SHOWS_EXIT_STATUS:
            problems.append(f"{where}: exit {status}, printed:\n{got}")
        elif not same(step.expected, got):
            problems.append(f"{where}: expected:\n{step.expected}printed:\n{got}")
    if len(shown) // 2 < len(session):
        problems.append(f"line {session[len(shown) // 2].line}: the shell ended here")
    return problems


def same(expected: str, got: str) -> bool:
    """Whether output is as expected; `...` stands for anything, white space ends no line."""
    expected, got = (
        "".join(f"{line.rstrip()}\n" for line in text.strip().splitlines())
        for text in (expected, got)
    )
    return doctest.OutputChecker().check_output(expected, got, doctest.ELLIPSIS)
