"""What a check, a resume or a program may do to its surroundings, and is judged all the same."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from resumeproof.crash.clearing import clear_away
from resumeproof.crash.syscalls.tree import Tree
from resumeproof.errors import WorkerDied
from resumeproof.proof.commands import command
from resumeproof.proof.commands.command import Ended, Function, Program, Scene
from resumeproof.proof.commands.court import Court
from resumeproof.proof.commands.expectation import Expectation
from resumeproof.proof.commands.judge import Trial

PATIENCE_SECONDS = 30.0


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    scene = Scene(tmp_path / "directory", tmp_path / "printed")
    scene.directory.mkdir()
    scene.printed_file.touch()
    return scene


def called(function: Callable[[Path, str], object], scene: Scene) -> Ended:
    return Function("check", function, ()).run(scene, PATIENCE_SECONDS)


def test_a_function_may_take_its_environment_away(scene: Scene) -> None:
    def forget(directory: Path, printed: str) -> None:
        for name in [name for name in os.environ if name.startswith("RESUMEPROOF_")]:
            del os.environ[name]

    assert called(forget, scene).succeeded


def test_a_failure_of_a_test_framework_is_an_objection(scene: Scene) -> None:
    def fail(directory: Path, printed: str) -> None:
        pytest.fail("the promise is broken")

    ended = called(fail, scene)
    assert (ended.succeeded, ended.how) == (False, "it raised Failed")
    assert "the promise is broken" in ended.reason


def test_a_function_that_cannot_be_stopped_ends_its_worker(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "_GRACE_SECONDS", 0.1)

    def goes_on(directory: Path, printed: str) -> None:
        while True:
            with contextlib.suppress(BaseException):
                signal.pause()

    court = Court(scene.directory.parent, 1)
    court.site().lay_out(Tree(), b"")
    with pytest.raises(WorkerDied):
        court.run(Function("check", goes_on, ()), 0.1)


def removed(directory: Path) -> None:
    shutil.rmtree(directory)


def made_a_file(directory: Path) -> None:
    shutil.rmtree(directory)
    directory.write_text("a file")


def made_a_link(directory: Path) -> None:
    directory.rename(f"{directory}.moved")
    directory.symlink_to(f"{directory}.moved")


@pytest.mark.parametrize(
    "what", [removed, made_a_file, made_a_link], ids=["removed", "a file", "a link"]
)
def test_a_resume_that_takes_its_directory_away_has_diverged(
    what: Callable[[Path], None], scene: Scene
) -> None:
    def resume(directory: Path, printed: str) -> None:
        os.chdir(directory.parent)
        what(directory)

    check = Program(("true",))
    trial = Trial(Function("resume", resume, ()), check, Expectation(), PATIENCE_SECONDS)
    (violation,) = trial.violations(scene)
    assert (violation.kind, violation.detail) == ("resume_diverged", "the directory itself is gone")
    clear_away(scene.directory)
    assert not os.path.lexists(scene.directory)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write to any directory")
def test_what_its_owner_may_not_write_to_goes_all_the_same(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir(0o750)
    left = tmp_path / "left"
    for folder in (left / "read-only", left / "closed" / "below"):
        folder.mkdir(parents=True)
        (folder / "file").touch()
    (left / "closed" / "link").symlink_to(outside)
    (left / "read-only").chmod(0o500)
    (left / "closed" / "below").chmod(0)
    (left / "closed").chmod(0)
    left.chmod(0o500)
    clear_away(left)
    assert not left.exists()
    assert stat.S_IMODE(outside.stat().st_mode) == 0o750
