"""Messages steer a running workflow: each is applied once, and in the order it was sent."""

from __future__ import annotations

from resumeproof.domain.command import Call, Drain, Emit, Finish, State, Wait, program
from resumeproof.proof.shapes.shape import Ending, Shape, action, keys, post
from resumeproof.proof.shapes.world import World


def _first(_: State) -> Drain:
    return Drain(then="pause")


def _pause(_: State) -> Wait:
    return Wait("go on", then="second")


def _second(_: State) -> Drain:
    return Drain(then="act")


def _act(state: State) -> Call:
    steered = action(applied=_applied(state))
    return Call(steered, f"{state.key}:act", then="finish", needs_approval=False)


def _finish(state: State) -> Finish:
    return Finish({"applied": _applied(state), "effects": keys(state, "begin", "act")})


def _applied(state: State) -> list[str]:
    return [*state.results["first"], *state.results["second"]]


def _emit(_: State) -> Emit:
    return Emit("go on", None, then="finish")


def _said(_: State) -> Finish:
    return Finish({"said": "go on"})


_STEERED = program(
    "steered",
    1,
    "begin",
    begin=post("begin", "first", part="begin"),
    first=_first,
    pause=_pause,
    second=_second,
    act=_act,
    finish=_finish,
)
_SIGNAL = program("signal", 1, "emit", emit=_emit, finish=_said)


def _lay_out(world: World) -> None:
    world.create("steered", "steered", action(job=1))
    world.create("signal", "signal", action(job=1))


def _live(world: World) -> None:
    world.send("steered", "left")
    world.send("steered", "right")
    world.drive_one("steered")
    world.send("steered", "stop")
    world.drive()


STEER_DRAIN = Shape(
    name="steer_drain",
    about="messages to a running workflow are applied once and in order",
    programs=(_STEERED, _SIGNAL),
    lay_out=_lay_out,
    live=_live,
    endings={
        "steered": Ending(
            "completed",
            {
                "applied": ["left", "right", "stop"],
                "effects": ["steered:begin", "steered:act"],
            },
        ),
        "signal": Ending("completed", {"said": "go on"}),
    },
)
