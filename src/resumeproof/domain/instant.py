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
    return instant.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def parse_instant(text: str) -> datetime:
    """The instant that `format_instant` wrote. Raises `ValueError` for any other form."""
    if not _FORM.fullmatch(text):
        raise ValueError(f"not an instant: {text!r}")
    return datetime.fromisoformat(text)
