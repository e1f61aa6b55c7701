"""A parent and its child: one child runs, once, and the parent hears what it came to."""

from __future__ import annotations

from resumeproof.domain.command import Finish, Spawn, State, program
from resumeproof.proof.shapes.shape import Ending, Shape, action, keys, post
from resumeproof.proof.shapes.world import World


def _spawn(_: State) -> Spawn:
    return Spawn("shipment", action(parcel=1), then="bill")


def _finish(state: State) -> Finish:
    child = state.results["ship"]
    return Finish(
        {"child": child["status"], "shipped": child["output"], "effects": keys(state, "bill")}
    )


def _shipped(state: State) -> Finish:
    return Finish({"effects": keys(state, "pack", "send")})


_PARENT = program(
    "order", 1, "ship", ship=_spawn, bill=post("bill", "finish", part="bill"), finish=_finish
)
_CHILD = program(
    "shipment",
    1,
    "pack",
    pack=post("pack", "send", part="pack"),
    send=post("send", "finish", part="send"),
    finish=_shipped,
)


def _lay_out(world: World) -> None:
    world.create("parent", "order", action(order=1))


def _live(world: World) -> None:
    world.drive()


_SHIPPED = {"effects": ["parent.ship:pack", "parent.ship:send"]}

SUBWORKFLOW = Shape(
    name="subworkflow",
    about="a child runs once, and its parent hears of its end",
    programs=(_PARENT, _CHILD),
    lay_out=_lay_out,
    live=_live,
    endings={
        "parent": Ending(
            "completed",
            {"child": "completed", "shipped": _SHIPPED, "effects": ["parent:bill"]},
        ),
        "parent.ship": Ending("completed", _SHIPPED),
    },
)
