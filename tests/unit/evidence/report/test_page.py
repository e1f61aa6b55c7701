"""The page itself: nothing is loaded, nothing foreign runs, and everybody can read it."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from itertools import product

import pytest

from resumeproof.evidence.report.page import (
    Page,
    Tone,
    badge,
    packaged,
    rendered,
    section,
    table,
)
from tests.unit.evidence.report.reading import of_class, read, text_of

PAGE = Page("a kind", "A title", Tone.DOUBT, "The verdict.", [section("One", "text", id_="one")])


def hashed(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_the_policy_permits_its_own_style_and_nothing_else() -> None:
    root = read(rendered(PAGE))
    (style,) = root.iter("style")
    (policy,) = (each.get("content", "") for each in root.iter("meta") if each.get("http-equiv"))
    assert policy.split("; ") == [
        "default-src 'none'",
        f"style-src {hashed(text_of(style))}",
        "script-src 'none'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]


def test_nothing_in_it_leads_elsewhere() -> None:
    root = read(rendered(PAGE))
    leads = [
        value
        for each in root.iter()
        for name, value in each.items()
        if name in ("href", "src", "xlink:href", "action", "style") or name.startswith("on")
    ]
    assert leads == ["data:,", "#main"]
    assert not re.search(r"url\(|@import|https?:", rendered(PAGE))


def test_its_first_words_are_the_verdict_with_the_shape_of_its_tone() -> None:
    root = read(rendered(PAGE))
    (title,) = root.iter("h1")
    (sign,) = of_class(title, "sign")
    assert (text_of(title), sign.get("class")) == ("The verdict.", "sign doubt")
    assert root.get("lang") == "en"
    assert [text_of(each) for each in root.iter("title")] == ["A title \u2013 resumeproof"]


def test_each_tone_has_a_shape_of_its_own() -> None:
    shapes = {badge(tone, "x")[0][0].get("d") for tone in Tone}
    assert len(shapes) == len(Tone)


def test_a_section_is_named_by_its_heading() -> None:
    made = section("One", "text", id_="one")
    assert made.get("aria-labelledby") == made[0].get("id") == "one-heading"


def test_a_table_says_what_its_cells_are_of() -> None:
    made = table("What", ("Name", "Figure"), [("a", "1"), ("b", "2")])
    assert [text_of(each) for each in made.iter("caption")] == ["What"]
    assert [(each.get("scope"), text_of(each)) for each in made.iter("th")] == [
        ("col", "Name"), ("col", "Figure"), ("row", "a"), ("row", "b"),
    ]  # fmt: skip
    assert [each.get("data-column") for each in made.iter("td")] == ["Figure", "Figure"]


# -- contrast: Web Content Accessibility Guidelines 2.2, success criterion 1.4.3, level AA -------


def schemes() -> Mapping[str, Mapping[str, str]]:
    light, dark = packaged("colours.css").split("@media", 1)
    found = {
        name: dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", text))
        for name, text in (("light", light), ("dark", dark))
    }
    assert found["light"].keys() == found["dark"].keys()
    return found


def luminance(colour: str) -> float:
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    darker, lighter = sorted((luminance(first), luminance(second)))
    return (lighter + 0.05) / (darker + 0.05)


WORDS = [
    *product(("ink", "muted", "journal", "process", "ledger"), ("paper", "raised")),
    *product(("good", "doubt", "bad"), ("paper", "raised")),
    *((tone, f"{tone}-wash") for tone in ("good", "doubt", "bad")),
    *product(("ink",), ("good-wash", "doubt-wash", "bad-wash")),
    ("paper", "journal"),
]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("words", "ground"), WORDS, ids=lambda name: str(name))
def test_words_stand_out_from_their_ground(scheme: str, words: str, ground: str) -> None:
    colours = schemes()[scheme]
    assert contrast(colours[words], colours[ground]) >= 4.5
