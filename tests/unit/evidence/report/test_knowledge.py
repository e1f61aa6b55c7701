"""What each store knew at a death, and which conclusion came from which of them."""

from __future__ import annotations

from typing import Any

import pytest

from resumeproof.crash.plan import Boundary
from resumeproof.domain.decision import Doubt
from resumeproof.evidence.report.cases import Case, cases
from resumeproof.evidence.report.knowledge import (
    BOUNDARY_IN_WORDS,
    DOUBT_IN_WORDS,
    Conclusion,
    Source,
    conclusions,
    explained,
    knowledge,
    not_asked,
)
from tests.unit.evidence.scene import STORIES


@pytest.fixture
def told(stories: dict[str, Any]) -> dict[str, Case]:
    """Each story's workflow; a conflict is the second of two."""
    names = [*STORIES]
    names.insert(names.index("conflict"), "conflict, first")
    return dict(zip(names, cases(stories), strict=True))


def test_every_boundary_and_every_doubt_has_its_words() -> None:
    assert BOUNDARY_IN_WORDS.keys() == {str(boundary) for boundary in Boundary}
    assert DOUBT_IN_WORDS.keys() == set(Doubt)


def test_after_the_tool_the_ledger_knows_more(told: dict[str, Case]) -> None:
    case = told["idempotent"]
    (known,) = knowledge(case)
    receipt_id = case.effects[0]["receipt_id"]
    assert (known.life, known.how, known.journal, known.ledger) == (
        1,
        "exit 86 at tool:after#1",
        ("the workflow is running", "attempt 1 was claimed, for a call",
         "no outcome of that attempt"),
        ("effect 1, made in attempt 1", f"its receipt {receipt_id}", "1 call reached the tool"),
    )  # fmt: skip
    assert known.gap.startswith("The ledger knew of an effect that the journal did not.")


GAPS = {
    "nothing claimed": ["The two agreed."],
    "acknowledged": ["The two agreed."],
    "left running": ["Nothing had happened yet, and the journal could not tell"],
    "late call": ["Nothing had happened yet, and the journal could not tell"],
    "unknown": ["The ledger knew of an effect"],
    "resume crashed": ["The ledger knew of an effect"] * 2,
}


@pytest.mark.parametrize(("name", "gaps"), GAPS.items(), ids=GAPS)
def test_the_gap_is_what_the_stores_really_held(
    told: dict[str, Case], name: str, gaps: list[str]
) -> None:
    found = [known.gap for known in knowledge(told[name])]
    assert [text.startswith(gap) for text, gap in zip(found, gaps, strict=True)] == [
        True for _ in gaps
    ]


def test_a_life_that_died_before_its_claim_left_nothing(told: dict[str, Case]) -> None:
    (known,) = knowledge(told["nothing claimed"])
    assert known.journal == ("the workflow is approved", "nobody has claimed it yet")
    assert known.ledger == ("no effect", "no call reached the tool")


DEAD = Conclusion(
    "Attempt 1 died: it will not say what came of it",
    Source.JOURNAL,
    "a claim without an outcome, and no driver that holds the lock",
)
SOURCES = {
    "idempotent": [Source.JOURNAL, Source.LEDGER, Source.JOURNAL],
    "unknown": [Source.JOURNAL, Source.NOBODY],
    "confirmed applied": [Source.JOURNAL, Source.NOBODY, Source.PERSON],
    "lookup found": [Source.JOURNAL, Source.LEDGER, Source.JOURNAL],
    "late call": [Source.JOURNAL, Source.LEDGER, Source.LEDGER, Source.JOURNAL],
    "retried": [Source.LEDGER, Source.LEDGER, Source.LEDGER, Source.JOURNAL],
    "cancelled": [],
    "left running": [],
}


@pytest.mark.parametrize(("name", "sources"), SOURCES.items(), ids=SOURCES)
def test_each_conclusion_names_its_source(
    told: dict[str, Case], name: str, sources: list[Source]
) -> None:
    found = list(conclusions(told[name]))
    assert [each.source for each in found] == sources
    if "recovered_attempt" in str(found) or sources[:1] == [Source.JOURNAL]:
        assert found[0] == DEAD


def test_doubt_needs_a_person_until_one_has_decided(told: dict[str, Case]) -> None:
    people = {
        name: [each.person for each in conclusions(told[name]) if each.person != "no"]
        for name in ("unknown", "confirmed applied", "confirmed not applied", "idempotent")
    }
    assert people == {
        "unknown": ["has to decide"],
        "confirmed applied": ["has decided", "decided by alice"],
        "confirmed not applied": ["has decided", "decided by alice"],
        "idempotent": [],
    }


def test_what_a_person_said_is_told_with_its_note(told: dict[str, Case]) -> None:
    applied = [*conclusions(told["confirmed applied"])][-1]
    absent = [*conclusions(told["confirmed not applied"])][-1]
    why = "alice looked, and says so: looked it up"
    assert (applied.text, applied.why) == ("The effect happened", why)
    assert (absent.text, absent.why) == ("No effect happened", why)


def test_why_nobody_can_know_follows_from_the_contract(told: dict[str, Case]) -> None:
    assert "takes no key that would make a repeat safe" in explained(told["unknown"])
    assert "may have forgotten its key" in explained(told["expired key"])
    assert not_asked(told["unknown"]) == "not called: it could act twice"
    assert not_asked(told["expired key"]) == "not called: key may be forgotten"


def test_every_story_is_explained(told: dict[str, Case]) -> None:
    texts = {name: explained(case) for name, case in told.items()}
    unfinished = {name for name, text in texts.items() if text.startswith("It has not come")}
    assert unfinished == {"retrying", "replaced", "left running"}
    assert all(text.endswith(".") for text in texts.values())
