"""Proofs as Markdown, for a CI's summary of a job."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from resumeproof.domain.conformance import ConformanceReport, Proof, ProofTerms, total
from resumeproof.domain.printable import shown

FINDINGS_AT_MOST: Final = 50
"""So many are told of; GitHub takes 1 MiB of summary for each step."""

DETAIL_LENGTH_MAX: Final = 1_000

_SYNTAX = re.compile(r"[\\`*_{}\[\]<>()#|~&!$@:]")


SECTIONS_AT_MOST: Final = 20


def summary(proofs: Sequence[Proof]) -> str:
    """A heading with the verdict, a table of findings, how to replay one, and the certificate.

    Of several proofs there is a table first, and then this for each that did not pass.
    """
    if len(proofs) == 1:
        return "\n".join(_blocks(*proofs[0])) + "\n"
    blocks = [*_of_many(proofs)]
    failed = [proof for proof in proofs if not proof[1].passed]
    for proof in failed[:SECTIONS_AT_MOST]:
        blocks += _blocks(*proof)
    if len(failed) > SECTIONS_AT_MOST:
        blocks.append(f"and {len(failed) - SECTIONS_AT_MOST} more that failed\n")
    return "\n".join(blocks) + "\n"


def _of_many(proofs: Sequence[Proof]) -> Iterator[str]:
    reports = [report for _, report in proofs]
    passed = sum(report.passed for report in reports)
    yield f"### resumeproof: {passed} of {len(proofs)} proofs passed\n"
    yield "| proof | verdict | kills verified | findings |"
    yield "| --- | --- | --- | --- |"
    for terms, report in proofs:
        verdict = "passed" if report.passed else "**FAILED**"
        counts = f"{report.certificate.verified} | {len(report.findings)}"
        yield f"| {literal(terms.subject)} | {verdict} | {counts} |"
    yield f"\n{literal(str(total(reports)))}\n"


def _blocks(terms: ProofTerms, report: ConformanceReport) -> Iterator[str]:
    yield f"### resumeproof: {literal(terms.subject)}\n"
    yield f"{literal(report.headline)}\n"
    if report.nondeterminism is not None:
        difference = _cut(report.nondeterminism)
        yield f"Not deterministic, two runs without a crash differ: {difference}\n"
    if report.findings or report.invalid:
        yield from _table(report)
    if report.findings and report.replay is not None:
        yield "Replay one alone, and keep what it leaves:\n"
        yield _fenced(report.replay_of(report.findings[0]))
    if report.fewest_inputs is not None:
        yield f"Fewest inputs that still fail: {_cut(repr(report.fewest_inputs))}\n"
    if report.scored is not None:
        yield f"{literal(str(report.scored))}\n"
    if report.certificate.enumerated:
        yield f"{literal(str(report.certificate))}\n"


def _table(report: ConformanceReport) -> Iterator[str]:
    yield "| finding | where | detail | plan |"
    yield "| --- | --- | --- | --- |"
    for finding in report.findings[:FINDINGS_AT_MOST]:
        kind, plan = literal(finding.kind), literal(finding.plan)
        yield f"| {kind} | {literal(finding.place)} | {_cut(finding.detail)} | {plan} |"
    for reason in report.invalid[:FINDINGS_AT_MOST]:
        yield f"| invalid | | {_cut(reason)} | |"
    more = sum(max(0, len(each) - FINDINGS_AT_MOST) for each in (report.findings, report.invalid))
    yield f"\nand {more} more\n" if more else ""


def literal(text: str) -> str:
    """Any text so that Markdown shows it as it is, within a line and within a table's cell.

    Source: GitHub Flavored Markdown, section 6.1: a backslash before ASCII punctuation.
    """
    return _SYNTAX.sub(r"\\\g<0>", shown(text))


def _cut(text: str) -> str:
    """A text that may be as long as it likes, cut to what people read."""
    return literal(text if len(text) <= DETAIL_LENGTH_MAX else f"{text[:DETAIL_LENGTH_MAX]}...")


def _fenced(text: str) -> str:
    """A code block that its text cannot end. Source: GitHub Flavored Markdown, section 4.5."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}sh\n{shown(text)}\n{fence}\n"
