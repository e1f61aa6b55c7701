"""The seven shapes on both journals: disturbed at every persistence call, and resumed to their end.

The gate's part of what `scripts/campaign` does as a whole.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from resumeproof.crash.plan import CrashPlan
from resumeproof.proof.progress import Silence
from resumeproof.proof.shapes import SHAPES
from resumeproof.proof.shapes.disturbance import Mode
from resumeproof.proof.shapes.run import Cell, prove_cell
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

STOPS: Mapping[str, int] = {
    "effect_chain": 12,
    "tool_approval": 10,
    "event_fanout": 19,
    "wait_until": 12,
    "subworkflow": 17,
    "steer_drain": 16,
    "entity_visit": 33,
}
"""Of these, how many are outside of a transaction: one who stops in it keeps everybody waiting."""


def test_every_shape_is_counted() -> None:
    assert set(CRASH_POINTS) == set(STOPS) == set(SHAPES)


DISTURBED: Mapping[Mode, JournalFormat] = {
    Mode.EXIT86: JournalFormat.SQLITE,
    Mode.ENOSPC: JournalFormat.JSON,
    Mode.EIO: JournalFormat.SQLITE,
    Mode.RIVAL: JournalFormat.SQLITE,
    Mode.STOP: JournalFormat.JSON,
}
"""What the gate tries in one shape beside death by SIGKILL, and on which journal: a mode does not
know which it disturbs. `test_a_shape_survives_one_more_in_its_resume` has each on both, and
`scripts/campaign` all of them in all shapes."""

ON_JSON = ("effect_chain", "tool_approval", "wait_until", "subworkflow")
"""The shapes that the gate kills at every call on a JSON journal, too. The tables of crash points,
which it makes anew, have what that journal is between a record and its save in all shapes."""

CELLS = [
    *((name, Mode.SIGKILL, JournalFormat.SQLITE) for name in SHAPES),
    *((name, Mode.SIGKILL, JournalFormat.JSON) for name in ON_JSON),
    *(("effect_chain", mode, journal_format) for mode, journal_format in DISTURBED.items()),
]
LEFT_OUT = [(name, Mode.SIGKILL, JournalFormat.JSON) for name in SHAPES if name not in ON_JSON]


def test_every_mode_is_tried() -> None:
    assert {mode for _, mode, _ in CELLS} == set(PLANS) | {Mode.SIGKILL} == set(Mode)


@pytest.mark.parametrize(
    ("name", "mode", "journal_format"),
    [*CELLS, *(pytest.param(*cell, marks=pytest.mark.campaign) for cell in LEFT_OUT)],
)
def test_a_shape_survives_what_happens_at_every_call(
    name: str, mode: Mode, journal_format: JournalFormat
) -> None:
    report = prove_cell(
        Cell(SHAPES[name], journal_format, mode), depth=1, jobs=1, progress=Silence()
    )
    kills = (STOPS if mode is Mode.STOP else CRASH_POINTS)[name]
    certificate = report.certificate
    assert (
        [str(finding) for finding in report.findings],
        report.invalid,
        report.nondeterminism,
        report.unshareable,
        (certificate.enumerated, certificate.verified, certificate.judged),
    ) == ([], [], None, None, (kills, kills, kills))


PLANS: Mapping[Mode, str] = {
    Mode.EXIT86: "save:after#5;append:before#1",
    Mode.ENOSPC: "save:after#5;append:before#1",
    Mode.EIO: "commit:before#5;tool:after#1",
    # Whoever comes after two whole drivers finds nothing to do.
    Mode.RIVAL: "append:after#5",
    Mode.STOP: "tool:before#2",
}


@pytest.mark.parametrize("journal_format", JournalFormat)
@pytest.mark.parametrize("mode", PLANS)
def test_a_shape_survives_one_more_in_its_resume(mode: Mode, journal_format: JournalFormat) -> None:
    report = prove_cell(
        Cell(SHAPES["steer_drain"], journal_format, mode),
        depth=2,
        jobs=1,
        progress=Silence(),
        plan=CrashPlan.parse(PLANS[mode]),
    )
    told = report.findings, report.invalid, report.certificate.verified
    assert told == ([], [], 1), str(report)


TWICE = (Mode.SIGKILL, Mode.EXIT86, Mode.ENOSPC)
"""What a resume bears as well. A driver does not tell one error from another; and after two whole
drivers there is nothing left to do."""


@pytest.mark.campaign
@pytest.mark.parametrize("journal_format", JournalFormat)
@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_survives_all(name: str, mode: Mode, journal_format: JournalFormat) -> None:
    depth = 2 if mode in TWICE else 1
    report = prove_cell(
        Cell(SHAPES[name], journal_format, mode), depth=depth, jobs=1, progress=Silence()
    )
    assert (report.passed, report.certificate.adds_up) == (True, True), str(report)
