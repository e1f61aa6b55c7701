"""The pictures of a report as files of their own, for pages that are not ours to lay out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from xml.etree.ElementTree import Element

from resumeproof.evidence.report.cases import cases
from resumeproof.evidence.report.crash import WIDE, crash_picture
from resumeproof.evidence.report.knowledge import not_asked
from resumeproof.evidence.report.machine import WIDE_MACHINE, machine_picture
from resumeproof.evidence.report.markup import brief, element, svg, verbatim
from resumeproof.evidence.report.page import packaged


def crash_drawings(receipt: Mapping[str, Any]) -> dict[str, str]:
    """What happened to each workflow of a demo's receipt, as SVG, by the workflow's id."""
    drawn = {}
    for case in cases(receipt):
        title = f"What happened to {brief(case.workflow['contract']['name'])}, in order"
        picture = crash_picture(case.rows, title, "crash", WIDE, not_asked(case))
        drawn[case.workflow["id"]] = _file(picture)
    return drawn


def machine_drawing() -> str:
    """The state machine as SVG."""
    return _file(machine_picture((), "The state machine of a workflow", "machine", WIDE_MACHINE))


def _file(picture: Element) -> str:
    """With its own style, which follows the reader's light or dark, and a ground to stand on."""
    style = verbatim("style", packaged("colours.css") + packaged("picture.css"))
    ground = element("rect", width="100%", height="100%", class_="paper")
    picture.insert(2, style)
    picture.insert(3, ground)
    return svg(picture)
