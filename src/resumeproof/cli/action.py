"""Commands that take an action: `create` and `replace-action`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from resumeproof.cli.decision import decide
from resumeproof.cli.options import (
    COUNT_MAX,
    KEY_LENGTH_MAX,
    bounded_text,
    one_of,
    positive_seconds,
    seconds,
    takes_action,
    takes_stores,
    takes_workflow,
)
from resumeproof.cli.output import Output
from resumeproof.cli.stores import Stores
from resumeproof.cli.text import workflow_lines
from resumeproof.domain.contract import Lookup, ToolContract
from resumeproof.runtime import creation, operations
from resumeproof.stores.protocols import JournalFormat

if TYPE_CHECKING:
    from resumeproof.domain.action import Action

_COUNT = click.IntRange(1, COUNT_MAX)
_STDIN = Path("-")


@click.command(short_help="Store an action as a new workflow.")
@takes_action
@click.option(
    "--key",
    metavar="KEY",
    type=bounded_text(KEY_LENGTH_MAX),
    help="The idempotency key that the tool is given with every call.",
)
@click.option(
    "--mode",
    type=click.Choice(["idempotent", "non_idempotent"]),
    help="What the tool promises about a repeat; idempotent where there is a key.",
)
@click.option(
    "--lookup",
    type=one_of(Lookup),
    default=str(Lookup.NONE),
    show_default=True,
    help="Whether the tool can be asked for a key's effect.",
)
@click.option("--lookup-lag", type=seconds, help="How late an eventual lookup may show it.")
@click.option(
    "--key-lifetime",
    metavar="SECONDS",
    type=positive_seconds,
    help="How long an idempotent tool remembers a key; for ever if not given.",
)
@click.option(
    "--max-retries",
    metavar="N",
    type=_COUNT,
    default=creation.MAX_RETRIES,
    show_default=True,
    help="Attempts that may fail before an effect; the first counts.",
)
@click.option(
    "--max-recoveries",
    metavar="N",
    type=_COUNT,
    default=creation.MAX_RECOVERIES,
    show_default=True,
    help="Deaths in a row before an operator is asked.",
)
@click.option(
    "--retry-base",
    type=seconds,
    default=creation.RETRY_BASE_SECONDS,
    show_default=True,
    help="First wait of the exponential backoff, in seconds; 0 turns it off.",
)
@click.option(
    "--fail-before",
    metavar="N",
    type=click.IntRange(0, COUNT_MAX),
    default=0,
    show_default=True,
    help="Let the simulated tool's first N calls fail before the effect.",
)
@click.option(
    "--journal-format",
    type=one_of(JournalFormat),
    help="How a journal is kept that is not there yet: one SQLite file, or a directory of JSON.",
)
@takes_stores
def create(output: Output, stores: Stores, action_file: Path, **terms: Any) -> None:
    """Store an action as a new workflow, which then waits for its approval.

    An action is a JSON object {"tool": NAME, "arguments": {...}}. Any other object is taken whole
    as the arguments of a tool that is called "simulated". Journal and ledger are made where there
    are none yet.

    \b
    Example:
      resumeproof create --action charge.json --key order-1001-charge
    """
    promises = _promises(**{name: terms[name] for name in _PROMISES})
    action = _read_action(action_file)
    workflow_id = _create(stores, action, promises, terms)
    workflow = stores.workflow(workflow_id)
    output.document(workflow)
    output.lines(workflow_lines(workflow))


_PROMISES = ("key", "mode", "lookup", "lookup_lag", "key_lifetime")


def _promises(
    *,
    key: str | None,
    mode: str | None,
    lookup: str,
    lookup_lag: float | None,
    key_lifetime: float | None,
) -> dict[str, Any]:
    """The tool's promises, its name aside. Raises `click.UsageError` if they make no sense."""
    idempotent = mode == "idempotent" or (mode is None and key is not None)
    for wrong, why in (
        (idempotent and key is None, "--mode idempotent needs a --key to repeat calls under"),
        (lookup != "none" and key is None, f"--lookup {lookup} needs a --key to ask for"),
        (
            lookup_lag is not None and lookup != "eventual",
            "--lookup-lag goes with --lookup eventual only",
        ),
        (
            key_lifetime is not None and not idempotent,
            "--key-lifetime goes with --mode idempotent only",
        ),
    ):
        if wrong:
            raise click.UsageError(why, click.get_current_context())
    return {
        "idempotent": idempotent,
        "key_lifetime_seconds": key_lifetime,
        "lookup": lookup,
        "lookup_lag_seconds": lookup_lag or 0.0,
    }


def _create(stores: Stores, action: Action, promises: dict[str, Any], terms: dict[str, Any]) -> str:
    from resumeproof.runtime.programs import TOOL_CALL
    from resumeproof.runtime.session import create_workflow

    contract = ToolContract.from_json({"name": action.tool, **promises})
    workflow = create_workflow(
        stores.site(),
        program=TOOL_CALL,
        action=action,
        contract=contract,
        fail_before=terms["fail_before"],
        terms=lambda ledger_id: creation.Terms(
            ledger_id=ledger_id,
            contract=contract,
            key=terms["key"],
            max_retries=terms["max_retries"],
            max_recoveries=terms["max_recoveries"],
            retry_base_seconds=terms["retry_base"],
        ),
        journal_format=JournalFormat(chosen) if (chosen := terms["journal_format"]) else None,
    )
    return workflow.id


@click.command(short_help="Swap a workflow's action and void its approval.")
@takes_workflow
@takes_action
@takes_stores
def replace_action(output: Output, stores: Stores, workflow_id: str, action_file: Path) -> None:
    """Swap a workflow's action; whatever was approved before has to be approved again.

    Refused once an attempt has started.

    \b
    Example:
      resumeproof replace-action --workflow wf_0123 --action charge.json
    """
    action = _read_action(action_file)
    decide(
        output,
        stores,
        workflow_id,
        lambda journal, clock: operations.replace_action(
            journal, clock, workflow_id, action=action
        ),
    )


def _read_action(path: Path) -> Action:
    """Read an action. Raises `ActionRefused`, for a file that cannot be read as well."""
    from resumeproof.domain.action import MAX_TEXT_BYTES, parse_action
    from resumeproof.errors import ActionRefused

    # One byte more than is allowed, so that too long a file is refused and never read whole.
    size = MAX_TEXT_BYTES + 1
    try:
        if path != _STDIN:
            with path.open("rb") as stream:
                return parse_action(stream.read(size))
        if sys.stdin is None:
            raise ActionRefused("standard input is closed", "in -")
        return parse_action(sys.stdin.buffer.read(size))
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ActionRefused(f"cannot be read: {reason}", f"in {path}") from error
