"""One more shape takes one file, and no line of the harness: here it is."""

from __future__ import annotations

import pytest

from resumeproof.domain.command import Fail, State, program
from resumeproof.domain.verdict import FindingKind
from resumeproof.proof.progress import Silence
from resumeproof.proof.shapes.disturbance import Mode
from resumeproof.proof.shapes.run import Cell, prove_cell
from resumeproof.proof.shapes.shape import Ending, Shape, action, post
from resumeproof.proof.shapes.world import World
from resumeproof.stores.protocols import JournalFormat

pytestmark = pytest.mark.crash


def _fail(_: State) -> Fail:
    return Fail("out of stock")


def _lay_out(world: World) -> None:
    world.create("order", "failing", action(order=1))


def _live(world: World) -> None:
    world.drive()


def _shape(*, ending: str) -> Shape:
    return Shape(
        name="fail_after_effect",
        about="a workflow that fails after an effect fails once, and keeps the effect",
        programs=(program("failing", 1, "act", act=post("act", "fail", part=1), fail=_fail),),
        lay_out=_lay_out,
        live=_live,
        endings={"order": Ending(ending)},
    )


@pytest.mark.parametrize(
    ("journal_format", "depth"),
    [
        (JournalFormat.SQLITE, 2),
        (JournalFormat.JSON, 1),
        # What a second death finds hangs on the shape, which is the same.
        pytest.param(JournalFormat.JSON, 2, marks=pytest.mark.campaign),
    ],
)
def test_an_eighth_shape(journal_format: JournalFormat, depth: int) -> None:
    cell = Cell(_shape(ending="failed"), journal_format, Mode.SIGKILL)
    report = prove_cell(cell, depth=depth, jobs=1, progress=Silence())
    assert (report.passed, report.certificate.adds_up) == (True, True), str(report)


def test_a_shape_that_does_not_come_to_its_ending_is_told_of_in_its_baseline() -> None:
    cell = Cell(_shape(ending="completed"), JournalFormat.SQLITE, Mode.SIGKILL)
    report = prove_cell(cell, depth=1, jobs=1, progress=Silence())
    found = {(finding.kind, finding.plan) for finding in report.findings}
    assert (FindingKind.RESUME_DIVERGED, "baseline") in found, str(report)
