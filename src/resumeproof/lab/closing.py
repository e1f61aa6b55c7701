"""What a demo says last: what came of it in plain words, and how to go on by hand."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from resumeproof.lab.demo import DemoResult
from resumeproof.lab.subject import LEDGER_NAME


def closing(result: DemoResult, before: Sequence[str], command: str) -> Iterator[str]:
    """Lines for people. `command` calls the command line once a shell has done what is `before`."""
    receipt = result.receipt
    for scenario, workflow in zip(receipt["scenarios"], receipt["workflows"], strict=True):
        yield from _came_to(scenario, workflow)
    totals = receipt["totals"]
    yield (
        f"In all: {_counted(totals['effects'], 'effect')} in the ledger, "
        f"{_counted(totals['replays'], 'replay')}, "
        f"{_counted(totals['unknown'], 'workflow')} unknown."
    )
    yield ""
    yield "Go on by hand:"
    yield ""
    yield from ("  " + step for step in (*before, *next_steps(result, command)))


def next_steps(result: DemoResult, command: str) -> Iterator[str]:
    """Commands for a shell, in an order in which each of them works."""
    directory = str(result.directory)
    # A name that begins with a dash would be taken for an option.
    quoted = shlex.quote(f"./{directory}" if directory.startswith("-") else directory)
    yield f"{command} verify {quoted}"
    yield f"cd {quoted}"
    for workflow in result.receipt["workflows"]:
        yield f"{command} timeline --workflow {workflow['id']}"
        if workflow["status"] == "unknown":
            yield (
                f"{command} reconcile --workflow {workflow['id']} "
                f"--resolution {_truth(workflow)} --actor you"
            )
        else:
            yield f"{command} resume --workflow {workflow['id']}"
    yield f"sqlite3 {LEDGER_NAME} 'select count(*) from effects'"


def _came_to(scenario: Mapping[str, Any], workflow: Mapping[str, Any]) -> Iterator[str]:
    tool = "a tool that honours a key" if workflow["key"] else "a tool with neither key nor lookup"
    yield f"{workflow['id']} ({tool})"
    yield f"  died with {scenario['child_exit']['text']} at {scenario['plan']} and was resumed:"
    yield f"  {_outcome(workflow)}"
    yield ""


def _outcome(workflow: Mapping[str, Any]) -> str:
    effects = _counted(workflow["effects"], "effect")
    if workflow["status"] == "unknown":
        return (
            f"unknown, waiting for an operator. The ledger holds {effects}; nothing was repeated."
        )
    receipt = workflow["receipt"]
    if receipt is None:
        return f"{workflow['status']}, with {effects} in the ledger."
    replayed = ", the original receipt (replayed: true)" if receipt["replayed"] else ""
    return f"{workflow['status']}, with {effects} in the ledger{replayed}."


def _truth(workflow: Mapping[str, Any]) -> str:
    """What an operator finds out who looks into the ledger."""
    return "confirmed_applied" if workflow["effects"] else "confirmed_not_applied"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
