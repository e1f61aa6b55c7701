"""The page that every report is: one file, without a network, for any screen, printer and reader.

Its first screen is the verdict in one sentence, what it rests on, and what was proved and what not.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib import resources
from typing import Final
from xml.etree.ElementTree import Element

from resumeproof.evidence.report.markup import Node, element, html, verbatim

STYLES: Final = ("colours.css", "page.css", "picture.css")
"""What every page is drawn with, of the files beside this one."""


class Tone(StrEnum):
    """What something comes to. Each has a shape of its own: colour is never the only sign."""

    GOOD = "good"
    DOUBT = "doubt"
    BAD = "bad"
    PLAIN = "plain"


_SHAPES: Final = {
    Tone.GOOD: "M3.5 8.5l3 3 6-7",
    Tone.DOUBT: "M5.5 6a2.5 2.5 0 1 1 3.6 2.2c-.8.4-1.1.9-1.1 1.8m0 2v.6",
    Tone.BAD: "M4 4l8 8m0-8l-8 8",
    Tone.PLAIN: "M4 8h8",
}


@dataclass(frozen=True, slots=True)
class Page:
    """What a report says. `kind` is the receipt's, `verdict` one sentence.

    `scripts` and `styles` are files beside this one, besides those that every page has.
    """

    kind: str
    title: str
    tone: Tone
    verdict: str
    sections: Sequence[Element]
    scripts: Sequence[str] = ()
    styles: Sequence[str] = ()


def rendered(page: Page) -> str:
    """The page as one self-contained HTML document."""
    style = "\n".join(packaged(name) for name in (*STYLES, *page.styles))
    script = "\n".join(packaged(name) for name in page.scripts)
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", http_equiv="Content-Security-Policy", content=_policy(style, script)),
        element("meta", name="color-scheme", content="light dark"),
        element("link", rel="icon", href="data:,"),
        element("title", f"{page.title} \N{EN DASH} resumeproof"),
        verbatim("style", style),
    )
    main = element("main", _masthead(page), *page.sections, id="main")
    body = element("body", element("a", "Skip to the report", class_="skip", href="#main"), main)
    if script:
        body.append(verbatim("script", script))
    return html(element("html", head, body, lang="en"))


def section(title: str, *children: Node, id_: str, lead: str | None = None) -> Element:
    """A part of the page under its own heading, which names it for a screen reader."""
    heading = element("h2", title, id=f"{id_}-heading")
    made = element("section", heading, id=id_, aria_labelledby=f"{id_}-heading")
    if lead is not None:
        made.append(element("p", lead, class_="lead"))
    made.extend(element("p", child) if isinstance(child, str) else child for child in children)
    return made


def sign(tone: Tone) -> Element:
    """The shape of a tone; whoever cannot see it reads the words beside it."""
    return element(
        "svg",
        element("path", d=_SHAPES[tone]),
        class_=f"sign {tone}",
        viewBox="0 0 16 16",
        width=16,
        height=16,
        aria_hidden="true",
    )


def badge(tone: Tone, text: str) -> Element:
    """A few words with their tone's shape."""
    return element("span", sign(tone), text, class_=f"badge {tone}")


def table(caption: str, head: Sequence[str], rows: Sequence[Sequence[Node]]) -> Element:
    """A table whose first column names its rows. On a narrow screen each row stands by itself."""
    made = element("table", element("caption", caption))
    columns = [element("th", name, scope="col") for name in head]
    made.append(element("thead", element("tr", *columns)))
    body = element("tbody")
    for first, *others in rows:
        row = element("tr", element("th", first, scope="row"))
        row.extend(
            element("td", cell, data_column=name)
            for name, cell in zip(head[1:], others, strict=True)
        )
        body.append(row)
    made.append(body)
    return made


def figures(pairs: Sequence[tuple[str, Node, str]]) -> Element:
    """A certificate: a name, a figure, and what it says, for each."""
    return element(
        "dl",
        *(
            element(
                "div",
                element("dt", name),
                element("dd", figure, class_="figure"),
                element("dd", told, class_="told"),
            )
            for name, figure, told in pairs
        ),
        class_="figures",
    )


def proved(proofs: Sequence[Node], limits: Sequence[Node]) -> Element:
    """What was proved and what was not, side by side."""
    return element(
        "div",
        _listed("What was proved", Tone.GOOD, proofs),
        _listed("What was not", Tone.PLAIN, limits),
        class_="proved",
    )


def packaged(name: str) -> str:
    """The text of a file beside this module."""
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _masthead(page: Page) -> Element:
    return element(
        "header",
        element("p", "resumeproof", element("span", page.kind), class_="brand"),
        element("h1", sign(page.tone), element("span", page.verdict), class_=f"{page.tone}"),
    )


def _listed(title: str, tone: Tone, items: Sequence[Node]) -> Element:
    return element(
        "div",
        element("h3", title),
        element("ul", *(element("li", sign(tone), element("span", item)) for item in items)),
    )


def _policy(style: str, script: str) -> str:
    """Content Security Policy: nothing is loaded, and nothing runs but what is written here."""
    scripts = f"'sha256-{_digest(script)}'" if script else "'none'"
    return (
        f"default-src 'none'; style-src 'sha256-{_digest(style)}'; script-src {scripts}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
