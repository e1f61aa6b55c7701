"""Commands with which people decide: `approve`, `cancel` and `reconcile`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from resumeproof.cli.options import note_text, one_of, takes_actor, takes_stores, takes_workflow
from resumeproof.cli.output import Output
from resumeproof.cli.stores import Stores, observed
from resumeproof.cli.text import workflow_lines
from resumeproof.runtime import operations
from resumeproof.runtime.operations import Resolution

if TYPE_CHECKING:
    from resumeproof.runtime.clock import Clock
    from resumeproof.stores.protocols import Journal


def decide(
    output: Output, stores: Stores, workflow_id: str, make: Callable[[Journal, Clock], object]
) -> None:
    """Change a workflow, and print it as this change left it."""
    from resumeproof.runtime.session import change

    site = stores.site()

    def make_and_observe(journal: Journal) -> dict[str, Any]:
        make(journal, site.clock)
        return observed(journal, workflow_id)

    workflow = change(site, workflow_id, make_and_observe)
    output.document(workflow)
    output.lines(workflow_lines(workflow))


@click.command(short_help="Approve a workflow's action, by its digest.")
@takes_workflow
@takes_actor
@takes_stores
def approve(output: Output, stores: Stores, workflow_id: str, actor: str) -> None:
    """Approve the stored action, by the digest of its bytes; other bytes will never be sent.

    \b
    Example:
      resumeproof approve --workflow wf_0123 --actor alice
    """
    decide(
        output,
        stores,
        workflow_id,
        lambda journal, clock: operations.approve(journal, clock, workflow_id, actor=actor),
    )


@click.command(short_help="Withdraw a workflow before any attempt.")
@takes_workflow
@takes_stores
def cancel(output: Output, stores: Stores, workflow_id: str) -> None:
    """Withdraw a workflow. Refused once an attempt has started.

    \b
    Example:
      resumeproof cancel --workflow wf_0123
    """
    decide(
        output,
        stores,
        workflow_id,
        lambda journal, clock: operations.cancel(journal, clock, workflow_id),
    )


@click.command(short_help="Decide about an effect in doubt.")
@takes_workflow
@click.option(
    "--resolution",
    required=True,
    type=one_of(Resolution),
    help="What was found out about the effect.",
)
@takes_actor
@click.option("--note", type=note_text, default="", help="How it was found out.")
@takes_stores
def reconcile(
    output: Output, stores: Stores, workflow_id: str, resolution: str, actor: str, note: str
) -> None:
    """Record an operator's decision on a workflow that is unknown. The first decision stands.

    Nothing is called: the decision says what happened, it does not make it happen.

    \b
    Example:
      resumeproof reconcile --workflow wf_0123 --actor alice \\
        --resolution confirmed_applied --note "seen in the merchant's dashboard"
    """
    decide(
        output,
        stores,
        workflow_id,
        lambda journal, clock: operations.reconcile(
            journal,
            clock,
            workflow_id,
            resolution=Resolution(resolution),
            actor=actor,
            note=note,
        ),
    )
