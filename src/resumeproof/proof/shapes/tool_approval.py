"""An effect waits for a human, and is resumed: neither approval nor effect is lost or doubled."""

from __future__ import annotations

from resumeproof.domain.command import Approve, Call, Finish, State, program
from resumeproof.domain.contract import Lookup, ToolContract
from resumeproof.proof.shapes.shape import TOOL, Ending, Shape, action, keys
from resumeproof.proof.shapes.world import World


def _approve(state: State) -> Approve:
    return Approve(state.action, then="call")


def _call(state: State) -> Call:
    return Call(state.action, state.key, then="finish")


def _finish(state: State) -> Finish:
    return Finish({"effects": keys(state, "call")})


_APPROVED_CALL = program(
    "approved_call", 1, "approve", approve=_approve, call=_call, finish=_finish
)


def _lay_out(world: World) -> None:
    world.create("refund", "approved_call", action(refund=1))
    world.create("payout", "approved_call", action(payout=1))


def _live(world: World) -> None:
    world.drive()
    for workflow_id in ("refund", "payout"):
        world.approve(workflow_id)
        world.drive()


TOOL_APPROVAL = Shape(
    name="tool_approval",
    about="an approved effect happens once, and an approval is never lost",
    programs=(_APPROVED_CALL,),
    lay_out=_lay_out,
    live=_live,
    endings={name: Ending("completed", {"effects": [name]}) for name in ("refund", "payout")},
    contract=ToolContract(TOOL, idempotent=False, lookup=Lookup.CONSISTENT),
)
