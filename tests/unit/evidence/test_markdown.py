"""A CI's summary and annotations: what they say, and that no subject can say more in them."""

from __future__ import annotations

import re

from resumeproof.domain.verdict import Finding, FindingKind
from resumeproof.evidence.annotations import ANNOTATIONS_AT_MOST, error_commands
from resumeproof.evidence.markdown import (
    DETAIL_LENGTH_MAX,
    FINDINGS_AT_MOST,
    SECTIONS_AT_MOST,
    summary,
)
from tests.unit.evidence.proofs import HOSTILE, failed, nothing, passed, terms


def unescaped(markdown: str) -> str:
    """What a backslash before ASCII punctuation stands for."""
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", markdown)


def test_a_proof_that_passed() -> None:
    assert unescaped(summary([(terms(), passed())])) == (
        "### resumeproof: agent:make\n"
        "\n"
        "conformance: PASS, 1 effect(s) crashed at, 0 finding(s)\n"
        "\n"
        "2 crash points enumerated, 2 kills fired, 2 verified, 2 scenarios judged; "
        "2 images, 2 states, 2 resumed\n"
        "\n"
    )


def test_a_proof_that_failed() -> None:
    told = unescaped(summary([(terms(), failed("it was"))]))
    expected = (
        "conformance: FAIL, 2 effect(s) crashed at, 3 finding(s), 1 invalid scenario(s)\n",
        "two runs without a crash differ: it was\n",
        "| state_lost | without a crash | it was | baseline |\n",
        "| effect_replayed | crash after effect #1 | it was | effect:after#1 |\n",
        "| invalid | | effect:before#2: it was | |\n",
        "```sh\nresumeproof conform agent:make --inputs jobs.json --plan 'baseline'\n```\n",
        "Fewest inputs that still fail: ['it was']\n",
        "missed ambiguity 1 of 1, needless escalation 0 of 2\n",
    )
    assert [part for part in expected if part not in told] == []


def test_a_proof_of_nothing() -> None:
    assert "nothing proved" in summary([(terms(), nothing())])


def test_hostile_text_is_text() -> None:
    told = summary([(terms(HOSTILE), failed(HOSTILE))])
    rows = [line for line in told.splitlines() if line.startswith("| ")]
    # An unescaped bar would be one more cell, an unescaped line end one more row.
    cells = {len(re.findall(r"(?<!\\)\|", row)) for row in rows}
    assert (len(rows), cells) == (6, {5})
    assert re.findall(r"(?<!\\)[<>&$@`]", re.sub("(?s)```.*?```", "", told)) == []
    assert [character for character in told if not character.isprintable()] == ["\n"] * told.count(
        "\n"
    )


def test_a_command_that_holds_backticks_stays_in_its_block() -> None:
    report = failed()
    report.replay = "resumeproof conform '```a:b'"
    assert "````sh\nresumeproof conform '```a:b' --plan 'baseline'\n````\n" in summary(
        [(terms(), report)]
    )


def test_what_is_endless_is_cut() -> None:
    report = failed("x" * 10 * DETAIL_LENGTH_MAX)
    report.findings *= 1_000
    told = summary([(terms(), report)])
    assert (told.count("\n| state"), len(told) < 1 << 17) == (FINDINGS_AT_MOST // 3 + 1, True)
    assert f"\nand {3_000 - FINDINGS_AT_MOST} more\n" in told


def test_each_finding_is_an_annotation() -> None:
    title = "::error title=resumeproof%3A"
    assert list(error_commands([(terms(), failed("100% twice"))])) == [
        f"{title} state_lost in agent%3Amake::without a crash: 100%25 twice",
        f"{title} effect_replayed in agent%3Amake::crash after effect #1: 100%25 twice",
        f"{title} resume_crashed in agent%3Amake::crash after effect #1: 100%25 twice",
        f"{title} invalid in agent%3Amake::effect:before#2: 100%25 twice",
    ]


def test_a_proof_that_passed_has_no_annotations() -> None:
    assert list(error_commands([(terms(), passed())])) == []


def test_hostile_text_cannot_end_its_command() -> None:
    command = next(error_commands([(terms("a,b::error::" + HOSTILE), failed(HOSTILE))]))
    title, _, text = command.removeprefix("::error title=").partition("::")
    assert (command.isprintable(), "," in title, ":" in title) == (True, False, False)
    assert (text.startswith("without a crash: "), "%250A::error::" in text) == (True, True)


def test_there_are_no_more_annotations_than_are_shown() -> None:
    report = failed()
    report.findings = [Finding(FindingKind.EFFECT_LOST, 1, "gone", "effect:after#1")] * 100
    assert len(list(error_commands([(terms(), report)]))) == ANNOTATIONS_AT_MOST


# -- of several proofs -----------------------------------------------------------------------


def test_several_proofs_are_a_table_and_what_failed() -> None:
    proofs = [(terms("one"), passed()), (terms("two"), failed()), (terms("three"), nothing())]
    told = unescaped(summary(proofs))
    assert told.startswith("### resumeproof: 2 of 3 proofs passed\n")
    assert "| one | passed | 2 | 0 |\n| two | **FAILED** | 2 | 3 |\n" in told
    assert [line for line in told.splitlines() if line.startswith("### ")][1:] == [
        "### resumeproof: two"
    ]


def test_no_more_sections_than_people_read() -> None:
    told = summary([(terms(str(number)), failed()) for number in range(100)])
    assert told.count("### ") == 1 + SECTIONS_AT_MOST
    assert f"and {100 - SECTIONS_AT_MOST} more that failed" in told
    assert len(told) < 1 << 20


def test_annotations_are_as_many_as_are_shown_of_a_step() -> None:
    commands = list(error_commands([(terms(), failed())] * 10))
    assert len(commands) == ANNOTATIONS_AT_MOST
