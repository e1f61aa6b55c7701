"""What a program's node may ask for, and what a program is.

A program is a mapping from node names to pure functions of the workflow's state. Each command
names the node that comes after it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

from resumeproof.domain.action import Action
from resumeproof.domain.canonical import JsonValue, canonical_bytes, digest_of


@dataclass(frozen=True)
class State:
    """What a node sees: the action as stored, its key, and the results of earlier steps by name."""

    action: Action
    key: str | None
    results: Mapping[str, Any]


@dataclass(frozen=True)
class Approve:
    """Wait until a human approves these bytes."""

    action: Action
    then: str


@dataclass(frozen=True)
class Call:
    """Call the action's tool, with the approved bytes unless no approval is asked for."""

    action: Action
    key: str | None
    then: str
    needs_approval: bool = True


@dataclass(frozen=True)
class Emit:
    """Let an event happen, once and for all: whoever waits for it finds it in this timeline."""

    event: str
    payload: Any
    then: str


@dataclass(frozen=True)
class Wait:
    """Wait for the first event of this name that this workflow has not taken yet."""

    event: str
    then: str


@dataclass(frozen=True)
class Sleep:
    """Wait until an instant (RFC 3339, as `domain.instant` writes it)."""

    until: str
    then: str


@dataclass(frozen=True)
class Spawn:
    """Run another program as a child, and wait for its end; its action is its input."""

    program: str
    action: Action
    then: str


@dataclass(frozen=True)
class Drain:
    """Apply the messages that have come in, in order."""

    then: str


@dataclass(frozen=True)
class Finish:
    """End the workflow. `output` is JSON and becomes its recorded result."""

    output: Mapping[str, Any]


@dataclass(frozen=True)
class Fail:
    """End the workflow as failed."""

    error: str


Command = Approve | Call | Emit | Wait | Sleep | Spawn | Drain | Finish | Fail
Node = Callable[[State], Command]


@dataclass(frozen=True)
class Program:
    """A workflow definition. `digest` covers its name, its version and the names of its nodes.

    With `ends_when_decided` an operator's decision on its effect in doubt ends the workflow; else
    it goes on from the decided step.
    """

    name: str
    version: int
    start: str
    nodes: Mapping[str, Node]
    ends_when_decided: bool = False

    @cached_property
    def digest(self) -> str:
        definition: dict[str, JsonValue] = {
            "name": self.name,
            "nodes": sorted(self.nodes),
            "start": self.start,
            "version": self.version,
        }
        return digest_of(canonical_bytes(definition))


def program(
    name: str, version: int, start: str, *, ends_when_decided: bool = False, **nodes: Node
) -> Program:
    return Program(name, version, start, MappingProxyType(dict(nodes)), ends_when_decided)
