"""Proofs as JUnit XML, which every CI shows: one test case for each scenario."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from resumeproof.domain.conformance import ConformanceReport, Proof, ProofTerms, Verdict
from resumeproof.domain.printable import escaped
from resumeproof.domain.verdict import Finding

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

BASELINE: Final = "baseline"
_NOT_XML = re.compile("[^\t\n\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What no XML document may hold, even as a reference. Source: XML 1.0, section 2.2, Char.

Carriage returns are taken with them, since every reader turns them into line ends.
"""


_COUNTS: Final = (
    ("tests", "testcase"),
    ("failures", "failure"),
    ("errors", "error"),
    ("skipped", "skipped"),
)


def junit_xml(proofs: Sequence[Proof]) -> str:
    """Each proof as one `testsuite`: the baseline, then every scenario by its plan.

    A finding is a failure, an invalid scenario an error, a proof of nothing a skipped baseline.
    """
    from xml.etree import ElementTree

    suites = ElementTree.Element("testsuites", name="resumeproof")
    for terms, report in proofs:
        _add_suite(suites, terms, report)
    _count(suites)
    ElementTree.indent(suites)
    body = ElementTree.tostring(suites, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'


def _add_suite(suites: Element, terms: ProofTerms, report: ConformanceReport) -> None:
    from xml.etree import ElementTree

    name = _legal(f"resumeproof {terms.subject}")
    suite = ElementTree.SubElement(suites, "testsuite", name=name)
    for plan, findings, invalid in _cases(report):
        case = ElementTree.SubElement(
            suite, "testcase", classname=_legal(terms.subject), name=_legal(plan)
        )
        if invalid is not None:
            _tell(ElementTree.SubElement(case, "error"), "invalid", invalid, invalid)
        elif findings:
            kinds = ", ".join(dict.fromkeys(str(finding.kind) for finding in findings))
            text = "\n".join(map(str, _told(report, findings)))
            _tell(ElementTree.SubElement(case, "failure"), kinds, findings[0].detail, text)
        elif plan == BASELINE and report.nothing_proved:
            ElementTree.SubElement(case, "skipped", message="nothing proved: there are no effects")
    _count(suite)


def _count(suite: Element) -> None:
    for attribute, tag in _COUNTS:
        suite.set(attribute, str(sum(1 for _ in suite.iter(tag))))


def _cases(report: ConformanceReport) -> Iterator[tuple[str, Sequence[Finding], str | None]]:
    """The plan of each scenario, the baseline's first, with what it shows."""
    found: dict[str, list[Finding]] = {}
    for finding in report.findings:
        found.setdefault(finding.plan, []).append(finding)
    yield BASELINE, found.get(BASELINE, ()), None
    for scenario, verdict in report.verdicts():
        invalid = scenario.invalid if verdict is Verdict.INVALID else None
        yield scenario.plan, found.get(scenario.plan, ()), invalid


def _told(report: ConformanceReport, findings: Sequence[Finding]) -> Iterator[str]:
    for finding in findings:
        yield f"[{finding.kind}] {finding.place}: {finding.detail}"
    if report.replay is not None:
        yield f"replay: {report.replay_of(findings[0])}"


def _tell(element: Element, kind: str, message: str, text: str) -> None:
    element.set("type", kind)
    element.set("message", _legal(message))
    element.text = _legal(text)


def _legal(text: str) -> str:
    return _NOT_XML.sub(lambda match: escaped(match[0]), text)
