"""One event, three listeners: each of them hears it, once."""

from __future__ import annotations

from resumeproof.domain.command import Call, Emit, Finish, State, Wait, program
from resumeproof.proof.shapes.shape import Ending, Shape, action, keys
from resumeproof.proof.shapes.world import World

_LISTENERS = ("billing", "shipping", "mailing")


def _emit(_: State) -> Emit:
    return Emit("paid", {"order": 1}, then="finish")


def _finish(_: State) -> Finish:
    return Finish({"emitted": "paid"})


def _listen(_: State) -> Wait:
    return Wait("paid", then="act")


def _act(state: State) -> Call:
    heard = action(by=state.key, heard=state.results["listen"]["payload"])
    return Call(heard, f"{state.key}:act", then="finish", needs_approval=False)


def _acted(state: State) -> Finish:
    return Finish({"heard": state.results["listen"]["payload"], "effects": keys(state, "act")})


_EMITTER = program("emitter", 1, "emit", emit=_emit, finish=_finish)
_LISTENER = program("listener", 1, "listen", listen=_listen, act=_act, finish=_acted)


def _lay_out(world: World) -> None:
    for listener in _LISTENERS:
        world.create(listener, "listener", action(listener=listener))
    world.create("order", "emitter", action(order=1))


def _live(world: World) -> None:
    world.drive()


EVENT_FANOUT = Shape(
    name="event_fanout",
    about="every listener hears an event, once",
    programs=(_EMITTER, _LISTENER),
    lay_out=_lay_out,
    live=_live,
    endings={
        "order": Ending("completed", {"emitted": "paid"}),
        **{
            listener: Ending("completed", {"heard": {"order": 1}, "effects": [f"{listener}:act"]})
            for listener in _LISTENERS
        },
    },
)
