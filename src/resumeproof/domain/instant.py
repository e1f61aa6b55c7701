"""Instants: UTC, RFC 3339 with microseconds and `Z`. Order never comes from them."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_FORM = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


def format_instant(instant: datetime) -> str:
    """`2026-01-02T03:04:05.000006Z`, as RFC 3339, section 5.6 has it.

    Raises `ValueError` for a time without a zone.
    """
    if instant.tzinfo is None:
        raise ValueError("an instant needs a zone")
    if instant.tzinfo is not UTC:
        instant = instant.astimezone(UTC)
    # Asked for its zone, isoformat would cost three times as much.
    text = instant.replace(tzinfo=None).isoformat()
    return f"{text}Z" if instant.microsecond else f"{text}.000000Z"


def parse_instant(text: str) -> datetime:
    """The instant that `format_instant` wrote. Raises `ValueError` for any other form."""
    if not _FORM.fullmatch(text):
        raise ValueError(f"not an instant: {text!r}")
    return datetime.fromisoformat(text)
