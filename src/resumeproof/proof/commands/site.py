"""Where one worker lays images out and judges them, one after the other, under the same path."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from resumeproof.crash.clearing import clear_away
from resumeproof.crash.syscalls.tree import Tree
from resumeproof.domain.verdict import Violation
from resumeproof.proof.commands.command import DIRECTORY_WORD, Scene
from resumeproof.proof.commands.images import Image
from resumeproof.proof.commands.judge import Trial
from resumeproof.proof.commands.meaning import meaning_digest

DIRECTORY_NAME = "directory"
PRINTED_NAME = "printed"


@dataclass(frozen=True, slots=True)
class Judged:
    """What came of an image; `meaning` is equal where two images say the same."""

    violations: tuple[Violation, ...]
    meaning: str


class Site:
    """A directory of one worker."""

    def __init__(self, base: Path) -> None:
        base.mkdir(parents=True, exist_ok=True)
        self.scene = Scene(base / DIRECTORY_NAME, base / PRINTED_NAME)
        self.origin = base / "origin"
        self.traced = base / "traced"
        self._scratch = base / "scratch"

    def lay_out(self, tree: Tree, printed: bytes) -> Scene:
        """Put a state in place; whatever was left of the one before is gone."""
        self.clear()
        tree.write_to(self.scene.directory)
        self.scene.printed_file.write_bytes(printed)
        return self.scene

    def clear(self) -> None:
        clear_away(self.scene.directory)

    def _neutral(self, violations: Sequence[Violation]) -> Iterator[Violation]:
        """The same whoever's place it was that was judged in."""
        for each in violations:
            detail = each.detail.replace(str(self.scene.directory), DIRECTORY_WORD)
            yield replace(each, detail=detail)

    def judge(self, image: Image, trial: Trial) -> Judged:
        """Resume an image here, and say what comes of it."""
        return self.judged(image, lambda: trial.violations(self.scene))

    def judged(self, image: Image, violations: Callable[[], Sequence[Violation]]) -> Judged:
        """Lay an image out, and say what comes of it; `violations` resumes it."""
        scene = self.lay_out(image.tree, image.printed)
        meaning = meaning_digest(image, scene.directory, self._scratch)
        try:
            return Judged(tuple(self._neutral(violations())), meaning)
        finally:
            self.clear()
