"""One form of an instant, and no other."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resumeproof.domain.instant import format_instant, parse_instant

TEXT = "2026-01-02T03:04:05.000006Z"
INSTANT = datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC)


def test_the_form() -> None:
    assert format_instant(INSTANT) == TEXT


def test_another_zone_is_written_as_utc() -> None:
    assert format_instant(INSTANT.astimezone(timezone(timedelta(hours=5, minutes=30)))) == TEXT


def test_whole_seconds_have_microseconds_too() -> None:
    assert format_instant(INSTANT.replace(microsecond=0)) == "2026-01-02T03:04:05.000000Z"


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="needs a zone"):
        format_instant(INSTANT.replace(tzinfo=None))


def test_what_is_read_has_a_zone() -> None:
    assert (parse_instant(TEXT), parse_instant(TEXT).tzinfo) == (INSTANT, UTC)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-01-02T03:04:05.000006",
        "2026-01-02T03:04:05.000006+00:00",
        "2026-01-02T08:34:05.000006+05:30",
        "2026-01-02T03:04:05.000006z",
        "2026-01-02 03:04:05.000006Z",
        "2026-01-02T03:04:05Z",
        "2026-01-02T03:04:05.006Z",
        "2026-01-02T03:04:05.0000061Z",
        "2026-01-02T03:04:05.000006Z\n",
        "2026-13-02T03:04:05.000006Z",
        "2026-02-30T03:04:05.000006Z",
        "2026-01-02T25:04:05.000006Z",
        "\uff12026-01-02T03:04:05.000006Z",
    ],
    ids=ascii,
)
def test_any_other_form_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"instant|isoformat|must be in|out of range"):
        parse_instant(text)


@given(st.datetimes(timezones=st.just(UTC)))
def test_what_is_written_is_read_back_and_sorts_like_time(moment: datetime) -> None:
    text = format_instant(moment)
    assert (parse_instant(text), text <= format_instant(INSTANT)) == (moment, moment <= INSTANT)
