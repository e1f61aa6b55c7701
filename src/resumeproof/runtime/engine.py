"""What a driver works with, and a workflow as it holds it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast

from resumeproof.domain.action import Action
from resumeproof.domain.command import Command, Program, State
from resumeproof.domain.contract import ToolContract
from resumeproof.domain.inspection import Stored
from resumeproof.domain.status import ENDED, Status
from resumeproof.domain.workflow import Workflow
from resumeproof.runtime.clock import Clock
from resumeproof.runtime.health import Health
from resumeproof.runtime.identity import Identity
from resumeproof.runtime.programs import PROGRAMS, Programs
from resumeproof.stores.protocols import Journal, Tool


def _no_children(workflow_id: str, contract: ToolContract) -> None:
    raise ValueError(f"this engine cannot register child {workflow_id} with its tool")


@dataclass(frozen=True)
class Engine:
    """What a driver works with. `token` identifies it in every claim it makes.

    `register` tells the tool of a workflow that will call it under a contract.
    """

    journal: Journal
    tool: Tool
    ledger_id: str
    clock: Clock
    identity: Identity
    health: Health
    token: str
    programs: Programs = field(default_factory=lambda: PROGRAMS)
    register: Callable[[str, ToolContract], None] = _no_children


@dataclass(frozen=True)
class Held:
    """A workflow as this driver last read or wrote it."""

    workflow: Workflow
    program: Program
    stored: Stored

    @property
    def settled(self) -> bool:
        """Nothing more can be done without an operator."""
        return self.workflow.status in ENDED or self.workflow.status is Status.UNKNOWN

    def after(self, workflow: Workflow, stored: Stored) -> Held:
        """The same workflow after a change of it."""
        held = Held(workflow, self.program, stored)
        if stored.action == self.stored.action:
            vars(held)["action"] = self._action
        return held

    # Not functools.cached_property: its lock, gone in Python 3.12, costs more than most nodes.

    @property
    def _action(self) -> Action:
        known = vars(self)
        if "action" not in known:
            known["action"] = Action.from_canonical(self.stored.action)
        return cast("Action", known["action"])

    @property
    def command(self) -> Command:
        """What the program asks for at the present step: asked once, since nodes are pure."""
        known = vars(self)
        if "asked" not in known:
            workflow = self.workflow
            state = State(self._action, workflow.key, workflow.results)
            known["asked"] = self.program.nodes[workflow.step](state)
        return cast("Command", known["asked"])
