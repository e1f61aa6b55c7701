"""The seven shapes on both journals: killed at every persistence call, and resumed to their end."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from resumeproof.crash.kill import Kill
from resumeproof.crash.persistence import PERSISTENCE_BOUNDARIES
from resumeproof.domain.conformance import ConformanceReport
from resumeproof.proof.explore import prove
from resumeproof.proof.progress import Silence
from resumeproof.proof.shapes import SHAPES, Shape
from resumeproof.proof.shapes.subject import ShapeSubject
from resumeproof.proof.share import Settings
from resumeproof.stores.protocols import JournalFormat

pytestmark = pytest.mark.crash

CRASH_POINTS: Mapping[str, int] = {
    "effect_chain": 46,
    "tool_approval": 44,
    "event_fanout": 100,
    "wait_until": 60,
    "subworkflow": 70,
    "steer_drain": 84,
    "entity_visit": 168,
}
"""How often an undisturbed life comes to a persistence call or a tool, before it and after it."""


def proved(shape: Shape, journal_format: JournalFormat, *, depth: int = 1) -> ConformanceReport:
    settings = Settings("run", Kill.SIGKILL, PERSISTENCE_BOUNDARIES, depth, 30.0, dedupe=True)
    return prove(ShapeSubject(shape, journal_format), settings, jobs=1, progress=Silence())


def test_every_shape_is_counted() -> None:
    assert set(CRASH_POINTS) == set(SHAPES)


@pytest.mark.parametrize("journal_format", JournalFormat)
@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_survives_a_death_at_every_call(name: str, journal_format: JournalFormat) -> None:
    report = proved(SHAPES[name], journal_format)
    kills = CRASH_POINTS[name]
    certificate = report.certificate
    assert (
        [str(finding) for finding in report.findings],
        report.invalid,
        report.nondeterminism,
        report.unshareable,
        (certificate.enumerated, certificate.verified, certificate.judged),
    ) == ([], [], None, None, (kills, kills, kills))
