"""What a shape is: its programs, what the world does in each life, and what must come of it.

A shape is one file that makes one `Shape`; whoever runs shapes needs to know no more of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from resumeproof.domain.action import Action, parse_action
from resumeproof.domain.canonical import canonical_bytes
from resumeproof.domain.command import Call, Node, Program, State
from resumeproof.domain.contract import ToolContract
from resumeproof.proof.shapes.world import World

TOOL = "post"

KEYED = ToolContract(TOOL, idempotent=True)
"""The tool of most shapes: it keeps one effect per key, and says so of a repeat."""


@dataclass(frozen=True)
class Ending:
    """What a workflow must come to: its last status, and its output where it ended."""

    status: str
    output: Any = None


@dataclass(frozen=True)
class Shape:
    """A pattern of workflows whose crash safety is claimed.

    `lay_out` creates what is there before the first life. `live` is the script of one life, and
    each life runs it from its start: what the outside world does (approving, sending, waiting) it
    derives anew from durable facts, as `World` does. `endings` holds every workflow that must be
    there at last, by its id; a child's by its parent's id and step, as in `parent.ship`.
    `about` says in a line what is claimed.
    """

    name: str
    about: str
    programs: tuple[Program, ...]
    lay_out: Callable[[World], None]
    live: Callable[[World], None]
    endings: Mapping[str, Ending]
    contract: ToolContract = KEYED


def action(**arguments: Any) -> Action:
    """An action of the shapes' tool."""
    return parse_action(canonical_bytes({"tool": TOOL, "arguments": arguments}))


def post(step: str, then: str, **arguments: Any) -> Node:
    """A node that calls the shapes' tool, unapproved, with a key of the workflow and the step."""

    def node(state: State) -> Call:
        return Call(action(**arguments), f"{state.key}:{step}", then, needs_approval=False)

    return node


def keys(state: State, *steps: str) -> list[str]:
    """The keys under which the effects of these steps were applied: what a workflow can show."""
    return [str(state.results[step]["key"]) for step in steps]
