"""Commands that only look: `show`, `list` and `effects`."""

from __future__ import annotations

from typing import Any

import click

from resumeproof.cli.options import (
    KEY_LENGTH_MAX,
    bounded_text,
    one_of,
    takes_stores,
    takes_workflow,
)
from resumeproof.cli.output import Output
from resumeproof.cli.stores import Stores, with_driver
from resumeproof.cli.text import ledger_lines, queue_lines, workflow_lines
from resumeproof.domain.status import Status


@click.command(short_help="Show one workflow.")
@takes_workflow
@takes_stores
def show(output: Output, stores: Stores, workflow_id: str) -> None:
    """Show one workflow as its timeline tells it; a damaged one is refused.

    \b
    Example:
      resumeproof show --workflow wf_0123
    """
    workflow = stores.workflow(workflow_id)
    output.document(workflow)
    output.lines(workflow_lines(workflow))


@click.command("list", short_help="List workflows, in order of creation.")
@click.option("--status", type=one_of(Status), help="Only those of this status.")
@takes_stores
def list_(output: Output, stores: Stores, status: str | None) -> None:
    """List workflows, in order of creation, as their rows tell; nothing is verified.

    What waits for a reconciliation is `list --status unknown`.

    \b
    Examples:
      resumeproof list
      resumeproof list --status unknown
    """
    from resumeproof.evidence.workflow import summary_json
    from resumeproof.stores.journals import open_journal

    workflows: list[dict[str, Any]] = []
    with open_journal(stores.journal) as journal:
        for row in journal.rows(Status(status) if status else None):
            stored, alive = with_driver(journal, row)
            workflows.append(summary_json(stored, driver_alive=alive))
    output.document({"workflows": workflows})
    output.lines(queue_lines(workflows))


@click.command(short_help="Show what the tool ledger holds.")
@click.option(
    "--workflow",
    "workflow_id",
    metavar="ID",
    type=bounded_text(KEY_LENGTH_MAX),
    help="Only what this workflow asked for.",
)
@takes_stores
def effects(output: Output, stores: Stores, workflow_id: str | None) -> None:
    """Show what the tool ledger holds: effects, and every invocation that reached the tool.

    \b
    Example:
      resumeproof effects
    """
    from dataclasses import asdict

    from resumeproof.errors import ToolNotRegistered, WorkflowNotFound
    from resumeproof.stores.sqlite_ledger import SqliteLedger

    with SqliteLedger.open_reader(stores.ledger) as ledger, ledger.database.snapshot():
        if workflow_id is not None:
            try:
                ledger.registration(workflow_id)
            except ToolNotRegistered as error:
                raise WorkflowNotFound(workflow_id, str(ledger.path)) from error
        applied = [
            {**effect.receipt.to_json(), "damage": effect.damage}
            for effect in ledger.effects(workflow_id)
        ]
        invocations = [asdict(invocation) for invocation in ledger.invocations(workflow_id)]
        second = sum(1 for _ in ledger.second_effects(workflow_id))
        held = {
            "ledger_id": ledger.ledger_id,
            "effects": applied,
            "invocations": invocations,
            "totals": {
                "effects": len(applied),
                "invocations": len(invocations),
                "replays": sum(each["outcome"] == "replayed" for each in invocations),
                "second_effects": second,
            },
        }
    output.document(held)
    output.lines(ledger_lines(held))
