"""What resumes come to is opened afresh by a life of its own, once for equal bytes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from resumeproof.proof.conform import conform
from resumeproof.proof.context import Context

INPUTS = ["a", "b"]
POINTS = 2 * len(INPUTS)
UNDISTURBED = 4 + 1
"""Two runs, each opened afresh, and the life that the prefixes are shared from."""
SAMPLED = 2
"""One crash point is carried out in full: a life that dies, and one that resumes.

Where that leaves other bytes, it is carried out so once more.
"""


class Logged:
    """Notes below `place`, where no proof looks, that a life opened it."""

    def __init__(self, ctx: Context, place: Path) -> None:
        self.ctx = ctx
        self.path = ctx.directory / "done"
        with place.open("a") as log:
            log.write("opened\n")

    def done(self) -> list[str]:
        return self.path.read_text().split() if self.path.exists() else []

    def step(self, item: str) -> None:
        if item in self.done():
            return
        if self.ctx.lookup(item) is None:
            self.ctx.effect("charge", item, key=item)
        with self.path.open("a") as out:
            out.write(f"{item}\n")

    def state(self) -> Any:
        return self.done()


class Varied(Logged):
    """Notes how often it was resumed: no two ends are the same, and each state is."""

    def __init__(self, ctx: Context, place: Path) -> None:
        super().__init__(ctx, place)
        with (ctx.directory / "opened").open("a") as out:
            out.write(f"{len(place.read_text())}\n")


@pytest.mark.parametrize(
    ("agent", "dedupe", "sampled", "reread"),
    [
        pytest.param(Logged, True, SAMPLED, 1, id="equal ends"),
        pytest.param(Varied, True, 2 * SAMPLED, POINTS + 2, id="ends of other bytes"),
        pytest.param(Logged, False, SAMPLED, POINTS + 1, id="no dedupe"),
    ],
)
def test_equal_ends_are_opened_afresh_once(
    agent: Callable[[Context, Path], Logged],
    dedupe: bool,
    sampled: int,
    reread: int,
    tmp_path: Path,
) -> None:
    log = tmp_path / "log"
    report = conform(
        lambda ctx: agent(ctx, log), INPUTS, isolation="process", jobs=1, dedupe=dedupe
    )
    assert (report.passed, report.shared_prefixes, report.certificate.resumed) == (
        True,
        True,
        POINTS,
    ), str(report)
    opened = len(log.read_text().splitlines())
    # The sample's ends are among those that are re-read.
    assert opened - UNDISTURBED - POINTS - sampled == reread
