"""A report as a browser would read it: its elements in their order, and the text in them."""

from __future__ import annotations

from html.parser import HTMLParser
from xml.etree.ElementTree import Element, TreeBuilder

VOID = frozenset({"link", "meta"})


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.builder = TreeBuilder()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.builder.start(tag, {name: value or "" for name, value in attrs})
        if tag in VOID:
            self.builder.end(tag)
        else:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        self.builder.end(tag)

    def handle_data(self, data: str) -> None:
        if self.open:
            self.builder.data(data)


def read(page: str) -> Element:
    """The tree of a page. Fails where its elements do not nest."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader.builder.close()


def text_of(element: Element) -> str:
    """All text in an element, with its blanks as they are."""
    return "".join(element.itertext())


def of_class(root: Element, name: str) -> list[Element]:
    """Every element that has a class, in order."""
    return [each for each in root.iter() if name in each.get("class", "").split()]
