"""The page of a demo: one sentence, what it rests on, and the same bytes each time."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from resumeproof.errors import EvidenceBroken
from resumeproof.evidence.report import REPORT_NAME, render, write_report
from tests.unit.evidence.report.conftest import DEMO
from tests.unit.evidence.report.reading import of_class, read, text_of

Receipt = dict[str, Any]


def test_the_committed_receipt_gives_the_committed_bytes(demo: Receipt) -> None:
    assert render(demo).encode() == DEMO.with_name(REPORT_NAME).read_bytes()


def test_the_order_of_members_makes_no_difference(demo: Receipt) -> None:
    assert render(dict(reversed(demo.items()))) == render(demo)


def test_the_verdict_is_one_sentence(demo: Receipt) -> None:
    (title,) = read(render(demo)).iter("h1")
    assert text_of(title) == (
        "Two workflows were killed at tool:after#1 and resumed: one came to its end, "
        "one waits for a person; none acted twice."
    )


def test_it_says_what_it_rests_on(demo: Receipt) -> None:
    page = read(render(demo))
    told = {
        text_of(pair[0]): text_of(pair[1])
        for figures in of_class(page, "figures")
        for pair in figures
    }
    assert told == {
        "Kills as planned": "2 of 2",
        "Process lives": "4",
        "Effects": "2",
        "Repeated calls": "1",
        "In doubt": "1",
    }


def test_each_workflow_has_its_pictures_its_stores_and_its_conclusions(demo: Receipt) -> None:
    page = read(render(demo))
    for place, workflow in enumerate(demo["workflows"], start=1):
        (section,) = (
            each for each in page.iter("section") if each.get("id") == f"workflow-{place}"
        )
        assert len(of_class(section, "picture")) == 4  # both, wide and narrow
        assert len(of_class(section, "knew")) == 1
        assert workflow["id"] in text_of(section)
        (words,) = of_class(section, "facts")
        assert text_of(words[0]) == workflow["status"]
    ids = [each.get("id") for each in page.iter() if each.get("id")]
    assert len(ids) == len(set(ids))


def test_every_story_is_drawn(stories: Receipt) -> None:
    page = read(render(stories))
    assert len(of_class(page, "picture")) == 4 * len(stories["workflows"])


def test_it_is_written_whole(demo: Receipt, tmp_path: Path) -> None:
    write_report(tmp_path / REPORT_NAME, demo)
    assert (tmp_path / REPORT_NAME).read_text("utf-8") == render(demo)
    assert [each.name for each in tmp_path.iterdir()] == [REPORT_NAME]


# -- what is not as it should be is said ---------------------------------------------------------


def title_of(receipt: Receipt) -> tuple[str, str]:
    (title,) = read(render(receipt)).iter("h1")
    return title.get("class", ""), text_of(title)


def test_a_second_effect_is_the_verdict(demo: Receipt) -> None:
    second = {**demo["ledger"]["effects"][0], "sequence": 3}
    demo["ledger"]["effects"].append(second)
    tone, verdict = title_of(demo)
    assert (tone, verdict.partition("; ")[2]) == ("bad", "one acted twice.")


def test_a_kill_elsewhere_than_planned_is_no_proof(demo: Receipt) -> None:
    demo["scenarios"][0]["lives"][0]["witnessed"] = "ack:before#1"
    page = read(render(demo))
    assert title_of(demo)[0] == "bad"
    (figures,) = of_class(page, "figures")
    assert text_of(figures[0][1]) == "1 of 2"
    assert not any(text_of(each).startswith("Processes really died") for each in page.iter("li"))


def test_without_a_kill_it_says_so(stories: Receipt) -> None:
    alone = copy.deepcopy(stories)
    kept = next(each for each in alone["scenarios"] if each["plan"] == "baseline")
    alone["scenarios"] = [kept]
    alone["workflows"] = [each for each in alone["workflows"] if each["id"] == kept["workflow_id"]]
    assert title_of(alone) == (
        "good", "One workflow was run without a crash: one came to its end; none acted twice.",
    )  # fmt: skip


def _unknown_event(receipt: Receipt) -> None:
    receipt["workflows"][0]["timeline"][2]["event"] = "no_such_event"


def _out_of_order(receipt: Receipt) -> None:
    receipt["workflows"][0]["timeline"].reverse()


def _facts_gone(receipt: Receipt) -> None:
    receipt["workflows"][0]["timeline"][2]["facts"] = {}


def _facts_of_another_type(receipt: Receipt) -> None:
    receipt["workflows"][0]["timeline"][4]["facts"]["receipt"] = 7


def _no_records(receipt: Receipt) -> None:
    receipt["workflows"][0]["timeline"] = []


def _no_account(receipt: Receipt) -> None:
    receipt["scenarios"] = []


def _a_pid_more(receipt: Receipt) -> None:
    receipt["scenarios"][0]["pids"].append(1)


MALFORMED = (
    _unknown_event, _out_of_order, _facts_gone, _facts_of_another_type, _no_records, _no_account,
    _a_pid_more,
)  # fmt: skip


@pytest.mark.parametrize("change", MALFORMED, ids=lambda change: change.__name__.strip("_"))
def test_facts_that_nobody_would_write_are_refused(
    demo: Receipt, change: Callable[[Receipt], None]
) -> None:
    change(demo)
    with pytest.raises(
        EvidenceBroken, match=r"^here\.json: what it tells of does not hold: malformed"
    ):
        render(demo, "here.json")


# -- hostile content -----------------------------------------------------------------------------

HOSTILE = {
    "markup": "</title></style><script>alert(1)</script><img src=x onerror=alert(1)>",
    "quotes": '"\'` onmouseover=alert(1) x="',
    "right to left": "a\u202ecila\u2066\u200f",
    "control": "\x00\x07\x1b[2J\x9b31m\r\n",
    "a lone surrogate": "\ud800",
    "a megabyte": "<b>" * 350_000,
}


def hostile(receipt: Receipt, text: str) -> Receipt:
    """The receipt with the text wherever somebody else may have written."""
    workflow = receipt["workflows"][0]
    workflow["key"] = workflow["contract"]["name"] = text
    workflow["action"]["arguments"] = {text: text}
    for record in workflow["timeline"]:
        for member in ("actor", "driver", "reason"):
            if member in record["facts"]:
                record["facts"][member] = text
    last = receipt["workflows"][1]["timeline"]
    facts = {"actor": text, "note": text, "resolution": "confirmed_applied"}
    last.append({**last[-1], "event": "reconciled_applied", "facts": facts, "sequence": 5})
    receipt["environment"]["platform"] = text
    receipt["scenarios"][0]["child_exit"]["text"] = text
    receipt["scenarios"][0]["lives"][0]["exit"]["text"] = text
    receipt["ledger"]["effects"][0]["receipt_id"] = text
    return receipt


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_content_is_text(demo: Receipt, text: str) -> None:
    harmless = read(render(hostile(copy.deepcopy(demo), "harmless")))
    page = render(hostile(demo, text))
    root = read(page)
    tags = [each.tag for each in root.iter()]
    assert [tag for tag in tags if tag in ("script", "img", "b")] == [
        each.tag for each in harmless.iter() if each.tag in ("script", "img", "b")
    ]
    assert abs(len(tags) - len(list(harmless.iter()))) < 20  # only tspan: lines are wrapped
    assert set(tags) == {each.tag for each in harmless.iter()} | {"tspan"}
    assert all(character.isprintable() or character == "\n" for character in page)
    assert page.encode()
    assert len(page) < 300_000


def test_hostile_content_can_be_read(demo: Receipt) -> None:
    page = text_of(read(render(hostile(demo, "<b>\x1b</b>"))))
    assert page.count("<b>\\u001b</b>") > 10
