"""A store that refuses on the way to an end is heard: it raises, it warns, and it is counted.

Each counter is provoked by a driver of a shape, and told by `resumeproof health` of what the driver
left when it died.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from resumeproof.crash.plan import CrashPlan
from resumeproof.proof.progress import Silence
from resumeproof.proof.shapes import SHAPES
from resumeproof.proof.shapes.disturbance import Mode
from resumeproof.proof.shapes.run import Cell, prove_cell
from resumeproof.proof.shapes.subject import JOURNAL_NAME
from resumeproof.runtime.health import Counter
from resumeproof.stores.protocols import JournalFormat
from tests.cli.desk import Desk

pytestmark = pytest.mark.crash

TERMINAL, OUTCOME, CUT_OFF = Counter
REFUSING = (Mode.ENOSPC, Mode.EIO)
BOTH = tuple(JournalFormat)

Provocation = tuple[tuple[Mode, ...], tuple[JournalFormat, ...], str, int, set[Counter]]
"""In which modes, on which journals, at which call, after which life, and what is counted then."""

# The second record of `effect_chain` is its first claim, the third its first acknowledgement, and
# the eighth its end, which goes into one commit with the third acknowledgement.
PROVOKED: Mapping[str, Provocation] = {
    "the end cannot be appended": (REFUSING, BOTH, "append:before#8", 1, {TERMINAL, OUTCOME}),
    "the end cannot be saved": (REFUSING, BOTH, "save:before#6", 1, {TERMINAL, OUTCOME}),
    "the end cannot be committed": (REFUSING, BOTH, "commit:before#6", 1, {TERMINAL, OUTCOME}),
    "an outcome cannot be appended": (REFUSING, BOTH, "append:before#3", 1, {OUTCOME}),
    "a claim cannot be appended": (REFUSING, BOTH, "append:before#2", 1, set()),
    "a claim is cut off": (
        (Mode.SIGKILL, Mode.EXIT86), (JournalFormat.JSON,), "append:after#2", 2, {CUT_OFF},
    ),
}  # fmt: skip

CASES = [
    pytest.param(mode, journal, plan, life, counted, id=f"{what}, {mode}, {journal}")
    for what, (modes, journals, plan, life, counted) in PROVOKED.items()
    for mode in modes
    for journal in journals
    # A driver does not tell one error from another.
    if mode is not Mode.EIO or plan == "append:before#8"
]


def test_every_counter_is_provoked() -> None:
    assert set().union(*(counted for *_, counted in PROVOKED.values())) == set(Counter)


@pytest.mark.parametrize(("mode", "journal", "plan", "life", "counted"), CASES)
def test_a_failure_is_counted_once_and_shown(
    mode: Mode,
    journal: JournalFormat,
    plan: str,
    life: int,
    counted: set[Counter],
    tmp_path: Path,
) -> None:
    kept = tmp_path / "kept"
    report = prove_cell(
        Cell(SHAPES["effect_chain"], journal, mode),
        depth=1,
        jobs=1,
        progress=Silence(),
        plan=CrashPlan.parse(plan),
        keep=kept,
    )
    left = kept / f"life-{life}"
    shown = Desk(left / "scenario").done("health", "--journal", JOURNAL_NAME)["counters"]
    printed = (left / "output.txt").read_text()
    assert (
        report.passed,
        {name: count for name, count in shown.items() if count},
        {counter for counter in Counter if counter in printed},
    ) == (True, dict.fromkeys(counted, 1), counted), str(report)
