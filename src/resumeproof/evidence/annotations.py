"""Proofs as workflow commands of GitHub Actions, which become annotations of the run.

Source: docs.github.com, "Workflow commands for GitHub Actions"; actions/toolkit, `command.ts`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from resumeproof.domain.conformance import Proof
from resumeproof.domain.printable import shown

ANNOTATIONS_AT_MOST: Final = 10
"""GitHub shows so many errors of a step."""


def error_commands(proofs: Iterable[Proof]) -> Iterator[str]:
    """One line for each finding and each invalid scenario, as many as are shown."""
    return islice(_all_commands(proofs), ANNOTATIONS_AT_MOST)


def _all_commands(proofs: Iterable[Proof]) -> Iterator[str]:
    for terms, report in proofs:
        told = [(str(each.kind), f"{each.place}: {each.detail}") for each in report.findings]
        told += [("invalid", reason) for reason in report.invalid]
        for kind, text in told:
            title = _property(f"resumeproof: {kind} in {terms.subject}")
            yield f"::error title={title}::{_data(text)}"


def _data(text: str) -> str:
    # What else a command escapes, line ends, `shown` has escaped for people.
    return shown(text).replace("%", "%25")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
