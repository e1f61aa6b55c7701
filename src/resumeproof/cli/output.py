"""What a command prints: text on a terminal, one JSON document anywhere else.

Results go to standard output, messages and progress to standard error. Text that somebody else
wrote (an action, an actor, a note, a key) reaches a terminal with every character escaped that
could move its cursor, turn its text round or break its line; JSON carries the data unchanged, in
ASCII.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TextIO

from resumeproof.domain.printable import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

FORMATS = ("text", "json")


def _format_named(words: Sequence[str]) -> str | None:
    """The last `--format` on the command line."""
    named = None
    for index, word in enumerate(words):
        if word == "--":
            break
        if word == "--format":
            named = next(iter(words[index + 1 :]), None)
        elif word.startswith("--format="):
            named = word.partition("=")[2]
    return named


class Output:
    """Where one command prints. `json` says that a program is reading."""

    def __init__(self, *, json: bool) -> None:
        self.json = json
        self._reader_gone = False

    @classmethod
    def wanted_by(cls, words: Sequence[str]) -> Output:
        """What the command line's words ask for.

        They are read here before click parses them: what click refuses is reported in the format
        that was asked for, too.
        """
        named = _format_named(words)
        if named in FORMATS:
            return cls(json=named == "json")
        return cls(json=sys.stdout is None or not sys.stdout.isatty())

    def document(self, document: Mapping[str, Any]) -> None:
        """Print the command's one JSON document; nothing where people read."""
        if self.json:
            import json

            self._print(json.dumps(document, indent=2, default=str))

    def lines(self, lines: Iterable[str]) -> None:
        """Print lines for people; nothing where a program reads."""
        if not self.json:
            for line in lines:
                self._print(shown(line))

    def picture(self, lines: Iterable[str]) -> None:
        """Print lines for people that are harmless already, and perhaps in colour."""
        if not self.json:
            for line in lines:
                self._print(line)

    def verdict(self, line: str, *, good: bool) -> None:
        """Print a line for people in the colour of what it says."""
        if not self.json:
            line = shown(line)
            if coloured(sys.stdout):
                import click

                line = click.style(line, fg="green" if good else "red", bold=True)
            self._print(line)

    def finish(self) -> None:
        """Deliver what was printed. Raises `StoreUnavailable` if standard output takes no more."""
        self._deliver(None)

    def _print(self, line: str) -> None:
        self._deliver(line)

    def _deliver(self, line: str | None) -> None:
        if sys.stdout is None or self._reader_gone:
            return
        try:
            if line is not None:
                _tolerant(sys.stdout).write(line + "\n")
            else:
                sys.stdout.flush()
        except BrokenPipeError:
            # The reader had enough (`| head -1`); what the command did is done all the same.
            self._reader_gone = True
            _discard(sys.stdout)
        except OSError as error:
            from resumeproof.errors import StoreUnavailable

            _discard(sys.stdout)
            self._reader_gone = True
            raise StoreUnavailable("output", "stdout", error.strerror or str(error)) from error


def note(text: str) -> None:
    """Say something to people, on standard error."""
    complain(f"resumeproof: {shown(text)}")


def complain(line: str) -> None:
    """Print a line that is safe to print on standard error, and let nothing come of a failure."""
    # print(file=None) would go to stdout, which belongs to the command's document.
    if sys.stderr is not None:
        with suppress(OSError, ValueError):
            print(line, file=_tolerant(sys.stderr), flush=True)


def settle_errors() -> None:
    """Let go of what standard error would not take: the interpreter would exit with 120 for it."""
    if sys.stderr is not None:
        try:
            sys.stderr.flush()
        except (OSError, ValueError):
            _discard(sys.stderr)


def coloured(stream: TextIO | None) -> bool:
    """Whether colour is wanted on a stream. Source: no-color.org."""
    if stream is None or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty()


def _tolerant(stream: TextIO) -> TextIO:
    """The stream, which from now on escapes what its encoding lacks."""
    if stream.errors != "backslashreplace":
        stream.reconfigure(errors="backslashreplace")  # type: ignore[attr-defined]
    return stream


def _discard(stream: TextIO) -> None:
    """Let what is still buffered go nowhere: the interpreter would complain of it at its exit."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
