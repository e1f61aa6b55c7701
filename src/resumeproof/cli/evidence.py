"""What proofs leave for others: files that were asked for, and what a CI shows of it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from resumeproof.cli.output import complain, note
from resumeproof.errors import UsageRefused

if TYPE_CHECKING:
    from resumeproof.domain.conformance import Proof


@dataclass(frozen=True, slots=True)
class Destination:
    """Where evidence goes; None where it was not asked for."""

    directory: Path | None
    junit: Path | None

    @classmethod
    def claimed(cls, directory: Path | None, junit: Path | None) -> Destination:
        """Make sure of both before any work is done for them.

        Raises `OutputNotEmpty`, `UsageRefused` or `StoreUnavailable`.
        """
        from resumeproof.lab.output import claim_directory

        if junit is not None and not junit.absolute().parent.is_dir():
            raise UsageRefused(f"JUnit file {junit}: there is no such directory")
        return cls(None if directory is None else claim_directory(directory), junit)

    def write(self, kind: str, proofs: Sequence[Proof]) -> None:
        """Write the files, and tell GitHub Actions where it listens. Raises `StoreUnavailable`.

        `kind` is what the receipt file says was run.
        """
        if self.directory is not None:
            from resumeproof.evidence.proof_receipt import write_proofs

            write_proofs(self.directory, kind, proofs)
        if self.junit is not None:
            from resumeproof.evidence.files import write_durably
            from resumeproof.evidence.junit import junit_xml

            write_durably(self.junit, junit_xml(proofs))
        _tell_github(proofs)


def _tell_github(proofs: Sequence[Proof]) -> None:
    """Source: docs.github.com, "Workflow commands for GitHub Actions"."""
    if os.environ.get("GITHUB_ACTIONS") == "true":
        from resumeproof.evidence.annotations import error_commands

        for command in error_commands(proofs):
            complain(command)
    summary_file = os.environ.get("GITHUB_STEP_SUMMARY")
    if summary_file:
        from resumeproof.evidence.markdown import summary

        try:
            with Path(summary_file).open("a", encoding="utf-8") as file:
                file.write(summary(proofs))
        except (OSError, ValueError) as error:
            # The proofs are done, and their verdict stands without a summary.
            note(f"the job's summary cannot be written: {error}")
