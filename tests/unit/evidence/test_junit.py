"""JUnit XML: what every CI reads, whatever a subject may say."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from resumeproof.evidence.junit import junit_xml
from tests.unit.evidence.proofs import HOSTILE, failed, nothing, passed, terms


def cases(document: str) -> dict[str, list[tuple[str, str]]]:
    """Each test case by its name, with the tag and type of what went wrong."""
    return {
        case.attrib["name"]: [(part.tag, part.attrib.get("type", "")) for part in case]
        for case in ElementTree.fromstring(document).iter("testcase")
    }


def counts(document: str) -> dict[str, str]:
    suite = ElementTree.fromstring(document)
    return {name: suite.attrib[name] for name in ("tests", "failures", "errors", "skipped")}


def test_each_scenario_is_a_case() -> None:
    document = junit_xml([(terms(), passed())])
    assert cases(document) == {"baseline": [], "effect:before#1": [], "effect:after#1": []}
    assert counts(document) == {"tests": "3", "failures": "0", "errors": "0", "skipped": "0"}


def test_findings_are_failures_and_invalid_scenarios_errors() -> None:
    document = junit_xml([(terms(), failed())])
    assert cases(document) == {
        "baseline": [("failure", "state_lost")],
        "effect:before#1": [],
        "effect:after#1": [("failure", "effect_replayed, resume_crashed")],
        "effect:before#2": [("error", "invalid")],
    }
    assert counts(document) == {"tests": "4", "failures": "2", "errors": "1", "skipped": "0"}


def test_a_proof_of_nothing_is_skipped() -> None:
    assert cases(junit_xml([(terms(), nothing())])) == {"baseline": [("skipped", "")]}


def test_a_failure_tells_all_findings_and_how_to_replay_them() -> None:
    (suite,) = ElementTree.fromstring(junit_xml([(terms(), failed())]))
    (failure,) = suite.iterfind("testcase[@name='effect:after#1']/failure")
    assert (failure.text or "").splitlines() == [
        "[effect_replayed] crash after effect #1: 'charge' happened 2 times",
        "[resume_crashed] crash after effect #1: 'charge' happened 2 times",
        "replay: resumeproof conform agent:make --inputs jobs.json --plan 'effect:after#1'",
    ]


def test_hostile_text_comes_through_with_what_is_no_xml_escaped() -> None:
    document = junit_xml([(terms(HOSTILE), failed(HOSTILE))])
    (suite,) = ElementTree.fromstring(document)
    (failure,) = suite.iterfind("testcase[@name='baseline']/failure")
    readable = HOSTILE
    for character in "\x1b\x00\ud800\r":
        readable = readable.replace(character, f"\\u{ord(character):04x}")
    assert failure.attrib["message"] == readable
    assert readable in (failure.text or "")
    assert suite.attrib["name"] == f"resumeproof {readable}"


NO_CHARACTERS = ["\x00", "\x0b", "\x1f", "\ud800", "\udfff", "\ufffe", "\uffff"]


@pytest.mark.parametrize("character", NO_CHARACTERS, ids=lambda it: f"U+{ord(it):04X}")
def test_what_xml_cannot_hold_is_escaped(character: str) -> None:
    (suite,) = ElementTree.fromstring(junit_xml([(terms(character), passed())]))
    assert suite.attrib["name"] == f"resumeproof \\u{ord(character):04x}"


CHARACTERS = ["\t", "\n", "é", "\u202e", "\ufffd", "\U0001f600", "&", "<", '"', "]]>"]


@pytest.mark.parametrize("character", CHARACTERS, ids=ascii)
def test_what_xml_can_hold_comes_through(character: str) -> None:
    (suite,) = ElementTree.fromstring(junit_xml([(terms(character), passed())]))
    assert suite.attrib["name"] == f"resumeproof {character}"


def test_several_proofs_are_suites_of_one_file() -> None:
    document = junit_xml([(terms("one"), passed()), (terms("two"), failed())])
    root = ElementTree.fromstring(document)
    assert [suite.attrib["name"] for suite in root] == ["resumeproof one", "resumeproof two"]
    assert counts(document) == {"tests": "7", "failures": "2", "errors": "1", "skipped": "0"}


def test_a_megabyte_comes_through() -> None:
    (suite,) = ElementTree.fromstring(junit_xml([(terms(), failed("<" * 1_000_000))]))
    (failure,) = suite.iterfind("testcase[@name='baseline']/failure")
    assert failure.attrib["message"] == "<" * 1_000_000
