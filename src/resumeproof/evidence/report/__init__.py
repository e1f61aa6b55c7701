"""The report: a receipt file as one HTML page, made from that file alone."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from resumeproof.errors import EvidenceBroken
from resumeproof.evidence.files import write_durably

REPORT_NAME: Final = "report.html"

_CAMPAIGN: Final = "resumeproof.evidence.report.campaign"
_PAGES: Final = MappingProxyType(
    {
        "demo": "resumeproof.evidence.report.demo",
        "conform": _CAMPAIGN,
        "shapes": _CAMPAIGN,
        "explore": _CAMPAIGN,
    }
)
"""The module that makes a kind's page: its `page(receipt)` returns a `Page`."""


def render(receipt: Mapping[str, Any], source: str = "receipt.json") -> str:
    """The page of a receipt file, which has the shape of its schema; the same bytes each time.

    Raises `EvidenceBroken`, of `source`, where its facts are none that this package would write.
    """
    from resumeproof.evidence.report.page import rendered

    try:
        return rendered(import_module(_PAGES[receipt["kind"]]).page(receipt))
    except (LookupError, TypeError, ValueError) as error:
        raise EvidenceBroken(source, "what it tells of", f"malformed facts ({error!r})") from error


def write_report(path: Path, receipt: Mapping[str, Any], source: str = "receipt.json") -> None:
    """Write the page whole or not at all. Raises as `render` does, and `StoreUnavailable`."""
    write_durably(path, render(receipt, source))
