"""What the explorer calls to resume the lab's one workflow, and to ask what became of it.

Both are called with the explored directory, which has the journal and the ledger on two disks.
"""

from __future__ import annotations

import io
from contextlib import redirect_stderr
from pathlib import Path

from resumeproof.cli import main
from resumeproof.cli.output import Output
from resumeproof.stores.sqlite_journal import SqliteJournal
from resumeproof.stores.sqlite_ledger import SqliteLedger

JOURNAL = "journal/journal.sqlite3"
LEDGER = "ledger/ledger.sqlite3"


def resume(directory: Path, printed: str) -> None:
    """As `resumeproof resume` does, without a process of its own."""
    words = ["resume", "--all", "--journal", JOURNAL, "--ledger", LEDGER]
    with redirect_stderr(io.TextIOWrapper(io.BytesIO())):
        main.main(words, standalone_mode=False, obj=Output(json=True))


def settled(directory: Path, printed: str) -> None:
    """With a key there is no doubt: the workflow is completed, by one effect."""
    assert outcome(directory) == ("completed", None, 1), outcome(directory)


def honest(directory: Path, printed: str) -> None:
    """Without a key a doubt may remain, and is told; and nobody has rewound the journal."""
    status, reason, effects = outcome(directory)
    known = (status, effects) == ("completed", 1)
    doubted = (status, reason) == ("unknown", "outcome_unknown") and effects <= 1
    assert known or (doubted and '"completed"' not in printed), outcome(directory)


def outcome(directory: Path) -> tuple[str, str | None, int]:
    """Status, reason and effects."""
    with SqliteLedger.open_reader(directory / LEDGER) as ledger:
        effects = sum(1 for _ in ledger.effects())
    with SqliteJournal.open_reader(directory / JOURNAL) as journal:
        (stored,) = journal.rows()
    return stored.row["status"], stored.row["reason"], effects
