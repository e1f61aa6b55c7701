"""Follow the relative links of Markdown documents, as far as the heading that they name."""

from __future__ import annotations

import re
from pathlib import Path

FENCED = re.compile(r"^ *```.*?^ *```$", re.M | re.S)
LINK = re.compile(r"\]\((?P<target>[^)\s]+)\)")
HEADING = re.compile(r"^#+ (?P<title>.+)$", re.M)
ELSEWHERE = ("http:", "https:", "mailto:")


def anchors(document: str) -> set[str]:
    """The anchors of a document's headings, as GitHub spells them."""
    titles = (match["title"].strip().lower() for match in HEADING.finditer(document))
    return {re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in titles}


def broken_links(path: Path) -> list[str]:
    """The relative links of a document that lead to no file, or to no heading of it."""
    document = FENCED.sub("", path.read_text(encoding="utf-8"))
    broken = []
    for link in LINK.finditer(document):
        if link["target"].startswith(ELSEWHERE):
            continue
        name, _, anchor = link["target"].partition("#")
        target = path.parent / name if name else path
        if not target.exists() or (
            anchor and anchor not in anchors(FENCED.sub("", target.read_text(encoding="utf-8")))
        ):
            broken.append(link["target"])
    return broken
