"""The report: a receipt file as one HTML page, made from that file alone."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any, Final

REPORT_NAME: Final = "report.html"

_PAGES: Final = MappingProxyType(
    {
        "demo": "resumeproof.evidence.report.demo",
        "conform": "resumeproof.evidence.report.campaign",
    }
)
"""The module that makes a kind's page: its `page(receipt)` returns a `Page`."""


def render(receipt: Mapping[str, Any]) -> str:
    """The page of a receipt file, which has the shape of its schema; the same bytes each time."""
    from resumeproof.evidence.report.page import rendered

    return rendered(import_module(_PAGES[receipt["kind"]]).page(receipt))
