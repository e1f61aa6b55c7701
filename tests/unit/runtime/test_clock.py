from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from resumeproof.runtime.clock import Clock, SteppedClock, SystemClock

START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def after(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def test_system_clock_tells_the_present_in_utc() -> None:
    clock: Clock = SystemClock()
    before, now, later = datetime.now(UTC), clock.now(), datetime.now(UTC)
    assert before <= now <= later
    assert now.tzinfo is UTC


def test_stepped_clock_starts_at_its_start_and_steps_with_each_reading() -> None:
    clock: Clock = SteppedClock(START, 0.25)
    assert [clock.now() for _ in range(3)] == [after(0), after(0.25), after(0.5)]


def test_stepped_clock_does_not_drift() -> None:
    clock = SteppedClock(START, 0.1)
    assert [clock.now() for _ in range(10_001)][-1] == after(1000)


@pytest.mark.parametrize("seconds", [60, -60], ids=["forwards", "set_back"])
def test_advance_moves_the_next_reading(seconds: float) -> None:
    clock = SteppedClock(START, 1)
    clock.now()
    clock.advance(seconds)
    assert (clock.now(), clock.now()) == (after(1 + seconds), after(2 + seconds))


def test_stepped_clock_reads_in_utc_whatever_the_zone_of_its_start() -> None:
    start = START.astimezone(timezone(timedelta(hours=5)))
    assert SteppedClock(start, 1).now().isoformat() == "2026-01-02T03:04:05+00:00"


def test_stepped_clock_refuses_a_start_without_a_zone() -> None:
    with pytest.raises(ValueError, match="zone"):
        SteppedClock(datetime(2026, 1, 2), 1)  # noqa: DTZ001 - what is refused
