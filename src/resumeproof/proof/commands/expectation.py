"""What two runs without a crash left: what every resume is held against."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from resumeproof.domain.verdict import FindingKind, Violation
from resumeproof.errors import ResumeproofError
from resumeproof.proof.context import Effect
from resumeproof.proof.image import meanings
from resumeproof.proof.ledgered import LedgeredRemains
from resumeproof.proof.oracle import Place, Seen, judge

_NAMED_AT_MOST: Final = 3


@dataclass(frozen=True, slots=True)
class Expectation:
    """The end that a resume is to come to.

    `files` say what each file means, by its path below the directory; None where files are not
    compared. `effects` are those of the tool ledger, None where there is none to count.
    """

    ignored: Sequence[str] = ()
    files: Mapping[str, str] | None = None
    ledger: str | None = None
    effects: Sequence[Effect] | None = None

    def of_files(self, directory: Path) -> Iterator[Violation]:
        """How the final files differ."""
        if self.files is None:
            return
        found = final_files(directory, self.ignored)
        told = list(_differences(self.files, found, directory))
        if told:
            more = len(told) - _NAMED_AT_MOST
            named = "; ".join(told[:_NAMED_AT_MOST]) + (f"; and {more} more" if more > 0 else "")
            yield Violation(FindingKind.RESUME_DIVERGED, named)

    def of_effects(self, directory: Path) -> Iterator[Violation]:
        """Effects that the tool ledger counts too often, or not often enough."""
        if self.ledger is None or self.effects is None:
            return
        try:
            found = LedgeredRemains(directory, self.ledger).effects
        except ResumeproofError as error:
            yield Violation(FindingKind.EVIDENCE_BROKEN, f"the ledger cannot be read: {error}")
            return
        for finding in judge(Place("", 0), Seen(self.effects), Seen(found)):
            yield Violation(finding.kind, finding.detail)


def final_files(directory: Path, ignored: Sequence[str]) -> dict[str, str]:
    """What each entry below a directory means, but for those that a glob of `ignored` matches."""
    return {
        name: meaning
        for name, meaning in ((key[1:], value) for key, value in meanings(directory).items())
        if not any(fnmatchcase(name, glob) for glob in ignored)
    }


def _differences(
    expected: Mapping[str, str], found: Mapping[str, str], directory: Path
) -> Iterator[str]:
    for name in sorted(expected.keys() | found.keys()):
        if name not in found:
            yield f"{name} is missing"
        elif name not in expected:
            yield f"{name} is there, and was not without a crash"
        elif expected[name] != found[name]:
            path = directory / name
            empty = path.is_file() and not path.stat().st_size
            yield f"{name} is empty" if empty else f"{name} differs from the run without a crash"
