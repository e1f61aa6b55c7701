"""The two stores that a command works on, and the reading of a workflow from them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from resumeproof.domain.inspection import Stored
    from resumeproof.domain.workflow import Workflow
    from resumeproof.runtime.session import Site
    from resumeproof.stores.protocols import Journal


@dataclass(frozen=True, slots=True)
class Stores:
    """Where journal and ledger lie, as the command was told."""

    journal: Path
    ledger: Path

    def site(self, lock_timeout_seconds: float | None = None) -> Site:
        """Both stores with the real clock and real ids; None stands for the usual patience."""
        from resumeproof.runtime.clock import SystemClock
        from resumeproof.runtime.identity import RandomIdentity
        from resumeproof.runtime.session import LOCK_TIMEOUT_SECONDS, Site

        patience = LOCK_TIMEOUT_SECONDS if lock_timeout_seconds is None else lock_timeout_seconds
        return Site(self.journal, self.ledger, SystemClock(), RandomIdentity(), patience)

    def workflow(self, workflow_id: str) -> dict[str, Any]:
        """One workflow as JSON, read-only.

        Raises `StoreNotFound`, `WorkflowNotFound`, `JournalDamaged` and what opening raises.
        """
        from resumeproof.stores.journals import open_journal

        with open_journal(self.journal) as journal:
            return observed(journal, workflow_id)


def observed(journal: Journal, workflow_id: str) -> dict[str, Any]:
    """One workflow of an open journal as JSON. Raises `WorkflowNotFound` or `JournalDamaged`."""
    from resumeproof.evidence.workflow import workflow_json

    stored, alive = with_driver(journal, journal.load(workflow_id))
    return workflow_json(stored, sound(stored), driver_alive=alive)


def sound(stored: Stored) -> Workflow:
    """The workflow that a timeline tells. Raises `JournalDamaged`."""
    from resumeproof.domain.inspection import inspect
    from resumeproof.errors import JournalDamaged

    inspection = inspect(stored)
    if inspection.workflow is None:
        raise JournalDamaged(str(stored.row["id"]), str(inspection.damage))
    return inspection.workflow


def with_driver(journal: Journal, stored: Stored) -> tuple[Stored, bool]:
    """The workflow, and whether its driver drives it now: it holds the lock, and the token is its.

    A driver that is not found may have finished between the reading and the asking, so the
    workflow is read again until both belong to one moment; it is returned as it was read last.
    """
    from resumeproof.runtime.lock import probe

    while True:
        driver = stored.row["driver"]
        if driver is None:
            return stored, False
        if probe(journal.path).driven_by(driver):
            return stored, True
        again = journal.load(str(stored.row["id"]))
        # Bounded: each further round is somebody else's commit.
        if again.row["revision"] == stored.row["revision"]:
            return again, False
        stored = again
