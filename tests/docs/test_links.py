"""The link checker: which links it follows, and which it reports."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.links import broken_links

LINKS = {
    "a file": ("[a](other.md)", []),
    "a heading": ("[a](other.md#exit-status-of-resumeproof)", []),
    "a heading of its own": ("# Its own\n\n[a](#its-own)", []),
    "elsewhere": ("[a](https://example.org/nowhere)", []),
    "code": ("```text\n[a](missing.md)\n```\n", []),
    "no such file": ("[a](missing.md)", ["missing.md"]),
    "no such heading": ("[a](other.md#missing)", ["other.md#missing"]),
    "no such heading of its own": ("[a](#missing)", ["#missing"]),
}


@pytest.mark.parametrize(("document", "broken"), LINKS.values(), ids=LINKS)
def test_broken_links_are_reported(document: str, broken: list[str], tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("## Exit status of `resumeproof`\n")
    path = tmp_path / "document.md"
    path.write_text(document)
    assert broken_links(path) == broken
