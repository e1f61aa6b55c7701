"""Proves shapes: each on each journal, in each mode."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from resumeproof.crash.plan import CrashPlan
from resumeproof.domain.conformance import ConformanceReport, ProofTerms
from resumeproof.proof.explore import calls_crashed_at, prove
from resumeproof.proof.lives import FORKED
from resumeproof.proof.progress import Progress
from resumeproof.proof.shapes.disturbance import Mode
from resumeproof.proof.shapes.shape import Shape
from resumeproof.proof.shapes.subject import MakeWorld, ShapeSubject
from resumeproof.proof.shapes.world import World
from resumeproof.proof.share import Settings
from resumeproof.stores.protocols import JournalFormat

RUN_ID: Final = "run"
LIFE_TIMEOUT_SECONDS: Final = 30.0


@dataclass(frozen=True)
class Cell:
    """One place in the matrix: a shape, the journal it is on, and what its drivers bear."""

    shape: Shape
    journal_format: JournalFormat
    mode: Mode

    def __str__(self) -> str:
        return f"{self.shape.name} on {self.journal_format}, {self.mode}"


def cells(
    shapes: Sequence[Shape], formats: Sequence[JournalFormat], modes: Sequence[Mode]
) -> Iterator[Cell]:
    """All places of a matrix, shape by shape."""
    for shape in shapes:
        for journal_format in formats:
            for mode in modes:
                yield Cell(shape, journal_format, mode)


def prove_cell(
    cell: Cell,
    *,
    depth: int,
    jobs: int | None,
    progress: Progress,
    plan: CrashPlan | None = None,
    make_world: MakeWorld = World,
    keep: Path | None = None,
) -> ConformanceReport:
    """Prove a shape at every persistence call and tool call, or carry out one plan alone.

    `keep`: where what each life of that one plan leaves is copied to.

    Raises `SubjectFailed` where it fails without a crash.
    """
    settings = Settings(
        run_id=RUN_ID,
        kill=cell.mode.kill,
        boundaries=cell.mode.boundaries,
        depth=depth,
        timeout_seconds=LIFE_TIMEOUT_SECONDS,
        dedupe=True,
        keep=keep,
    )
    subject = ShapeSubject(cell.shape, cell.journal_format, make_world, cell.mode)
    # What a copy that is killed leaves shows nothing of a driver that lives on.
    lives = replace(FORKED, traced=cell.mode.dies_there)
    report = prove(subject, settings, jobs=jobs, progress=progress, plan=plan, lives=lives)
    report.crashes_at = "persistence call"
    report.crash_points = calls_crashed_at(report)
    report.terms = ProofTerms(
        subject=str(cell),
        inputs=(),
        contract=cell.shape.contract,
        run_id=RUN_ID,
        kill=str(cell.mode.kill),
        mode=str(cell.mode),
        depth=depth,
        timeout_seconds=LIFE_TIMEOUT_SECONDS,
        plan=None if plan is None else str(plan),
    )
    return report
