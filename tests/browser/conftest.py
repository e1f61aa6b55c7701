"""A browser for the reports, which opens files and nothing else.

It is Debian's Chromium, driven by Playwright. Where it is not installed the tests are skipped, but
fail where RESUMEPROOF_BROWSER says "required".
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from importlib import resources
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import Browser, sync_playwright

from benchmark.campaign import campaign
from tests.browser import reports
from tests.browser.look import Look, opened
from tests.browser.reports import Written, write

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
Opens = Callable[..., AbstractContextManager[Look]]
REPORTS = {
    "demo": reports.demo,
    "passing proof": reports.passing,
    "failing proof": reports.failing,
    "losing proof": reports.losing,
    "shapes": reports.shapes,
    "exploration": reports.exploration,
    "older proof": reports.older,
    "hostile demo": reports.hostile_demo,
    "hostile proof": reports.hostile_proof,
    "campaign": campaign,
}


@pytest.fixture(autouse=True)
def nothing_left_behind(browser: Browser) -> Iterator[None]:
    """Instead of that of all tests: the browser's processes come and go, its pages are closed."""
    yield
    assert browser.contexts == []


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """One browser for the tests of this folder, and no process of it afterwards."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable(), args=list(FLAGS))
        yield chromium
        chromium.close()
    left = psutil.Process().children(recursive=True)
    assert [process.name() for process in left if "chrom" in process.name()] == []


def executable() -> str:
    """Where the browser is."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is not None:
        return found
    told = "there is no Chromium here: apt-get install chromium"
    if os.environ.get("RESUMEPROOF_BROWSER") == "required":
        pytest.fail(told)
    pytest.skip(told)


@pytest.fixture(scope="package")
def written() -> dict[str, Written]:
    """Reports that were written already, by name."""
    return {}


@pytest.fixture
def report(
    request: pytest.FixtureRequest,
    written: dict[str, Written],
    tmp_path_factory: pytest.TempPathFactory,
) -> Written:
    """The report that a test names; each is made once."""
    name: str = request.param
    if name not in written:
        place = tmp_path_factory.mktemp("reports") / name.replace(" ", "-")
        place.mkdir()
        written[name] = write(REPORTS[name](), place / "report.html")
    return written[name]


@pytest.fixture
def look(browser: Browser) -> Opens:
    return partial(opened, browser)


@pytest.fixture(scope="package")
def axe() -> str:
    """Deque's checker, which the package brings along."""
    return (resources.files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")


@pytest.fixture
def screenshots() -> Path | None:
    """Where people want to see what the tests saw, if they say so."""
    named = os.environ.get("RESUMEPROOF_SCREENSHOTS")
    return None if named is None else Path(named)
