"""`timeline`: both stores of one workflow in one order, as a picture for people."""

from __future__ import annotations

import click

from resumeproof.cli.drawing import drawing
from resumeproof.cli.options import takes_stores, takes_workflow
from resumeproof.cli.output import Output
from resumeproof.cli.stores import Stores, sound, with_driver


@click.command(short_help="Show what both stores know of a workflow, in one order.")
@takes_workflow
@takes_stores
def timeline(output: Output, stores: Stores, workflow_id: str) -> None:
    """Show what both stores know of a workflow, in one order.

    As text a picture of three lanes: the journal, the processes, the tool ledger. A death is a
    mark in the middle.

    \b
    Example:
      resumeproof timeline --workflow wf_0123
    """
    from resumeproof.errors import WrongLedger
    from resumeproof.evidence.order import entries_of
    from resumeproof.evidence.timeline import heading, render
    from resumeproof.evidence.workflow import workflow_json
    from resumeproof.stores.journals import open_journal
    from resumeproof.stores.sqlite_ledger import SqliteLedger

    with open_journal(stores.journal) as journal:
        stored, alive = with_driver(journal, journal.load(workflow_id))
    workflow = sound(stored)
    # Read after the journal: the ledger may know more than it, and then that is in doubt.
    with SqliteLedger.open_reader(stores.ledger) as ledger:
        if ledger.ledger_id != workflow.ledger_id:
            raise WrongLedger(workflow_id, workflow.ledger_id, ledger.ledger_id)
        with ledger.database.snapshot():
            entries = entries_of(stored.records, ledger)
    facts = workflow_json(stored, workflow, driver_alive=alive)
    output.document({"workflow": facts, "entries": [entry.to_json() for entry in entries]})
    glyphs, lanes = drawing()
    picture = render(entries, driver_alive=alive, glyphs=glyphs, lanes=lanes)
    output.lines([*heading(facts, glyphs, lanes).splitlines(), ""])
    output.picture(picture.splitlines())
