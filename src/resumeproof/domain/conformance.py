"""What a proof comes to: its findings, and the certificate that says what they rest on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, field
from enum import StrEnum
from typing import Any

from resumeproof.domain.contract import ToolContract
from resumeproof.domain.course import Course, Undisturbed
from resumeproof.domain.verdict import Finding


class Verdict(StrEnum):
    """What one scenario came to."""

    PASSED = "passed"
    FAILED = "failed"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True)
class Scenario:
    """One scenario that was carried out: its crash plan, and the run id that its lives were given.

    `invalid` says why it proves nothing; None where every kill happened as planned. `kill` is its
    death where the terms do not say it, `note` what else made it, such as what a disk kept.
    `course` is None where nobody looked.
    """

    plan: str
    run_id: str
    invalid: str | None = None
    kill: str | None = None
    note: str | None = None
    course: Course | None = None


@dataclass(frozen=True, slots=True)
class Exploration:
    """What was asked of a program that nobody changed, and the two answers.

    `kill_safe` and `power_safe` are None where that was not asked. `device_model` says in words
    what a power cut may lose, `domains` which directories lose power on their own, `not_covered`
    what the program did that no recording shows.
    """

    command: str
    resume: str
    check: str | None = None
    kill_safe: bool | None = None
    power_safe: bool | None = None
    device_model: str | None = None
    domains: tuple[str, ...] = ()
    not_covered: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Certificate:
    """How much was really done; the first four figures are equal, or the run is invalid.

    `byte_images` counts the distinct directories that the deaths left, `states` how many of them
    mean something different, `resumed` how many were resumed, since equal images are resumed once.
    """

    enumerated: int = 0
    fired: int = 0
    verified: int = 0
    judged: int = 0
    byte_images: int = 0
    states: int = 0
    resumed: int = 0

    @property
    def adds_up(self) -> bool:
        return self.enumerated == self.fired == self.verified == self.judged

    @property
    def of_rebuilt(self) -> str:
        """What it says where the deaths were states that were rebuilt from a recording."""
        return (
            f"{self.enumerated} states rebuilt as crash points, {self.verified} verified, "
            f"{self.judged} judged; "
            f"{self.byte_images} images, {self.states} states, {self.resumed} resumed"
        )

    def __str__(self) -> str:
        return (
            f"{self.enumerated} crash points enumerated, {self.fired} kills fired, "
            f"{self.verified} verified, {self.judged} scenarios judged; "
            f"{self.byte_images} images, {self.states} states, {self.resumed} resumed"
        )


@dataclass(frozen=True, slots=True)
class Ambiguity:
    """How a subject dealt with what it could not know, where it says so at all.

    `missed`: recorded as known what nobody could know, of `ambiguous` crash points. `needless`:
    asked a human although the contract could have settled it, of `reported` doubts.
    """

    ambiguous: int = 0
    missed: int = 0
    reported: int = 0
    needless: int = 0

    def __str__(self) -> str:
        return (
            f"missed ambiguity {self.missed} of {self.ambiguous}, "
            f"needless escalation {self.needless} of {self.reported}"
        )


@dataclass(frozen=True, slots=True)
class ProofTerms:
    """What was proved, and how: what a report does not say of itself.

    `subject` is a name for people, `module:factory` where there is one. `when` holds "before",
    "after" or both, `plan` the text of the one plan that was carried out, None where all were.
    `mode` is what a life bears at a crash point where that is no death; None where it dies there.
    `at` says whether lives die at their "effects" or at all their durable system "calls", `ignored`
    which final files were not compared then.
    """

    subject: str
    inputs: Sequence[Any]
    contract: ToolContract
    run_id: str = "run"
    isolation: str = "process"
    kill: str = "sigkill"
    when: Sequence[str] = ("before", "after")
    depth: int = 1
    timeout_seconds: float = 30.0
    dedupe: bool = True
    plan: str | None = None
    mode: str | None = None
    at: str = "effects"
    ignored: Sequence[str] = ()


AT_EFFECTS = "effects"
AT_CALLS = "calls"
"""Where lives die: at what they do to others, or at each durable system call."""

DURABLE_CALL = "durable call"
"""What crash points are at that are rebuilt from a recording."""

PLAN_PLACE = "{plan}"


def with_plan(replay: str, plan: str) -> str:
    """A proof's `replay` with a plan in its place, or behind it."""
    if PLAN_PLACE in replay:
        return replay.replace(PLAN_PLACE, plan)
    return f"{replay} --plan '{plan}'"


@dataclass
class ConformanceReport:
    """The report of one proof. `crash_points` counts the effects of the baseline, or what else it
    is that the subject `crashes_at`.

    `scenarios` are in the order of the findings. `invalid` says of each that proves nothing why: a
    kill that did not happen as planned.
    `nondeterminism` tells how two runs without a crash differed, and then no verdict is certain.
    `scored` is None where the subject never reports a doubt, or there can be none.
    `shared_prefixes`: a life was run once up to a boundary, and not once for each death there;
    where that would have shown something else, `unshareable` says why.
    `absorbed` counts the calls that were answered with the receipt of an earlier one, where the
    subject's tool tells.
    `terms` are those it was proved on; None in a report that nobody asked `conform()` for.
    `replay` is a command to which `--plan` is added, or which says itself where a plan goes.
    `undisturbed` is what the baseline came through, `exploration` what was asked of a program.
    `not_covered` says in words what was done that no recording shows.
    """

    crash_points: int = 0
    findings: list[Finding] = field(default_factory=list)
    certificate: Certificate = field(default_factory=Certificate)
    scenarios: list[Scenario] = field(default_factory=list)
    invalid: list[str] = field(default_factory=list)
    nondeterminism: str | None = None
    scored: Ambiguity | None = None
    shared_prefixes: bool = True
    unshareable: str | None = None
    fewest_inputs: list[object] | None = None
    absorbed: int = 0
    crashes_at: str = "effect"
    replay: str | None = None
    terms: ProofTerms | None = None
    undisturbed: Undisturbed = field(default_factory=Undisturbed)
    exploration: Exploration | None = None
    not_covered: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether every guarantee held, in runs that were what they were meant to be."""
        return not self.findings and not self.invalid

    @property
    def nothing_proved(self) -> bool:
        """Whether there was no effect to crash at."""
        return self.crash_points == 0

    def verdicts(self) -> Iterator[tuple[Scenario, Verdict]]:
        """Each scenario with what it came to."""
        failed = {finding.plan for finding in self.findings}
        for scenario in self.scenarios:
            if scenario.invalid is not None:
                yield scenario, Verdict.INVALID
            else:
                yield scenario, Verdict.FAILED if scenario.plan in failed else Verdict.PASSED

    def replay_of(self, finding: Finding) -> str:
        """The command that carries a finding's scenario out alone."""
        return with_plan(str(self.replay), finding.plan)

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        lines = [self.headline]
        if self.nondeterminism:
            lines.append(
                f"  not deterministic: two runs without a crash differ: {self.nondeterminism}"
            )
        if self.unshareable:
            lines.append(f"  each life was run from its beginning: {self.unshareable}")
        for finding in self.findings:
            lines.append(f"  [{finding.kind}] {finding.place}: {finding.detail}")
            if self.replay:
                lines.append(f"      replay: {self.replay_of(finding)}")
        lines += [f"  [invalid] {reason}" for reason in self.invalid]
        if self.fewest_inputs is not None:
            lines.append(f"  fewest inputs that still fail: {self.fewest_inputs!r}")
        if self.scored is not None:
            lines.append(f"  {self.scored}")
        lines += [f"  note: {each}" for each in self.not_covered]
        if self.certificate.enumerated:
            rebuilt = self.crashes_at == DURABLE_CALL
            lines.append(f"  {self.certificate.of_rebuilt if rebuilt else self.certificate}")
        return "\n".join(lines)

    @property
    def headline(self) -> str:
        """The verdict in one line."""
        if self.nothing_proved and self.passed:
            through = "effects through ctx" if self.crashes_at == "effect" else self.crashes_at
            return f"conformance: PASS, but nothing proved: the subject has no {through}"
        verdict = "PASS" if self.passed else "FAIL"
        counted = f"{len(self.findings)} finding(s)"
        if self.invalid:
            counted += f", {len(self.invalid)} invalid scenario(s)"
        points = f"{self.crash_points} {self.crashes_at}(s) crashed at"
        return f"conformance: {verdict}, {points}, {counted}"


Proof = tuple[ProofTerms, ConformanceReport]
"""A proof and its terms, whose subject may have another name for those who read of it."""


def total(reports: Sequence[ConformanceReport]) -> Certificate:
    """The certificates of several proofs as one: every figure is a sum."""
    figures = [astuple(report.certificate) for report in reports]
    return Certificate(*map(sum, zip(*figures, strict=True)))
