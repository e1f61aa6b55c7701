"""HTML and SVG as trees: whatever somebody else wrote is text in them, by construction.

Text is shown as everywhere: what is not printable is escaped, and what is too long is cut, with its
length said. Only what `verbatim` takes reaches the page as it is, and that is written here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Final
from xml.etree.ElementTree import Element, tostring

from resumeproof.domain.printable import shown

DOCTYPE: Final = "<!DOCTYPE html>"
DISPLAYED_AT_MOST: Final = 2_000
"""Characters of one text; a page holds what people can read, and the receipt file the rest."""
BRIEFLY_AT_MOST: Final = 100
"""Characters of a name in a heading or a sentence, which would drown in more."""

Node = Element | str
Attribute = str | int | float | None


def element(tag: str, /, *children: Node, **attributes: Attribute) -> Element:
    """An element with its children in order.

    In a name `_` stands for `-`, and one at its end is dropped (`class_`, `for_`). An attribute
    that is None is left out; numbers are written as `number` writes them.
    """
    made = Element(tag)
    for name, value in attributes.items():
        if value is not None:
            made.set(name.rstrip("_").replace("_", "-"), _attribute(value))
    return extended(made, *children)


def extended(parent: Element, *children: Node) -> Element:
    """The element itself, with more children at its end."""
    for child in children:
        if isinstance(child, str):
            _append_text(parent, displayed(child))
        else:
            parent.append(child)
    return parent


def displayed(text: str, at_most: int = DISPLAYED_AT_MOST) -> str:
    """A text as a page shows it: harmless, on one line, and cut where it is too long."""
    if len(text) <= at_most:
        return shown(text)
    return f"{shown(text[:at_most])}\N{HORIZONTAL ELLIPSIS} [{len(text):,} characters]"


def brief(text: str) -> str:
    """A name as headings and sentences hold it."""
    return displayed(text, BRIEFLY_AT_MOST)


def number(value: float) -> str:
    """A length as SVG takes it: at most two decimals, and none that say nothing."""
    # Plus zero: what rounds to nothing has no sign.
    return f"{round(value, 2) + 0:.2f}".rstrip("0").rstrip(".")


def verbatim(tag: str, text: str, **attributes: Attribute) -> Element:
    """A `style` or `script` of our own, whose text HTML does not escape.

    Raises ValueError for one that would end its own element.
    """
    if re.search(r"</|<!--", text):
        raise ValueError(f"a {tag} must not hold what ends it")
    made = element(tag, **attributes)
    made.text = text
    return made


def data(identifier: str, document: Any) -> Element:
    """A document for scripts of the page: JSON in ASCII, in which no markup can begin."""
    text = json.dumps(document, separators=(",", ":"), sort_keys=True).replace("<", "\\u003c")
    return verbatim("script", text, id=identifier, type="application/json")


def html(root: Element) -> str:
    """The page as a document."""
    return f"{DOCTYPE}\n{tostring(root, encoding='unicode', method='html')}\n"


def svg(root: Element) -> str:
    """A picture as a file of its own."""
    root.set("xmlns", "http://www.w3.org/2000/svg")
    return f"{tostring(root, encoding='unicode')}\n"


def counted(number_of: int, noun: str) -> str:
    """`1 effect`, `2 effects`, `no effect`."""
    return f"{number_of or 'no'} {noun}" + ("s" if number_of > 1 else "")


def joined(parts: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


def _attribute(value: str | float) -> str:
    return displayed(value) if isinstance(value, str) else number(value)


def _append_text(parent: Element, text: str) -> None:
    if len(parent):
        parent[-1].tail = (parent[-1].tail or "") + text
    else:
        parent.text = (parent.text or "") + text
