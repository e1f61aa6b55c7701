"""What a report weighs and how soon it answers, in a browser that opens it from the disk."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Final

from benchmark.campaign import campaign
from benchmark.measure import Bound, Finding, Note
from resumeproof.evidence.report import render

SCENARIOS: Final = 10_000
BYTES_AT_MOST: Final = 5_000_000
MILLISECONDS_AT_MOST: Final = 1_000.0

# The page's scripts have run by then, and what is in sight is drawn.
_INTERACTIVE = "performance.getEntriesByType('navigation')[0].domComplete"


def section(directory: Path, *, quick: bool) -> Iterator[Finding]:
    """Open the report of a large campaign again and again."""
    page = directory / "report.html"
    page.write_text(render(campaign(SCENARIOS)), encoding="utf-8")
    name = f"report of {SCENARIOS:,} scenarios"
    yield Bound(f"{name}, its size", page.stat().st_size, BYTES_AT_MOST, "bytes")
    browser = shutil.which("chromium")
    if browser is None:
        yield Note(f"{name}, until it answers", "no chromium")
        return
    times = _times(browser, page, 3 if quick else 15)
    yield Bound(f"{name}, until it answers", median(times), MILLISECONDS_AT_MOST, "ms")


def _times(browser: str, page: Path, repeats: int) -> list[float]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        times = []
        for _ in range(repeats):
            window = chromium.new_page()
            window.goto(page.as_uri())
            window.locator(".cell").first.click()
            times.append(float(window.evaluate(_INTERACTIVE)))
            window.close()
        chromium.close()
    return times
