"""The README's table of subjects whose verdict is known: its rows, and the rates that it comes to.

What a row says of its subject, the tests of the catalogue hold it to.
"""

from __future__ import annotations

from docs_detection import HEADS, detection_rates
from docs_regions import standing
from resumeproof.lab.catalogue import ENTRIES
from resumeproof.lab.catalogue.entry import Entry
from resumeproof.lab.selftest import Found, Trial

TABLE, *RATES = standing("detection").partition("\n\n")
ROWS = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in TABLE.splitlines()]


def said(entry: Entry, process: str, inline: str) -> Trial:
    """A trial that came to what its row says."""
    as_due = Found(() if entry.expects is None else (entry.expects,))
    played = as_due if inline in ("found", "passes") else Found(failed=inline)
    return Trial(
        entry,
        Found(),
        None if inline == "cannot be played" else played,
        told=process.startswith(("found", "passes")),
    )


def test_its_rows_are_the_catalogues() -> None:
    expected = [
        [f"`{each.name}`", each.description, f"`{each.expects}`" if each.expects else "nothing"]
        for each in ENTRIES
    ]
    assert (ROWS[0], [row[:3] for row in ROWS[2:]]) == (list(HEADS), expected)


def test_its_rates_are_those_of_its_rows() -> None:
    trials = [
        said(entry, process, inline)
        for entry, (*_, process, inline) in zip(ENTRIES, ROWS[2:], strict=True)
    ]
    assert "".join(RATES)[1:] == detection_rates(trials)
