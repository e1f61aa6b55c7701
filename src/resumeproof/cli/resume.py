"""`resume`: the driver, and the one command that can be made to die."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import click

from resumeproof.cli.failure import failure_of
from resumeproof.cli.options import (
    BOUNDARIES_TEXT,
    KEY_LENGTH_MAX,
    bounded_text,
    crash_point,
    one_of,
    seconds,
    takes_stores,
)
from resumeproof.cli.output import Output, note
from resumeproof.cli.stores import Stores
from resumeproof.cli.text import workflow_lines
from resumeproof.crash.kill import Kill
from resumeproof.domain.status import Status
from resumeproof.errors import Exit, ResumeproofError

if TYPE_CHECKING:
    from resumeproof.crash.plan import CrashPoint

_EXIT_OF: Mapping[str, Exit] = MappingProxyType(
    {
        Status.COMPLETED: Exit.DONE,
        Status.RECONCILED_APPLIED: Exit.DONE,
        Status.FAILED: Exit.REFUSED,
        Status.RECONCILED_NOT_APPLIED: Exit.REFUSED,
        Status.CANCELLED: Exit.REFUSED,
        Status.UNKNOWN: Exit.IN_DOUBT,
    }
)
"""What a workflow that cannot be resumed any further tells the caller of `resume`."""


@click.command(short_help="Drive a workflow, or all of them, as far as they go.")
@click.option(
    "--workflow",
    "workflow_id",
    metavar="ID",
    type=bounded_text(KEY_LENGTH_MAX),
    help="The workflow's id, as `create` printed it.",
)
@click.option("--all", "every", is_flag=True, help="Resume every workflow that has not ended.")
@click.option(
    "--crash-at",
    metavar="BOUNDARY[#K]",
    help=f"Die the K-th time that this boundary is reached. Boundaries: {BOUNDARIES_TEXT}.",
)
@click.option(
    "--kill",
    type=one_of(Kill),
    help="How to die there; exit86 unless said otherwise.",
)
@click.option(
    "--lock-timeout",
    type=seconds,
    default=10.0,
    show_default=True,
    help="Seconds to wait for another driver.",
)
@takes_stores
def resume(
    output: Output,
    stores: Stores,
    workflow_id: str | None,
    every: bool,
    crash_at: str | None,
    kill: str | None,
    lock_timeout: float,
) -> int:
    """Drive a workflow as far as it goes; one that ended returns its recorded result.

    \b
    Exit status: 0 completed or reconciled as applied, 3 failed, cancelled or
    reconciled as not applied, 4 unknown, 6 not yet. With --all, the highest.
    A planned crash that was never reached is said on standard error, and turns
    0 into 1.

    \b
    Examples:
      resumeproof resume --workflow wf_0123
      resumeproof resume --workflow wf_0123 --crash-at tool:after --kill sigkill
      resumeproof resume --all
    """
    if every is (workflow_id is not None):
        raise click.UsageError("give either --workflow or --all", click.get_current_context())
    if every and crash_at is not None:
        raise click.UsageError("--crash-at needs a --workflow", click.get_current_context())
    if kill is not None and crash_at is None:
        raise click.UsageError("--kill needs a --crash-at", click.get_current_context())
    if workflow_id is None:
        return _resume_all(output, stores, lock_timeout)
    if crash_at is None:
        return _resume_one(output, stores, workflow_id, lock_timeout)
    return _resume_to_crash(
        output, stores, workflow_id, lock_timeout, crash_point(crash_at), Kill(kill or Kill.EXIT86)
    )


def _resume_one(output: Output, stores: Stores, workflow_id: str, lock_timeout: float) -> int:
    from resumeproof.runtime.session import resume

    resume(stores.site(lock_timeout), workflow_id)
    return _print_result(output, stores, workflow_id)


def _resume_to_crash(
    output: Output,
    stores: Stores,
    workflow_id: str,
    lock_timeout: float,
    point: CrashPoint,
    kill: Kill,
) -> int:
    from functools import partial

    from resumeproof.crash.kill import die
    from resumeproof.lab.life import trapped
    from resumeproof.runtime.session import resume

    try:
        resume(stores.site(lock_timeout), workflow_id, trapped(point, partial(die, kill)))
    finally:
        # Whoever gets here is alive.
        note(f"the crash point {point} was never reached: nothing was killed")
    # As an invalid scenario: a kill that did not fire proves nothing.
    return _print_result(output, stores, workflow_id) or Exit.FINDINGS


def _print_result(output: Output, stores: Stores, workflow_id: str) -> int:
    workflow = stores.workflow(workflow_id)
    output.document(workflow)
    output.lines(workflow_lines(workflow))
    return _EXIT_OF[workflow["status"]]


def _resume_all(output: Output, stores: Stores, lock_timeout: float) -> int:
    from resumeproof.runtime.session import resume_each, unfinished

    site = stores.site(lock_timeout)
    entries: list[dict[str, Any]] = []
    workflow_ids = unfinished(site)
    if not workflow_ids:
        output.lines(["nothing to resume"])
    else:
        for workflow_id, result in resume_each(site, workflow_ids):
            entries.append(_entry(workflow_id, result))
            output.lines([_entry_line(entries[-1])])
    highest = max((entry["exit"] for entry in entries), default=int(Exit.DONE))
    output.document({"workflows": entries, "exit": highest})
    return highest


def _entry(workflow_id: str, result: Any) -> dict[str, Any]:
    """What became of one workflow: its status, or the error that stood in its way."""
    if isinstance(result, ResumeproofError):
        failure = failure_of(result)
        return {
            "id": workflow_id,
            "exit": int(failure.status),
            "status": None,
            "error": failure.document(),
        }
    status = str(result.status)
    return {"id": workflow_id, "exit": int(_EXIT_OF[status]), "status": status, "error": None}


def _entry_line(entry: dict[str, Any]) -> str:
    if entry["error"]:
        return f"{entry['id']}  refused, exit {entry['exit']}: {entry['error']['message']}"
    return f"{entry['id']}  {entry['status']}"
