"""Pictures as files of their own."""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import fromstring

from resumeproof.evidence.report.drawings import crash_drawings, machine_drawing

SVG = "{http://www.w3.org/2000/svg}"


def test_each_workflow_has_a_picture_that_brings_its_own_style(demo: dict[str, Any]) -> None:
    drawn = crash_drawings(demo)
    assert list(drawn) == [workflow["id"] for workflow in demo["workflows"]]
    for text in drawn.values():
        root = fromstring(text)
        assert [each.tag.removeprefix(SVG) for each in root][:4] == [
            "title", "desc", "style", "rect",
        ]  # fmt: skip
        assert "prefers-color-scheme: dark" in (root[2].text or "")
        assert "http" not in text.replace("http://www.w3.org/2000/svg", "")


def test_the_machine_alone_bears_no_path() -> None:
    root = fromstring(machine_drawing())
    classes = [each.get("class", "") for each in root.iter(f"{SVG}g")]
    assert classes.count("way") > 10
    assert not [name for name in classes if "taken" in name or "seen" in name]
