"""Run a program twice without a crash: once as it is, and once recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from resumeproof.crash.syscalls.tree import Tree
from resumeproof.errors import SubjectFailed
from resumeproof.proof.commands.command import Command, Ended
from resumeproof.proof.commands.court import Court
from resumeproof.proof.commands.expectation import Expectation, final_files
from resumeproof.proof.commands.judge import Trial
from resumeproof.proof.commands.recorded import Recorded, record_in
from resumeproof.proof.commands.settings import Settings
from resumeproof.proof.commands.site import Site
from resumeproof.proof.context import Effect
from resumeproof.proof.ledgered import LedgeredRemains


@dataclass(frozen=True, slots=True)
class Baseline:
    """Two runs without a crash: the recorded one, and what every resume is to come to.

    `nondeterminism` says how they differed; what did differ is not compared. `resume_fails` says
    how the resume ended after the run without a crash, if it failed there and that does not count.
    """

    recorded: Recorded
    trial: Trial
    nondeterminism: str | None
    resume_fails: str | None


def run_baseline(settings: Settings, start: Tree, court: Court) -> Baseline:
    """Run the program as it is, then recorded, both in the place of the first worker.

    Raises `SubjectFailed` where it fails, or where its own check objects to what it leaves.
    """
    site = court.site()
    scene = site.lay_out(start, b"")
    ended = settings.command.run(scene, settings.timeout_seconds)
    if not ended.succeeded:
        reason = f"{_failure(ended)}{_hint(settings.command, settings.directory)}"
        raise SubjectFailed("its run", reason)
    if not scene.is_there:
        raise SubjectFailed("its run", "it removes the directory that it is run in")
    first = final_files(scene.directory, settings.ignored)

    scene = site.lay_out(start, b"")
    recorded = record_in(
        scene,
        settings.command,
        site.origin,
        timeout_seconds=settings.timeout_seconds,
        domains=settings.domains,
        stack=settings.stack,
    )
    if recorded.recording.returncode != 0:
        raise SubjectFailed("its recorded run", f"exit {recorded.recording.returncode}")
    second = final_files(scene.directory, settings.ignored)
    differing = _differing(first, second)
    trial = Trial(
        settings.resume,
        settings.check,
        Expectation(
            ignored=(*settings.ignored, *differing),
            files={name: second[name] for name in second.keys() - differing}
            if settings.compares
            else None,
            ledger=settings.ledger,
            effects=_effects(settings, site),
        ),
        settings.timeout_seconds,
        leaves_running=ended.orphans > 0,
    )
    _must_hold(trial, recorded, court, settings.directory)
    printed = recorded.printed.decode(errors="replace")
    told = _nondeterminism(differing, ended.printed, printed)
    return Baseline(recorded, trial, told, _resume_fails(settings, trial, court))


def _hint(command: Command, directory: Path | None) -> str:
    """What is wrong where a word names a file that lies where we are, and not where it is run."""
    for word in command.words(Path()):
        path = Path(word)
        missing = directory is None or not (directory / path).exists()
        if not path.is_absolute() and path.is_file() and missing:
            return f" (it is run in a directory of its own: write {path.absolute()})"
    return ""


def _effects(settings: Settings, site: Site) -> Sequence[Effect] | None:
    if settings.ledger is None:
        return None
    return LedgeredRemains(site.scene.directory, settings.ledger).effects


def _must_hold(trial: Trial, recorded: Recorded, court: Court, directory: Path | None) -> None:
    """A check that objects to a run without a crash says nothing about one with a crash."""
    if trial.check is None:
        return
    court.site().scene.printed_file.write_bytes(recorded.printed)
    ended = court.run(trial.check, trial.timeout_seconds)
    if not ended.succeeded:
        raise SubjectFailed("its check", f"{_failure(ended)}{_hint(trial.check, directory)}")


def _resume_fails(settings: Settings, trial: Trial, court: Court) -> str | None:
    """A resume that is another program, and fails wherever it is run, may never have begun.

    Raises `SubjectFailed` where that is for sure.
    """
    if trial.resume is None or trial.resume is settings.command:
        return None
    ended = court.run(trial.resume, trial.timeout_seconds)
    if ended.succeeded:
        return None
    hint = _hint(trial.resume, court.site().scene.directory)
    if hint:
        raise SubjectFailed("its resume", f"{_failure(ended)}{hint}")
    return None if trial.check is None else _failure(ended)


def _failure(ended: Ended) -> str:
    said = f": {ended.reason}" if ended.reason else ""
    return f"{ended.how}{said}"


def _differing(first: Mapping[str, str], second: Mapping[str, str]) -> frozenset[str]:
    names = first.keys() | second.keys()
    return frozenset(name for name in names if first.get(name) != second.get(name))


def _nondeterminism(differing: frozenset[str], first: str, second: str) -> str | None:
    told = []
    if differing:
        told.append(f"what they left: {', '.join(sorted(differing))}")
    if first != second:
        told.append("what they printed")
    return "; ".join(told) or None
