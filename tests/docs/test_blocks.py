"""The runner of documents: what it lets pass, and what it must not."""

from __future__ import annotations

from pathlib import Path

import pytest

from resumeproof import __version__
from tests.docs.blocks import run_python, session_problems, steps


def console(*lines: str) -> str:
    return "\n".join(["```console", *lines, "```", ""])


HOLDS = {
    "output": console("$ resumeproof --version", f"resumeproof, version {__version__}"),
    "wildcard within a line": console("$ resumeproof --version", "resumeproof, version ..."),
    "wildcard over lines": console("$ resumeproof --help", "Usage: resumeproof ...", "..."),
    "no output": console("$ true"),
    "shown exit status": console("$ (exit 3)", "$ echo $?", "3"),
    "a terminal": console("$ test -t 1 && test -t 2"),
    "a variable": console("$ ID=$(echo one)") + "Then:\n\n" + console("$ echo $ID", "one"),
    "a file": console("$ echo one > file") + console("$ cat file", "one"),
    "continued after a backslash": console("$ echo one \\", "    two", "one two"),
    "continued after >": console("$ for n in 1 2; do", ">     echo $n", "> done", "1", "2"),
    "standard error": console("$ echo one >&2", "one"),
    "a line that is drawn over": console("$ printf 'one\\rtwo\\n'", "two"),
    "output without a last newline": console("$ printf one", "one", "$ echo two", "two"),
    "an indented block": "- item\n\n  ```console\n  $ echo one\n  one\n  ```\n",
    "a block for the reader": "```sh\nfalse\n```\n",
}


@pytest.mark.parametrize("document", HOLDS.values(), ids=HOLDS)
def test_a_session_that_holds_has_no_problems(document: str, tmp_path: Path) -> None:
    assert session_problems(document, tmp_path) == []


DOES_NOT_HOLD = {
    "other output": (console("$ echo one", "two"), "line 2: $ echo one: expected:\ntwo\n"),
    "output that is not shown": (console("$ echo one"), "line 2: $ echo one: expected:\n"),
    "output that is not printed": (console("$ true", "one"), "line 2: $ true: expected:\none\n"),
    "a failure": (console("$ true", "$ (exit 3)"), "line 3: $ (exit 3): exit 3"),
    "another exit status": (
        console("$ (exit 3)", "$ echo $?", "4"),
        "line 3: $ echo $?: expected:\n4\nprinted:\n3\n",
    ),
    "a shell that ends": (console("$ exit 0", "$ true"), "line 2: the shell ended here"),
    "a later block": (
        console("$ true") + console("$ echo one", "two"),
        "line 5: $ echo one: expected:\ntwo\n",
    ),
}


@pytest.mark.parametrize(("document", "problem"), DOES_NOT_HOLD.values(), ids=DOES_NOT_HOLD)
def test_a_session_that_does_not_hold_is_named(document: str, problem: str, tmp_path: Path) -> None:
    (found,) = session_problems(document, tmp_path)
    assert found.startswith(problem), found


def test_a_session_without_a_command_is_refused() -> None:
    with pytest.raises(ValueError, match="line 2: a session begins with a command"):
        steps(console("output"))


def test_python_blocks_of_a_document_are_one_program(tmp_path: Path) -> None:
    document = "```python\none = 1\n```\n\nThen:\n\n```python\nprint(one)\n```\n"
    ran = run_python(document, tmp_path)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "1\n", "")


def test_a_failing_python_block_is_named_by_its_line_in_the_document(tmp_path: Path) -> None:
    ran = run_python("# Title\n\n```python\none = 1\nassert one == 2\n```\n", tmp_path)
    assert ran.returncode == 1
    assert 'document.py", line 5, in <module>' in ran.stderr
