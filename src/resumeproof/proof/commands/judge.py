"""Resume what a crash left, and judge what comes of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from resumeproof.domain.verdict import FindingKind, Violation
from resumeproof.proof.commands.command import Command, Ended, Scene
from resumeproof.proof.commands.expectation import Expectation


@dataclass(frozen=True, slots=True)
class Trial:
    """How a state is tried: resumed by `resume`, None to take it as it lies, and asked by `check`.

    With a check, what it says counts, and not the exit status of the resume. `leaves_running`: the
    program itself leaves processes behind, so that no resume is blamed for it.
    """

    resume: Command | None
    check: Command | None
    expectation: Expectation
    timeout_seconds: float
    leaves_running: bool = False

    def violations(self, scene: Scene) -> list[Violation]:
        """What is wrong after the resume in this scene, which is changed by it."""
        return list(self._tried(scene))

    def _tried(self, scene: Scene) -> Iterator[Violation]:
        if self.resume is not None:
            ended = self.resume.run(scene, self.timeout_seconds)
            if not self.leaves_running:
                yield from _left_behind(ended)
            if ended.hung:
                yield Violation(FindingKind.RESUME_HUNG, "the resume did not end in time")
                return
            if not ended.succeeded and (ended.died or self.check is None):
                yield Violation(FindingKind.RESUME_CRASHED, told("the resume", ended))
                return
        if not scene.is_there:
            yield Violation(FindingKind.RESUME_DIVERGED, "the directory itself is gone")
            return
        yield from self.expectation.of_files(scene.directory)
        yield from self.expectation.of_effects(scene.directory)
        yield from self._asked(scene)

    def _asked(self, scene: Scene) -> Iterator[Violation]:
        if self.check is None:
            return
        ended = self.check.run(scene, self.timeout_seconds)
        if ended.hung:
            yield Violation(FindingKind.PROMISE_BROKEN, "the check did not end in time")
        elif not ended.succeeded:
            yield Violation(FindingKind.PROMISE_BROKEN, ended.reason or told("the check", ended))


def told(who: str, ended: Ended) -> str:
    """How something ended that was run, with what it said."""
    said = f": {ended.reason}" if ended.reason else ""
    return f"{who} ended with {ended.how}{said}"


def _left_behind(ended: Ended) -> Iterator[Violation]:
    if ended.orphans:
        counted = f"{ended.orphans} process(es) outlived the resume"
        yield Violation(FindingKind.ORPHAN_PROCESS, counted)
