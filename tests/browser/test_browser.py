"""Without a browser the tests are skipped with a clear word, or fail where one is required."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser.conftest import executable


@pytest.fixture
def _no_browser(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("RESUMEPROOF_BROWSER", raising=False)


@pytest.mark.usefixtures("_no_browser")
def test_a_missing_browser_skips_the_tests() -> None:
    with pytest.raises(pytest.skip.Exception, match="apt-get install chromium"):
        executable()


@pytest.mark.usefixtures("_no_browser")
def test_a_missing_browser_fails_where_it_is_required(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RESUMEPROOF_BROWSER", "required")
    with pytest.raises(pytest.fail.Exception, match="apt-get install chromium"):
        executable()
