"""The map of a campaign: every crash point is reached by keyboard, and its picture counts."""

from __future__ import annotations

import pytest

from tests.browser.conftest import Opens
from tests.browser.look import Look
from tests.browser.reports import Written

BROKEN = "\N{MULTIPLICATION SIGN}"
SMALL = ["passing proof", "failing proof", "losing proof", "shapes", "exploration"]
small_reports = pytest.mark.parametrize("report", SMALL, indirect=True)


def counted(report: Written, proof: int, plan: str) -> dict[str, int]:
    """The marks that a scenario's picture must have, by the receipt; none of a shortened one."""
    told = report.proofs[proof]
    (scenario,) = [each for each in told["scenarios"] if each["plan"] == plan]
    resumed = told["exploration"] is None or told["exploration"]["resume"] != "none"
    points = plan.split(";")
    marks = {
        "birth": len(points) + resumed,
        "death": len(points),
        "end": 1,
        "struck": int(told["terms"]["mode"] not in ("sigkill", "exit86")),
        "call": len(calls_before(told["undisturbed"]["passed"], points[0])),
    }
    if scenario["course"] is not None:
        course = scenario["course"]
        numbers = [n for first, last in course["effects"] for n in range(first, last + 1)]
        lost = set(range(1, told["undisturbed"]["effects"] + 1)) - set(numbers)
        marks |= {"effect": len(numbers), "lost": len(lost), "replay": course["absorbed"] > 0}
    return {kind: count for kind, count in marks.items() if count}


def calls_before(passed: list[str], point: str) -> list[str]:
    """The calls that a life had come through when it died, without those that are effects."""
    boundary, _, occurrence = point.partition("#")
    name, _, side = boundary.partition(":")
    here = f"call:{side}#{occurrence}" if name.startswith("power.") else point
    through = passed[: passed.index(here) + (side == "after")]
    done = [each.partition(":") for each in through if ":after#" in each]
    return [call for call, _, _ in done if call not in ("effect", "tool")]


def enter_the_map(seen: Look) -> None:
    """Go there as a keyboard does: tab by tab from the top."""
    for _ in range(20):
        seen.page.keyboard.press("Tab")
        if seen.focused()[0] == "gridcell":
            return
    raise AssertionError("no tab leads to the map")


@small_reports
def test_the_keyboard_reaches_every_scenario_and_each_is_drawn(
    report: Written, look: Opens
) -> None:
    with look(report.page) as seen:
        enter_the_map(seen)
        seen.page.keyboard.press("Control+Home")
        reached: list[tuple[int, str]] = []
        while not reached or seen.plan() != reached[-1]:
            reached.append(seen.plan())
            told = counted(report, *reached[-1])
            shown = seen.marks()
            # Of a long life the first and the last are drawn, and how many there are between.
            if "more" not in shown:
                assert (reached[-1], shown) == (reached[-1], told)
            seen.page.keyboard.press("ArrowRight")
        assert sorted(reached) == sorted(report.plans)


@small_reports
def test_the_map_has_a_square_for_each_scenario(report: Written, look: Opens) -> None:
    with look(report.page) as seen:
        shown = seen.page.locator("#map").evaluate(
            "map => [Number(map.dataset.scenarios), Number(map.dataset.shown)]"
        )
        verdicts = [each["verdict"] for proof in report.proofs for each in proof["scenarios"]]
        labels = seen.page.locator("fieldset label").all_inner_texts()
        expected = {name: verdicts.count(name) for name in dict.fromkeys(verdicts)}
        assert shown == [len(verdicts)] * 2
        told = dict(label.split() for label in labels)
        assert told == {"all": str(len(verdicts))} | {k: str(v) for k, v in expected.items()}


@pytest.mark.parametrize("report", ["failing proof"], indirect=True)
def test_a_square_says_what_it_is(report: Written, look: Opens) -> None:
    """Colour is not the only sign: a label for those who hear, a glyph for those who see."""
    with look(report.page) as seen:
        cells = seen.page.locator(".cell").all()
        told = {(cell.get_attribute("aria-label") or "", cell.inner_text()) for cell in cells}
        assert told == {
            ("crash before effect #1: passed", "1"),
            ("crash before effect #2: failed", BROKEN),
            ("crash before effect #3: failed", BROKEN),
            ("crash after effect #1: failed", BROKEN),
            ("crash after effect #2: failed", BROKEN),
            ("crash after effect #3: failed", BROKEN),
        }


@pytest.mark.parametrize("report", ["failing proof"], indirect=True)
def test_a_scenario_opens_with_its_findings_and_its_replay(report: Written, look: Opens) -> None:
    with look(report.page) as seen:
        page = seen.page
        page.get_by_role("link", name="crash after effect #2").first.click()
        scenario = page.locator("#scenario")
        assert seen.plan() == (0, "effect:after#2")
        assert seen.focused() == ["H3", "Crash after effect #2"]
        text = scenario.inner_text()
        assert "effect_replayed" in text
        assert "resumeproof conform agent.py:Agent --plan 'effect:after#2'" in text
        drawn = page.locator("#scene .effect text").all_text_contents()
        assert drawn == ["pay a", "pay b", "pay a; once more", "pay b; once more", "pay c"]


@pytest.mark.parametrize("report", ["losing proof"], indirect=True)
def test_what_never_happened_is_drawn_as_missing(report: Written, look: Opens) -> None:
    with look(report.page) as seen:
        seen.open(0, "effect:before#2")
        assert seen.page.locator("#scene .lost text").all_text_contents() == [
            "pay b: never happened"
        ]


@pytest.mark.parametrize("report", ["failing proof"], indirect=True)
def test_enter_reads_a_scenario_and_escape_comes_back(report: Written, look: Opens) -> None:
    with look(report.page) as seen:
        enter_the_map(seen)
        before = seen.focused()
        seen.page.keyboard.press("Enter")
        assert seen.focused()[0] == "H3"
        seen.page.keyboard.press("Escape")
        assert seen.focused() == before


@pytest.mark.parametrize("report", ["failing proof"], indirect=True)
def test_verdict_and_plan_choose_what_is_shown(report: Written, look: Opens) -> None:
    with look(report.page) as seen:
        page = seen.page
        page.get_by_label("passed 1").check()
        assert page.locator(".cell").count() == 1
        page.get_by_label("all 6").check()
        page.get_by_label("Plan").fill("AFTER#2")
        assert page.locator(".cell").count() == 1
        page.get_by_label("Plan").fill("nowhere")
        assert (page.locator(".cell").count(), page.locator(".empty").is_visible()) == (0, True)


@pytest.mark.parametrize("report", ["shapes"], indirect=True)
def test_a_mode_that_is_no_death_is_told(report: Written, look: Opens) -> None:
    with look(report.page) as seen:
        seen.open(1, "append:after#2")
        struck = seen.page.locator("#scene .struck text").all_text_contents()
        died = seen.page.locator("#scene .died").all_text_contents()
        assert (struck, died) == (["the call failed: no space left"], ["SIGKILL at its end"])


@pytest.mark.parametrize("report", ["exploration"], indirect=True)
def test_an_exploration_tells_its_two_answers_apart(report: Written, look: Opens) -> None:
    with look(report.page) as seen:
        answers = seen.page.locator(".badges .badge").all_inner_texts()
        (told,) = report.proofs
        assert answers == ["kill-safe", "not power-safe"]
        assert [told["exploration"][name] for name in ("kill_safe", "power_safe")] == [True, False]
        cut = next(s for s in told["scenarios"] if s["verdict"] == "failed")
        assert seen.plan() == (0, cut["plan"])
        assert seen.page.locator("#scenario h3").inner_text().startswith("Power cut after call #")


# -- a large one -----------------------------------------------------------------------------

large_report = pytest.mark.parametrize("report", ["campaign"], indirect=True)
NODES_AT_MOST = 3_000


@large_report
def test_ten_thousand_scenarios_weigh_little(report: Written, look: Opens) -> None:
    """What a page weighs, and how much of it is there to be laid out, is what makes it slow."""
    with look(report.page, width=390) as seen:
        nodes = seen.page.evaluate("document.querySelectorAll('*').length")
        rows = seen.page.locator("[role=grid]").get_attribute("aria-rowcount")
        assert len(report.plans) == 10_000
        assert report.page.stat().st_size < 5_000_000
        assert (nodes < NODES_AT_MOST, int(rows or 0) > 500) == (True, True)


@large_report
def test_ten_thousand_scenarios_are_all_reached(report: Written, look: Opens) -> None:
    with look(report.page) as seen:
        enter_the_map(seen)
        seen.page.keyboard.press("Control+End")
        assert seen.plan() == (0, "effect:after#5000")
        seen.page.keyboard.press("Control+Home")
        assert seen.plan() == (0, "effect:before#1")
        for key in ("PageDown", "ArrowDown", "End", "ArrowLeft", "Home", "ArrowUp", "PageUp"):
            seen.page.keyboard.press(key)
            assert seen.focused()[0] == "gridcell"
        nodes = seen.page.evaluate("document.querySelectorAll('*').length")
        assert nodes < NODES_AT_MOST


@large_report
def test_scrolling_draws_what_comes_into_sight(report: Written, look: Opens) -> None:
    with look(report.page) as seen:
        page = seen.page
        page.locator(".viewport").evaluate("it => { it.scrollTop = it.scrollHeight }")
        last = page.get_by_label("crash after effect #5000: passed")
        last.wait_for()
        last.click()
        assert seen.plan() == (0, "effect:after#5000")
        assert page.evaluate("document.querySelectorAll('*').length") < NODES_AT_MOST


@large_report
def test_a_long_life_is_shortened_in_its_picture(report: Written, look: Opens) -> None:
    with look(report.page) as seen:
        seen.open(0, "effect:after#2500")
        marks = seen.marks()
        texts = seen.page.locator("#scene .more text").all_text_contents()
        assert (marks["birth"], marks["death"], marks["effect"]) == (2, 1, 14)
        assert texts == ["2493 effects more", "2493 effects more"]
