"""The built-in programs."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from resumeproof.domain.command import Approve, Call, Command, Finish, Program, State, program
from resumeproof.errors import ProgramChanged


def _approve(state: State) -> Command:
    return Approve(state.action, then="call")


def _call(state: State) -> Command:
    return Call(state.action, state.key, then="finish")


def _finish(state: State) -> Command:
    return Finish({"receipt_id": state.results["call"]["receipt_id"]})


TOOL_CALL = program(
    "tool_call",
    1,
    "approve",
    ends_when_decided=True,
    approve=_approve,
    call=_call,
    finish=_finish,
)
"""Approve an action, call its tool once, finish with the receipt's id."""

Programs = Mapping[str, Program]
"""What a driver can drive, by name."""

PROGRAMS: Programs = MappingProxyType({TOOL_CALL.name: TOOL_CALL})


def program_of(workflow_id: str, name: str, digest: str, programs: Programs) -> Program:
    """The program that a workflow was created by.

    Raises `ProgramChanged` where `programs` has another definition of it, or none: what
    was approved under one definition is not resumed under another.
    """
    known = programs.get(name)
    if known is None or known.digest != digest:
        found = known.digest if known else f"no program {name!r}"
        raise ProgramChanged(workflow_id, digest, found)
    return known
