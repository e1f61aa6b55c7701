"""Resume and judge states while somebody looks on, and tells what was seen of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import replace
from typing import Self

from resumeproof.crash.channel import LifeChannel
from resumeproof.crash.forked import LifeHost
from resumeproof.crash.syscalls.attached import LifeObserver
from resumeproof.crash.syscalls.observation import Observation
from resumeproof.domain.verdict import Violation
from resumeproof.errors import WorkerDied
from resumeproof.proof.commands.court import Court
from resumeproof.proof.commands.images import Image
from resumeproof.proof.commands.judge import Trial
from resumeproof.proof.commands.recorded import RECORDING_PATIENCE
from resumeproof.proof.commands.site import Judged, Site
from resumeproof.proof.crew import Report
from resumeproof.proof.dealing import deal

Watched = tuple[Judged, Observation]
"""What came of a state, and what resume and check saw of it."""


def watch(
    court: Court,
    images: Sequence[Image],
    trial: Trial,
    varied: Set[int],
    done: Callable[[Image, Watched], None],
) -> list[Watched]:
    """Judge images side by side. `varied` are the files of which it matters what was seen.

    Raises `TracingForbidden`, and `WorkerDied` where a function that was called took its process
    with it.
    """

    def watcher_of(number: int, report: Report) -> Watcher:
        return Watcher(court.site(number), trial, varied, report.descriptor, images[number])

    return deal(images, court.jobs, watcher_of, Watcher.judge, done)


class Watcher:
    """One worker. Each state is tried in a life of its own, which is traced from its beginning.

    `first` is an image that is tried here once: what functions load when they are called first is
    loaded then, and not again in each life.
    """

    def __init__(
        self, site: Site, trial: Trial, varied: Set[int], private: int, first: Image
    ) -> None:
        self._site = site
        site.judge(first, trial)
        self._trial = replace(trial, timeout_seconds=trial.timeout_seconds * RECORDING_PATIENCE)
        # Resume and check have time limits of their own: this is for what holds those up.
        self._limit_seconds = 3 * self._trial.timeout_seconds
        self._varied = varied
        self._host = LifeHost(self._life, (private,))

    def __enter__(self) -> Self:
        self._host.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._host.__exit__(*error)

    def _life(self, order: object) -> Callable[[LifeChannel], object]:
        def live(channel: LifeChannel) -> tuple[Violation, ...]:
            channel.await_tracer()
            return tuple(self._trial.violations(self._site.scene))

        return live

    def judge(self, image: Image) -> Watched:
        """Resume an image, and say what comes of it and what was seen."""
        seen: list[Observation] = []

        def violations() -> Sequence[Violation]:
            scene = self._site.scene
            with LifeObserver(
                scene.directory, image.tree, self._varied, self._site.traced
            ) as observer:
                life = self._host.run(
                    None, timeout_seconds=self._limit_seconds, attach=observer.attach
                )
                if not life.ended:
                    raise WorkerDied(life.exit.text)
                seen.append(observer.observation())
            violations: Sequence[Violation] = life.outcome
            return violations

        judged = self._site.judged(image, violations)
        return judged, seen[0]
