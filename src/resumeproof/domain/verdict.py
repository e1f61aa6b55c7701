"""What a proof can find."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType


class FindingKind(StrEnum):
    """One violated guarantee. Source: docs/design.md, section 10."""

    EFFECT_REPLAYED = "effect_replayed"
    EFFECT_LOST = "effect_lost"
    EFFECT_UNAPPROVED = "effect_unapproved"
    STATE_LOST = "state_lost"
    RESUME_DIVERGED = "resume_diverged"
    RESUME_CRASHED = "resume_crashed"
    RESUME_HUNG = "resume_hung"
    WORK_REPEATED = "work_repeated"
    AMBIGUITY_HIDDEN = "ambiguity_hidden"
    TERMINAL_MISSING = "terminal_missing"
    TERMINAL_REPEATED = "terminal_repeated"
    RECORD_AHEAD = "record_ahead"
    STATE_AHEAD = "state_ahead"
    RETRY_CAP_EXCEEDED = "retry_cap_exceeded"
    LOCK_LEAKED = "lock_leaked"
    ORPHAN_PROCESS = "orphan_process"
    EVIDENCE_BROKEN = "evidence_broken"
    PROMISE_BROKEN = "promise_broken"


GUARANTEE = MappingProxyType(
    {
        FindingKind.EFFECT_REPLAYED: "an effect happened more often than in the baseline",
        FindingKind.EFFECT_LOST: "an effect of the baseline never happened",
        FindingKind.EFFECT_UNAPPROVED: "an executed action's digest bears no approval",
        FindingKind.STATE_LOST: "final state empty, baseline's not",
        FindingKind.RESUME_DIVERGED: "final state differs from the baseline's",
        FindingKind.RESUME_CRASHED: "the resume raised",
        FindingKind.RESUME_HUNG: "the resume did not end in time",
        FindingKind.WORK_REPEATED: "a step the journal had acknowledged ran again",
        FindingKind.AMBIGUITY_HIDDEN: "an outcome nobody could know was recorded as known",
        FindingKind.TERMINAL_MISSING: "no terminal record",
        FindingKind.TERMINAL_REPEATED: "more than one terminal record",
        FindingKind.RECORD_AHEAD: "a record that the state denies",
        FindingKind.STATE_AHEAD: "a state without its record",
        FindingKind.RETRY_CAP_EXCEEDED: "more counted attempts than allowed",
        FindingKind.LOCK_LEAKED: "a dead life holds a lock",
        FindingKind.ORPHAN_PROCESS: "a dead life left a process behind",
        FindingKind.EVIDENCE_BROKEN: "a receipt or the hash chain does not verify",
        FindingKind.PROMISE_BROKEN: "the subject's own check objects to what a crash left",
    }
)


@dataclass(frozen=True, slots=True)
class Violation:
    """A violated guarantee as a life finds it in its stores, without the scenario's place."""

    kind: FindingKind
    detail: str


@dataclass(frozen=True)
class Finding:
    """One violated guarantee in one scenario.

    `crash_after` counts the effects that were committed before the (first) death; `plan` is the
    crash plan that shows it again, alone.
    """

    kind: FindingKind
    crash_after: int
    detail: str
    plan: str = "baseline"

    @property
    def place(self) -> str:
        """Where the subject died, in words."""
        if self.plan == "baseline":
            return "without a crash"
        first, _, more = self.plan.partition(";")
        boundary, _, occurrence = first.rpartition("#")
        name, _, side = boundary.partition(":")
        again = ", and again" if more else ""
        if name.startswith("power."):
            return f"power cut {side} call #{occurrence}{again}"
        if name != "effect":
            return f"crash {side} {name} #{occurrence}{again}"
        number = self.crash_after + (side == "before")
        return f"crash {side} effect #{number}{again}"

    def __str__(self) -> str:
        return f"[{self.kind}] {self.place}: {self.detail} (plan {self.plan})"
