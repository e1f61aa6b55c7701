"""Prove every subject of the catalogue, and see whether the proof tells the broken ones.

Each is proved by processes that really die, and once more inline, where a death is only played:
beside each other, the two show what only a real death reveals.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from resumeproof.crash.channel import LifeChannel
from resumeproof.crash.forked import LifeHost
from resumeproof.crash.kill import Kill
from resumeproof.crash.plan import Boundary
from resumeproof.domain.conformance import AT_CALLS, AT_EFFECTS, ConformanceReport
from resumeproof.errors import ResumeproofError, StraceMissing, TracingForbidden
from resumeproof.lab.catalogue.entry import Entry, reasons_of
from resumeproof.lab.living import LivingLab
from resumeproof.proof.agent import AgentSubject
from resumeproof.proof.calls.proving import prove_calls
from resumeproof.proof.context import EFFECT_AFTER
from resumeproof.proof.crew import Crew, Report
from resumeproof.proof.explore import prove
from resumeproof.proof.inline import prove_inline
from resumeproof.proof.progress import Progress, Silence
from resumeproof.proof.share import Settings

DOES_NOT_END = "it does not end"


@dataclass(frozen=True)
class Found:
    """The reasons that one isolation found; `failed` says why it did not come to a verdict."""

    reasons: tuple[str, ...] = ()
    failed: str | None = None


@dataclass(frozen=True)
class Trial:
    """One subject on trial. `inline` is None for what is no agent: its death cannot be played.

    `told`: under process isolation exactly what must be found was found, where it must be.
    `at_effects` is what dying at its effects alone finds of a subject that dies at its calls.
    `untried`: this system does not let it be recorded.
    """

    entry: Entry
    process: Found
    inline: Found | None
    told: bool
    at_effects: Found | None = None
    untried: bool = False

    @property
    def told_inline(self) -> bool:
        """Whether the played death finds the reason, or passes what is correct."""
        if self.inline is None or self.inline.failed:
            return False
        if self.entry.expects is None:
            return not self.inline.reasons
        return self.entry.expects in self.inline.reasons

    @property
    def process_said(self) -> str:
        """What process isolation made of it, in words."""
        if self.untried:
            return "not tried"
        if self.told and self.at_effects is not None and self.entry.expects is not None:
            return "found at its calls, missed at its effects"
        if self.told:
            return "passes" if self.entry.expects is None else "found"
        return f"NOT SO: {_outcome(self.process) or 'passes'}"

    @property
    def inline_said(self) -> str:
        """What inline isolation made of it, in words."""
        if self.inline is None:
            return "cannot be played"
        if self.told_inline:
            return "passes" if self.entry.expects is None else "found"
        if self.entry.expects is None:
            return f"condemned: {_outcome(self.inline)}"
        if self.inline.failed:
            return self.inline.failed
        other = _outcome(self.inline)
        return f"found as {other}" if other else "missed"


def _outcome(found: Found) -> str:
    return found.failed or ", ".join(found.reasons)


@dataclass(frozen=True)
class Rates:
    """How many of so many: broken subjects told by their reason, correct ones condemned."""

    broken: int
    told: int
    correct: int
    condemned: int

    def __str__(self) -> str:
        return (
            f"{self.told} of {self.broken} broken subjects found for their own reason, "
            f"{self.condemned} of {self.correct} correct ones condemned"
        )


def rates(trials: Sequence[Trial]) -> Rates:
    """What process isolation came to."""
    return _rates([(trial.entry, trial.told) for trial in trials if not trial.untried])


def inline_rates(trials: Sequence[Trial]) -> Rates:
    """What inline isolation came to, among those that it can be tried on."""
    tried = [trial for trial in trials if trial.inline is not None]
    return _rates([(trial.entry, trial.told_inline) for trial in tried])


def _rates(told: Sequence[tuple[Entry, bool]]) -> Rates:
    broken = [good for entry, good in told if entry.expects is not None]
    correct = [good for entry, good in told if entry.expects is None]
    return Rates(len(broken), broken.count(True), len(correct), correct.count(False))


@dataclass(frozen=True)
class OwnDriver:
    """How many proofs the lab's own driver, as it is, went through, and how many it passed."""

    proofs: int
    passed: int

    def __str__(self) -> str:
        return (
            "the lab's own driver goes through the same proof at all six boundaries, killed twice: "
            f"it passes under {self.passed} of {self.proofs} tool contracts"
        )


def own_driver(trials: Sequence[Trial]) -> OwnDriver | None:
    """What came of the lab's own driver where it is killed twice; None where it was not tried."""
    told = [trial.told for trial in trials if _is_own_driver(trial.entry)]
    return OwnDriver(len(told), told.count(True)) if told else None


def _is_own_driver(entry: Entry) -> bool:
    six_twice = set(entry.boundaries) == set(Boundary) and entry.depth == 2
    return isinstance(entry.subject, LivingLab) and entry.expects is None and six_twice


def try_all(
    entries: Sequence[Entry], *, jobs: int | None = None, progress: Progress
) -> Iterator[Trial]:
    """Try the subjects one after the other."""
    progress.start(len(entries))
    for entry in entries:
        yield try_entry(entry, jobs=jobs)
        progress.advance(())


def try_entry(entry: Entry, *, jobs: int | None = None) -> Trial:
    """Prove one subject under both isolations."""
    inline = None
    if isinstance(entry.subject, AgentSubject):
        inline = _played(entry.subject, _settings(entry))
    try:
        report = prove_entry(entry, jobs=jobs)
        effects = _at_effects(entry, jobs)
    except (StraceMissing, TracingForbidden) as error:
        return Trial(entry, Found(failed=str(error)), inline, told=False, untried=True)
    except ResumeproofError as error:
        return Trial(entry, Found(failed=str(error)), inline, told=False)
    told = entry.is_met_by(report) and effects in (None, Found())
    return Trial(entry, _found(report), inline, told, effects)


def _at_effects(entry: Entry, jobs: int | None) -> Found | None:
    """What dying at its effects alone finds of a subject that dies at its calls."""
    if entry.at != AT_CALLS:
        return None
    return _found(prove_entry(replace(entry, at=AT_EFFECTS), jobs=jobs))


def prove_entry(entry: Entry, *, jobs: int | None = None) -> ConformanceReport:
    """Prove one subject by processes that really die, as its entry says."""
    if entry.at == AT_CALLS:
        assert isinstance(entry.subject, AgentSubject), "only an agent dies at its calls"
        return prove_calls(entry.subject, _settings(entry), jobs=jobs, progress=Silence())
    return prove(entry.subject, _settings(entry), jobs=jobs, progress=Silence())


def _settings(entry: Entry) -> Settings:
    return Settings(
        run_id="run",
        kill=Kill.SIGKILL,
        boundaries=entry.boundaries,
        depth=entry.depth,
        timeout_seconds=entry.timeout_seconds,
        dedupe=True,
    )


def _found(report: ConformanceReport) -> Found:
    failed = f"invalid: {report.invalid[0]}" if report.invalid else None
    return Found(tuple(sorted(reasons_of(report))), failed)


def _played(subject: AgentSubject, settings: Settings) -> Found:
    """Prove inline, in a process of its own: what the subject does there stays there."""

    # Of a process that is killed in the middle only another one can clear away what it left.
    with tempfile.TemporaryDirectory(prefix="resumeproof-") as place:
        return _played_in(Path(place), subject, settings)


def _played_in(place: Path, subject: AgentSubject, settings: Settings) -> Found:
    def body(channel: LifeChannel) -> Found:
        try:
            inline = replace(settings, boundaries=(EFFECT_AFTER,))
            return _found(prove_inline(subject, inline, directory=place, progress=Silence()))
        except ResumeproofError as error:
            return Found(failed=str(error))

    def task(report: Report) -> object:
        with LifeHost(lambda order: body, private=[report.descriptor]) as host:
            return host.run(None, timeout_seconds=settings.timeout_seconds)

    (message,) = Crew().run([task])
    life = message.content
    if life.timed_out:
        return Found(failed=DOES_NOT_END)
    return life.outcome if life.ended else Found(failed=f"ended with {life.exit.text}")
