"""The bar and the tally of a proof: what they say, and how little room they take."""

from __future__ import annotations

import io

import pytest

from resumeproof.cli.progress import Bar, Tally
from resumeproof.domain.verdict import Finding, FindingKind

REPLAYED = Finding(FindingKind.EFFECT_REPLAYED, 1, "twice")
LOST = Finding(FindingKind.EFFECT_LOST, 1, "never")


class Clock:
    """Seconds that pass only when they are told to."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def shown(screen: io.StringIO) -> list[str]:
    """What stood on the line, from the first drawing to the last."""
    return [drawing.rstrip() for drawing in screen.getvalue().split("\r")[1:]]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def screen() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def bar(screen: io.StringIO, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Bar:
    monkeypatch.setenv("COLUMNS", "80")
    return Bar(screen, clock)


def test_before_the_first_scenario_nothing_is_done() -> None:
    assert Tally().told() == "the baseline was not done"


def test_a_tally_counts_scenarios_and_findings() -> None:
    tally = Tally()
    tally.start(3)
    tally.advance([REPLAYED, LOST])
    tally.advance([REPLAYED])
    assert tally.told() == ("2 of 3 scenarios done, 3 finding(s): effect_replayed 2, effect_lost 1")


def test_a_new_start_forgets_what_was_told() -> None:
    tally = Tally()
    tally.start(3)
    tally.advance([REPLAYED])
    tally.start(5)
    assert tally.told() == "0 of 5 scenarios done, 0 finding(s)"


def test_more_may_be_done_than_was_expected() -> None:
    tally = Tally()
    tally.start(1)
    tally.advance([])
    tally.advance([])
    assert tally.told() == "2 of 2 scenarios done, 0 finding(s)"


def test_the_bar_shows_rate_and_time_that_remains(
    bar: Bar, screen: io.StringIO, clock: Clock
) -> None:
    bar.start(300)
    for _ in range(99):
        bar.advance([])
    clock.seconds = 2.0
    bar.advance([REPLAYED])
    assert shown(screen) == [
        "[........................] 0/300  0/s  ? left",
        "[########................] 100/300  50/s  0:04 left  1 finding(s)",
    ]


DURATIONS = {"0:04": 200, "1:40": 5_000, "1:23:20": 250_000}


@pytest.mark.parametrize(("left", "remaining"), DURATIONS.items(), ids=DURATIONS)
def test_long_times_are_shown_in_minutes_and_hours(
    left: str, remaining: int, bar: Bar, screen: io.StringIO, clock: Clock
) -> None:
    bar.start(remaining + 50)
    for _ in range(49):
        bar.advance([])
    clock.seconds = 1.0
    bar.advance([])
    assert f"  {left} left" in shown(screen)[-1]


def test_it_is_not_drawn_more_often_than_people_can_see(
    bar: Bar, screen: io.StringIO, clock: Clock
) -> None:
    bar.start(1_000)
    for _ in range(1_000):
        clock.seconds += 0.001
        bar.advance([])
    assert 5 < len(shown(screen)) < 15


def test_a_shorter_line_leaves_nothing_of_a_longer_one(bar: Bar, screen: io.StringIO) -> None:
    bar.say("a long line")
    bar.say("short")
    assert screen.getvalue() == "\ra long line\rshort      "


def test_a_cleared_line_is_as_if_nothing_had_been_there(bar: Bar, screen: io.StringIO) -> None:
    bar.say("a line")
    bar.clear()
    assert screen.getvalue() == "\ra line\r      \r"


def test_a_narrow_terminal_never_wraps(
    bar: Bar, screen: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    bar.start(10)
    assert [len(line) for line in shown(screen)] == [19]


def test_a_closed_terminal_is_no_reason_to_stop(clock: Clock) -> None:
    screen = io.StringIO()
    screen.close()
    bar = Bar(screen, clock)
    bar.start(1)
    bar.advance([LOST])
    assert bar.told() == "1 of 1 scenarios done, 1 finding(s): effect_lost 1"
