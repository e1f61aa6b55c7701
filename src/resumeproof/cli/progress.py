"""How a proof's progress is told: counted in any case, and drawn where somebody looks."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final, TextIO

from resumeproof.domain.verdict import Finding

BAR_WIDTH: Final = 24
DRAWN_EVERY_SECONDS: Final = 0.1


class Tally:
    """Counts what is done, so that whoever is interrupted can say so."""

    def __init__(self) -> None:
        self._expected = 0
        self._done = 0
        self._found: Counter[str] = Counter()

    def start(self, expected: int) -> None:
        """So many scenarios are expected, at least; what was told before does not count.

        0 where that is not known, since no baseline was run yet.
        """
        self._expected = expected
        self._done = 0
        self._found.clear()

    def advance(self, findings: Sequence[Finding]) -> None:
        """One more scenario is done, and this is what it shows."""
        self._done += 1
        self._found.update(str(finding.kind) for finding in findings)

    def say(self, text: str) -> None:
        """Say what is going on, where somebody looks."""

    def clear(self) -> None:
        """Leave nothing on the screen."""

    def told(self) -> str:
        """What was done so far, in one line."""
        if not self._expected:
            return "the baseline was not done"
        kinds = ", ".join(f"{kind} {count}" for kind, count in self._found.items())
        findings = f"{self._found.total()} finding(s)" + (f": {kinds}" if kinds else "")
        return f"{self._done} of {self._total()} scenarios done, {findings}"

    def _total(self) -> int:
        """Deeper plans come from what the resumes do, and are not known at the start."""
        return max(self._expected, self._done)


class Bar(Tally):
    """Draws a bar with the rate and the time that remains. `now` gives seconds."""

    def __init__(self, stream: TextIO, now: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._stream = stream
        self._now = now
        self._started = self._drawn = 0.0
        self._width = 0

    def start(self, expected: int) -> None:
        super().start(expected)
        self._started = self._now()
        if expected:
            self._draw(self._line())

    def advance(self, findings: Sequence[Finding]) -> None:
        super().advance(findings)
        if self._now() - self._drawn >= DRAWN_EVERY_SECONDS:
            self._draw(self._line())

    def say(self, text: str) -> None:
        self._draw(text)

    def clear(self) -> None:
        self._draw("")
        self._put("\r")

    def _line(self) -> str:
        total, seconds = self._total(), self._now() - self._started
        filled = BAR_WIDTH * self._done // total if total else BAR_WIDTH
        rate = self._done / seconds if seconds > 0 else 0.0
        left = f"{_duration((total - self._done) / rate)} left" if rate else "? left"
        found = self._found.total()
        parts = [f"{self._done}/{total}", f"{rate:.0f}/s", left]
        parts += [f"{found} finding(s)"] if found else []
        return f"[{'#' * filled}{'.' * (BAR_WIDTH - filled)}] {'  '.join(parts)}"

    def _draw(self, line: str) -> None:
        self._drawn = self._now()
        # A line that fills the last column would wrap, and then no return leads back.
        line = line[: shutil.get_terminal_size().columns - 1]
        self._put(f"\r{line.ljust(self._width)}")
        self._width = len(line)

    def _put(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):
            return  # Nobody looks any more.


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds + 0.5), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def progress_bar() -> Bar | None:
    """A bar on standard error; None where that is no terminal that can draw one."""
    stream = sys.stderr
    if stream is None or os.environ.get("TERM") == "dumb" or not stream.isatty():
        return None
    return Bar(stream)
