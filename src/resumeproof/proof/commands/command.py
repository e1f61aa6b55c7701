"""What is run in a directory: a program of its own, or a Python function called in this process."""

from __future__ import annotations

import contextlib
import faulthandler
import io
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Final, NoReturn, Protocol

from resumeproof.crash.process import ChildExit, Life, run_life

DIRECTORY_WORD: Final = "{dir}"
DIRECTORY_VARIABLE: Final = "RESUMEPROOF_DIRECTORY"
OUTPUT_VARIABLE: Final = "RESUMEPROOF_OUTPUT"
_REASON_LENGTH_MAX: Final = 500
_GRACE_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True)
class Scene:
    """Where something is run: its working directory, and a file of what CMD had printed by then."""

    directory: Path
    printed_file: Path

    def environment(self) -> dict[str, str]:
        """What tells a program of both."""
        return {
            DIRECTORY_VARIABLE: str(self.directory),
            OUTPUT_VARIABLE: str(self.printed_file),
        }

    @property
    def is_there(self) -> bool:
        """Whether what was run has left a directory in the directory's place."""
        return self.directory.is_dir() and not self.directory.is_symlink()


@dataclass(frozen=True, slots=True)
class Ended:
    """How something that was run ended.

    `succeeded`: exit 0, or a function that returned without an objection. `died`: by a signal.
    `reason` is what it said, in one line; `printed` its standard output.
    """

    succeeded: bool
    how: str
    reason: str
    printed: str = ""
    died: bool = False
    hung: bool = False
    orphans: int = 0


class Command(Protocol):
    """Something that can be run in a scene, again and again."""

    @property
    def text(self) -> str:
        """As it was given, for people."""
        ...

    def run(self, scene: Scene, timeout_seconds: float) -> Ended:
        """Run it there to its end, and clear up after it."""
        ...

    def words(self, directory: Path) -> list[str]:
        """A command line that does the same in a process of its own."""
        ...


@dataclass(frozen=True, slots=True)
class Program:
    """A command line; `{dir}` in its words stands for the directory's path."""

    given: tuple[str, ...]

    @property
    def text(self) -> str:
        import shlex

        return shlex.join(self.given)

    def words(self, directory: Path) -> list[str]:
        return [word.replace(DIRECTORY_WORD, str(directory)) for word in self.given]

    def run(self, scene: Scene, timeout_seconds: float) -> Ended:
        life = run_life(
            self.words(scene.directory),
            timeout_seconds=timeout_seconds,
            env=os.environ | scene.environment(),
            cwd=scene.directory,
        )
        return ended_life(life)


def ended_life(life: Life) -> Ended:
    """What a life of a program came to."""
    return Ended(
        succeeded=not life.timed_out and life.exit == ChildExit.of(0),
        how="it did not end in time" if life.timed_out else life.exit.text,
        reason=_reason(life.stdout, life.stderr),
        printed=life.stdout,
        died=life.exit.kind == "signal" and not life.timed_out,
        hung=life.timed_out,
        orphans=len(life.orphans),
    )


@dataclass(frozen=True, slots=True)
class Function:
    """A Python function, called here with the directory and with what CMD had printed by then.

    It objects by raising (an `AssertionError`, say), by returning a text that says why, or False.
    `alone` is a command line that calls it in a process of its own.
    """

    text: str
    function: Callable[[Path, str], object]
    alone: tuple[str, ...]

    def words(self, directory: Path) -> list[str]:
        return list(self.alone)

    def run(self, scene: Scene, timeout_seconds: float) -> Ended:
        try:
            with _within(timeout_seconds):
                return self.here(scene)
        except _OutOfTime:
            return Ended(False, "it did not end in time", "", hung=True)

    def here(self, scene: Scene) -> Ended:
        """Call it, however long that takes."""
        printed = scene.printed_file.read_text(encoding="utf-8", errors="replace")
        output = _Printed()
        with (
            _surroundings(scene.environment()),
            contextlib.chdir(scene.directory),
            contextlib.redirect_stdout(output),
        ):
            try:
                returned = self.function(scene.directory, printed)
            except SystemExit as left:
                return _left(left, output.text())
            except (KeyboardInterrupt, _OutOfTime):
                raise
            except BaseException as error:
                # Of such are the failures of test frameworks as well.
                return _raised(error, output.text())
        objection = returned if isinstance(returned, str) else ""
        succeeded = not objection and returned is not False
        reason = _reason(objection or output.text(), "")
        return Ended(succeeded, "it returned", reason, output.text())


def _left(left: SystemExit, printed: str) -> Ended:
    """What `sys.exit` means: a text goes to standard error, and the status is 1 then."""
    said = left.code if isinstance(left.code, str) else ""
    status = 1 if said else left.code or 0
    return Ended(status == 0, f"exit {status}", _reason(said or printed, ""), printed)


def _raised(error: BaseException, printed: str) -> Ended:
    told = f"{type(error).__name__}: {error}".rstrip(": ")
    if isinstance(error, AssertionError) and str(error):
        told = str(error)
    return Ended(False, f"it raised {type(error).__name__}", _reason(told, ""), printed)


class _Printed(io.TextIOWrapper):
    """What a function prints: a stream with bytes below, as standard output is."""

    def __init__(self) -> None:
        super().__init__(
            io.BytesIO(),
            encoding="utf-8",
            errors="backslashreplace",
            newline="",
            write_through=True,
        )

    def text(self) -> str:
        self.seek(0)
        return self.read()


class _OutOfTime(BaseException):
    """Not an `Exception`: no function that is called may take it for one of its own."""


@contextlib.contextmanager
def _within(seconds: float) -> Iterator[None]:
    """Raise `_OutOfTime` in the main thread when the time is up; no other thread can be reached.

    A function may catch that, or never come back to Python: soon after, the process ends.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(number: int, frame: FrameType | None) -> NoReturn:
        raise _OutOfTime

    handler = signal.signal(signal.SIGALRM, ring)
    with open(os.devnull, "wb") as nowhere:
        faulthandler.dump_traceback_later(seconds + _GRACE_SECONDS, exit=True, file=nowhere)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            faulthandler.cancel_dump_traceback_later()
            signal.signal(signal.SIGALRM, handler)


@contextlib.contextmanager
def _surroundings(variables: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _reason(stdout: str, stderr: str) -> str:
    """One line of what something said: what it printed, else the last line of its errors.

    A Python traceback says last what it is about.
    """
    said = _lines(stdout) or _lines(stderr)[-1:]
    text = "; ".join(said)
    return text if len(text) <= _REASON_LENGTH_MAX else f"{text[: _REASON_LENGTH_MAX - 1]}…"


def _lines(text: str) -> Sequence[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]
