"""What holds for every report: it is one quiet file that fits its window and that all can read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser.conftest import REPORTS, Opens
from tests.browser.look import WIDTHS, Scheme
from tests.browser.reports import Written

every_report = pytest.mark.parametrize("report", REPORTS, indirect=True)

WINDOWS: tuple[tuple[int, Scheme], ...] = ((390, "dark"), (1440, "light"))
ALIKE = (
    "passing proof",
    "losing proof",
    "older proof",
    "hostile demo",
    "hostile proof",
    "exploration",
    "campaign",
)
"""What the checker sees in one window only: it has seen their like in both."""

UNMEASURED = "hostile-demo"
"""Its pictures were drawn where nobody could measure letters; what is too wide is clipped."""

OVERLAPS = """() => {
  const seen = (element) => {
    const box = element.getBoundingClientRect();
    return box.width > 0 && box.height > 0;
  };
  const meet = (one, other) => Math.min(one.right, other.right) - Math.max(one.left, other.left) > 1
    && Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 1;
  const found = [];
  const compare = (elements, name) => {
    const boxes = elements.filter(seen).map((it) => [it, it.getBoundingClientRect()]);
    boxes.forEach(([one, box], place) => boxes.slice(place + 1).forEach(([other, another]) => {
      if (meet(box, another)) found.push(`${name}: ${one.textContent} / ${other.textContent}`);
    }));
  };
  for (const picture of document.querySelectorAll("svg.picture")) {
    compare([...picture.querySelectorAll("text")], "words of a picture");
  }
  const blocks = "main, section, #scenario, dl, .proved, .facts, .line";
  for (const block of document.querySelectorAll(blocks)) {
    compare([...block.children].filter((child) => getComputedStyle(child).position !== "absolute"),
      block.id || block.className || block.tagName);
  }
  return found;
}"""

OUTSIDE = """() => [...document.querySelectorAll("svg.picture")].flatMap((picture) => {
  const frame = picture.getBoundingClientRect();
  return [...picture.querySelectorAll("text")].filter((text) => {
    const box = text.getBoundingClientRect();
    return box.width > 0 && (box.left < frame.left - 1 || box.right > frame.right + 1);
  }).map((text) => text.textContent);
})"""


@every_report
@pytest.mark.parametrize("width", WIDTHS)
def test_it_fits_its_window(
    report: Written, width: int, look: Opens, screenshots: Path | None
) -> None:
    with look(report.page, width=width) as seen:
        page = seen.page
        scrolled = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert (scrolled, page.evaluate(OVERLAPS)) == (0, [])
        if report.page.parent.name != UNMEASURED:
            assert page.evaluate(OUTSIDE) == []
        if screenshots is not None:
            name = f"{report.page.parent.name}-{width}.png"
            page.screenshot(path=screenshots / name, full_page=True)


CHECKED: list[tuple[str, int, Scheme]] = [
    (name, *window)
    for number, name in enumerate(REPORTS)
    for window in WINDOWS[number % 2 :: len(WINDOWS) if name in ALIKE else 1]
]


@pytest.mark.parametrize(("report", "width", "scheme"), CHECKED, indirect=["report"])
def test_a_checker_of_accessibility_finds_nothing_serious(
    report: Written, width: int, scheme: Scheme, look: Opens, axe: str
) -> None:
    with look(report.page, width=width, scheme=scheme) as seen:
        seen.page.evaluate(axe)
        result = seen.page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
        assert len(result["passes"]) > 10
        assert [
            (found["id"], [node["html"] for node in found["nodes"]][:3])
            for found in result["violations"]
        ] == []


@every_report
def test_it_is_read_without_scripts(report: Written, look: Opens) -> None:
    with look(report.page, scripts=False) as seen:
        sections = seen.page.locator("h2").all_text_contents()
        assert (seen.page.locator("h1").count(), len(sections) >= 2) == (1, True)


@every_report
def test_no_picture_of_it_is_without_words(report: Written, look: Opens) -> None:
    with look(report.page) as seen:
        unnamed = seen.page.evaluate(
            """() => [...document.querySelectorAll("svg:not([aria-hidden='true'])")].filter((svg) =>
                svg.getAttribute("role") !== "img"
                || !["title", "desc"].every((name) => svg.querySelector(name)?.textContent)
            ).map((svg) => svg.outerHTML.slice(0, 200))"""
        )
        assert unnamed == []


@pytest.mark.parametrize("report", ["hostile demo", "hostile proof"], indirect=True)
def test_what_others_wrote_is_text(report: Written, look: Opens) -> None:
    with look(report.page) as seen:
        page = seen.page
        assert page.evaluate("[window.harmed, document.images.length]") == [None, 0]
        text = page.locator("body").inner_text()
        assert "<img src=x onerror='window.harmed=1'>\"'`&amp;</script>" in text
        source = report.page.read_text(encoding="utf-8")
        strange = [one for one in ("\x1b", "\x00", "\u202e") if one in source]
        assert (strange, len(source) < 1_500_000) == ([], True)
