"""What is run in a directory: how a program and a called function object."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from resumeproof.proof.commands.command import Ended, Function, Program, Scene

TIMEOUT_SECONDS = 30.0


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    (tmp_path / "directory").mkdir()
    (tmp_path / "printed").write_text("saved 1\n")
    return Scene(tmp_path / "directory", tmp_path / "printed")


def called(function: Callable[[Path, str], object], scene: Scene, seconds: float = 30.0) -> Ended:
    return Function("file.py:function", function, ()).run(scene, seconds)


def raises(error: BaseException) -> Callable[[Path, str], object]:
    def function(directory: Path, printed: str) -> object:
        raise error

    return function


@pytest.mark.parametrize("returned", [None, True, "", 0], ids=repr)
def test_a_function_that_returns_without_a_word_agrees(scene: Scene, returned: object) -> None:
    ended = called(lambda directory, printed: returned, scene)
    assert (ended.succeeded, ended.reason) == (True, "")


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda directory, printed: "gone", "gone"),
        (lambda directory, printed: False, ""),
        (raises(AssertionError("gone")), "gone"),
        (raises(ValueError("gone")), "ValueError: gone"),
        (raises(SystemExit("gone")), "gone"),
        (raises(SystemExit(3)), ""),
    ],
    ids=["a text", "False", "assert", "another error", "exit with a text", "exit 3"],
)
def test_a_function_objects(
    scene: Scene, function: Callable[[Path, str], object], reason: str
) -> None:
    ended = called(function, scene)
    assert (ended.succeeded, ended.reason, ended.hung) == (False, reason, False)


def test_a_function_knows_where_it_is_and_what_was_printed(scene: Scene) -> None:
    def look(directory: Path, printed: str) -> str:
        return f"{directory == Path.cwd() == Path(os.environ['RESUMEPROOF_DIRECTORY'])} {printed}"

    before = Path.cwd(), dict(os.environ)
    assert called(look, scene).reason == "True saved 1"
    assert (Path.cwd(), dict(os.environ)) == before


def test_a_function_that_does_not_end_is_stopped(scene: Scene) -> None:
    ended = called(lambda directory, printed: time.sleep(600), scene, 0.05)
    assert (ended.succeeded, ended.hung) == (False, True)


def test_what_a_function_prints_is_its_reason(scene: Scene) -> None:
    def look(directory: Path, printed: str) -> bool:
        print("first")
        sys.stdout.buffer.write(b"second\n")
        return False

    assert called(look, scene).reason == "first; second"


def test_a_program_is_told_by_its_words_and_by_its_environment(scene: Scene) -> None:
    code = "import os, sys; d = os.environ['RESUMEPROOF_DIRECTORY']; "
    code += "print(sys.argv[1] == d + '/x', os.getcwd() == d); "
    code += "print(open(os.environ['RESUMEPROOF_OUTPUT']).read())"
    ended = Program((sys.executable, "-c", code, "{dir}/x")).run(scene, TIMEOUT_SECONDS)
    assert (ended.succeeded, ended.printed.split()) == (True, ["True", "True", "saved", "1"])


@pytest.mark.parametrize(
    ("code", "how", "reason"),
    [
        ("raise SystemExit(3)", "exit 3", ""),
        ("assert False, 'gone'", "exit 1", "AssertionError: gone"),
        ("print('gone'); raise SystemExit(1)", "exit 1", "gone"),
    ],
    ids=["exit 3", "a traceback", "a printed reason"],
)
def test_a_program_objects(scene: Scene, code: str, how: str, reason: str) -> None:
    ended = Program((sys.executable, "-c", code)).run(scene, TIMEOUT_SECONDS)
    assert (ended.succeeded, ended.how, ended.reason) == (False, how, reason)
