"""One entry of the catalogue: a subject, and what a proof must find in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from resumeproof.domain.conformance import AT_CALLS, AT_EFFECTS, ConformanceReport
from resumeproof.domain.contract import Lookup, ToolContract
from resumeproof.domain.verdict import FindingKind
from resumeproof.proof.agent import AgentSubject, Factory
from resumeproof.proof.context import EFFECT_AFTER, EFFECT_BEFORE
from resumeproof.proof.living import LivingSubject

ASKABLE: Final = ToolContract("receiver", lookup=Lookup.CONSISTENT)
DEDUPLICATING: Final = ToolContract("receiver", idempotent=True)
SILENT: Final = ToolContract("receiver")

NEEDLESS_ESCALATION: Final = "needless_escalation"
"""Scored, and no finding: a human was asked although the contract could have settled it."""

JOBS: Final = ("job-1", "job-2")
BEFORE: Final = (f"{EFFECT_BEFORE}#1", f"{EFFECT_BEFORE}#2")
AFTER: Final = (f"{EFFECT_AFTER}#1", f"{EFFECT_AFTER}#2")
ANYWHERE: Final = (*BEFORE, *AFTER)
FROM_THE_FIRST_EFFECT_ON: Final = (BEFORE[1], *AFTER)


@dataclass(frozen=True)
class Entry:
    """`expects` is the reason for which a broken subject must be found; None: it is correct.

    `plans` are all crash plans at which that reason shows, and `also` the other reasons that come
    with it. The subject need not be an agent; `boundaries` names those at which it is to die.

    `at` calls an agent dies at each of its durable system calls, whose numbers hang on who wrote
    its libraries: there `words` are what some finding of that reason must say, and no finding must
    be there where it dies at its effects alone.
    """

    name: str
    description: str
    subject: LivingSubject
    expects: str | None = None
    plans: frozenset[str] = frozenset()
    also: frozenset[str] = frozenset()
    depth: int = 1
    timeout_seconds: float = 30.0
    boundaries: tuple[str, ...] = (EFFECT_BEFORE, EFFECT_AFTER)
    at: str = AT_EFFECTS
    words: tuple[str, ...] = ()

    @property
    def reasons(self) -> frozenset[str]:
        """All that a proof must find, and nothing else."""
        return self.also if self.expects is None else self.also | {self.expects}

    def is_met_by(self, report: ConformanceReport) -> bool:
        """Whether a report finds what it must, where it must, and nothing else."""
        found = reasons_of(report)
        if report.invalid or frozenset(found) != self.reasons:
            return False
        if self.at == AT_CALLS:
            return self.expects is None or self._is_said(report)
        return self.expects is None or found[self.expects] == self.plans

    def _is_said(self, report: ConformanceReport) -> bool:
        details = [each.detail for each in report.findings if each.kind == self.expects]
        return any(all(word in detail for word in self.words) for detail in details)


def reasons_of(report: ConformanceReport) -> dict[str, set[str]]:
    """What a report found, each with the plans at which it shows; the score has none."""
    found: dict[str, set[str]] = {}
    for finding in report.findings:
        found.setdefault(str(finding.kind), set()).add(finding.plan)
    if report.scored is not None and report.scored.needless:
        found[NEEDLESS_ESCALATION] = set()
    return found


def correct(
    factory: Factory, contract: ToolContract = ASKABLE, inputs: Sequence[Any] = JOBS
) -> Entry:
    """An agent that survives a death anywhere; its docstring's first line describes it."""
    subject = AgentSubject(factory, tuple(inputs), contract)
    return Entry(_name(factory), _description(factory), subject)


def broken(
    factory: Factory,
    expects: FindingKind | str,
    plans: Sequence[str],
    *,
    also: Sequence[FindingKind] = (),
    contract: ToolContract = ASKABLE,
    inputs: Sequence[Any] = JOBS,
    depth: int = 1,
    timeout_seconds: float = 30.0,
) -> Entry:
    """An agent with one bug, which its docstring's first line names."""
    return Entry(
        _name(factory),
        _description(factory),
        AgentSubject(factory, tuple(inputs), contract),
        expects=str(expects),
        plans=frozenset(plans),
        also=frozenset(map(str, also)),
        depth=depth,
        timeout_seconds=timeout_seconds,
    )


def correct_at_calls(factory: Factory, inputs: Sequence[Any] = JOBS) -> Entry:
    """An agent that survives a death at each of its calls."""
    return replace(correct(factory, inputs=inputs), at=AT_CALLS)


def broken_at_calls(
    factory: Factory, expects: FindingKind, *words: str, inputs: Sequence[Any] = JOBS
) -> Entry:
    """An agent with one bug, which shows only where it dies between two of its own calls."""
    return replace(broken(factory, expects, (), inputs=inputs), at=AT_CALLS, words=words)


def _name(factory: Factory) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", factory.__name__).lower()


def _description(factory: Factory) -> str:
    return str(factory.__doc__).partition("\n")[0].removesuffix(".")
