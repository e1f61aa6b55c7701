"""Three effects in a row: each happens once, whatever the driver died of in between."""

from __future__ import annotations

from resumeproof.domain.command import Finish, State, program
from resumeproof.proof.shapes.shape import Ending, Shape, action, keys, post
from resumeproof.proof.shapes.world import World

_STEPS = ("reserve", "charge", "ship")


def _finish(state: State) -> Finish:
    return Finish({"effects": keys(state, *_STEPS)})


_CHAIN = program(
    "chain",
    1,
    "reserve",
    reserve=post("reserve", "charge", part="reserve"),
    charge=post("charge", "ship", part="charge"),
    ship=post("ship", "finish", part="ship"),
    finish=_finish,
)


def _lay_out(world: World) -> None:
    world.create("order", "chain", action(order=1))


def _live(world: World) -> None:
    world.drive()


EFFECT_CHAIN = Shape(
    name="effect_chain",
    about="three effects in a row happen once each",
    programs=(_CHAIN,),
    lay_out=_lay_out,
    live=_live,
    endings={
        "order": Ending("completed", {"effects": [f"order:{step}" for step in _STEPS]}),
    },
)
