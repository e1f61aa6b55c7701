"""The final files of an agent's directory, held against those of a run without a crash."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from resumeproof.domain.verdict import FindingKind, Violation
from resumeproof.proof.commands.expectation import final_files
from resumeproof.proof.comparison import Wording, shown, shown_apart

_TEXT_BYTES: Final = 1 << 16
_NAMED_AT_MOST: Final = 3
_LOST: Final = frozenset({"is missing", "is empty"})


@dataclass(frozen=True, slots=True)
class Files:
    """What each file means, and what those hold that are short texts, line by line."""

    meanings: Mapping[str, str]
    texts: Mapping[str, Sequence[str]]

    @classmethod
    def of(cls, directory: Path, ignored: Sequence[str], wording: Wording) -> Files:
        """Those below a directory, but for what a glob of `ignored` matches."""
        meanings = final_files(directory, ignored)
        read = {name: _lines(directory / name, wording) for name in meanings}
        return cls(meanings, {name: lines for name, lines in read.items() if lines is not None})

    def differing(self, other: Files) -> frozenset[str]:
        """The names of what differs between two runs."""
        names = self.meanings.keys() | other.meanings.keys()
        return frozenset(
            name for name in names if self.meanings.get(name) != other.meanings.get(name)
        )

    def without(self, names: Set[str]) -> Files:
        """The same, of all other files."""
        meanings = {name: each for name, each in self.meanings.items() if name not in names}
        return replace(self, meanings=meanings)

    def violations(self, found: Files) -> Iterator[Violation]:
        """What is wrong with the files that a resume came to; these are the expected ones."""
        names = sorted(self.differing(found))
        for name in names[:_NAMED_AT_MOST]:
            told = self._told(name, found)
            kind = FindingKind.STATE_LOST if told in _LOST else FindingKind.RESUME_DIVERGED
            yield Violation(kind, f"{name} {told}")
        more = len(names) - _NAMED_AT_MOST
        if more > 0:
            counted = f"{more} more file(s) differ from the run without a crash"
            yield Violation(FindingKind.RESUME_DIVERGED, counted)

    def _told(self, name: str, found: Files) -> str:
        if name not in found.meanings:
            return "is missing"
        if name not in self.meanings:
            return "is there, and was not without a crash"
        expected, lines = self.texts.get(name), found.texts.get(name)
        if lines == [] and expected != []:
            return "is empty"
        if expected is None or lines is None or expected == lines:
            return "differs from the run without a crash"
        return _apart(expected, lines)


def _apart(expected: Sequence[str], found: Sequence[str]) -> str:
    """How two texts differ."""
    if len(expected) == len(found) == 1:
        one, other = shown_apart(found[0], expected[0])
        return f"holds {one}, and {other} without a crash"
    counts, due = Counter(found), Counter(expected)
    for line in [*expected, *found]:
        if counts[line] != due[line]:
            times = f"{counts[line]} time(s), {due[line]} without a crash"
            return f"holds the line {shown(line)} {times}"
    return "holds its lines in another order than without a crash"


def _lines(path: Path, wording: Wording) -> list[str] | None:
    """The lines of a short text; None for anything else."""
    if path.is_symlink() or not path.is_file() or path.stat().st_size > _TEXT_BYTES:
        return None
    try:
        text = path.read_bytes().decode()
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else str(wording.neutral(text)).splitlines()
