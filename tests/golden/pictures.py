"""Draws every story; `python -m tests.golden.pictures` writes the golden files anew."""

from __future__ import annotations

import tempfile
from pathlib import Path

from resumeproof.domain.inspection import inspect
from resumeproof.evidence.lanes import ASCII, NARROW, UNICODE, WIDE, Glyphs, Lanes
from resumeproof.evidence.order import entries_of
from resumeproof.evidence.timeline import heading, render
from resumeproof.evidence.workflow import workflow_json
from resumeproof.stores.sqlite_journal import SqliteJournal
from resumeproof.stores.sqlite_ledger import SqliteLedger
from tests.unit.evidence.scene import Scene, everything

HERE = Path(__file__).parent
FILES = {
    "unicode": (HERE / "pictures.txt", UNICODE, WIDE),
    "ascii": (HERE / "pictures-ascii.txt", ASCII, WIDE),
    "narrow": (HERE / "pictures-narrow.txt", UNICODE, NARROW),
}


def pictures(scene: Scene, glyphs: Glyphs, lanes: Lanes) -> str:
    """The picture of every workflow, under the name of its story."""
    drawn = []
    with (
        SqliteJournal.open_reader(scene.journal) as journal,
        SqliteLedger.open_reader(scene.ledger) as ledger,
    ):
        for scenario in scene.scenarios:
            stored = journal.load(scenario.workflow_id)
            facts = workflow_json(stored, inspect(stored).sound(), driver_alive=False)
            entries = entries_of(stored.records, ledger)
            picture = render(entries, lives=scenario.run.lives, glyphs=glyphs, lanes=lanes)
            title = heading(facts, glyphs, lanes)
            drawn.append(f"== {scenario.run.subject}\n{title}\n\n{picture}")
    return "\n".join(drawn)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        scene = everything(Path(directory))
        for path, glyphs, lanes in FILES.values():
            path.write_text(pictures(scene, glyphs, lanes), encoding="utf-8")
