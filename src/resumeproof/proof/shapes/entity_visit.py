"""A long-lived entity with a memory of its own: one visit at a time, and the next one remembers.

The entity gives its lease, with its memory, to one visit. The visit gives both back in one record,
so that no death lies between them.
"""

from __future__ import annotations

from typing import Any

from resumeproof.domain.command import Call, Emit, Finish, State, Wait, program
from resumeproof.proof.shapes.shape import Ending, Shape, action, keys
from resumeproof.proof.shapes.world import World


def _open(_: State) -> Wait:
    return Wait("visit", then="lease")


def _lease(state: State) -> Emit:
    memory = state.results["back"]["payload"] if "back" in state.results else []
    return Emit(f"lease:{_visitor(state)}", memory, then="back")


def _back(state: State) -> Wait:
    return Wait(f"leave:{_visitor(state)}", then="open")


def _visitor(state: State) -> str:
    return str(state.results["open"]["payload"])


def _arrive(state: State) -> Emit:
    return Emit("visit", _own_name(state), then="enter")


def _enter(state: State) -> Wait:
    return Wait(f"lease:{_own_name(state)}", then="turn")


def _turn(state: State) -> Call:
    said = action(visit=_own_name(state), remembers=_remembered(state))
    return Call(said, f"{state.key}:turn", then="leave", needs_approval=False)


def _leave(state: State) -> Emit:
    memory = [*_remembered(state), _own_name(state)]
    return Emit(f"leave:{_own_name(state)}", memory, then="finish")


def _finish(state: State) -> Finish:
    return Finish({"remembered": _remembered(state), "effects": keys(state, "turn")})


def _own_name(state: State) -> str:
    return str(state.action.arguments["visit"])


def _remembered(state: State) -> list[Any]:
    return list(state.results["enter"]["payload"])


_ENTITY = program("entity", 1, "open", open=_open, lease=_lease, back=_back)
_VISIT = program(
    "visit", 1, "arrive", arrive=_arrive, enter=_enter, turn=_turn, leave=_leave, finish=_finish
)


def _lay_out(world: World) -> None:
    world.create("entity", "entity", action(entity=1))


def _live(world: World) -> None:
    for visit in ("monday", "friday"):
        world.create(visit, "visit", action(visit=visit))
        world.drive()


ENTITY_VISIT = Shape(
    name="entity_visit",
    about="an entity remembers each visit, and the next visit is told",
    programs=(_ENTITY, _VISIT),
    lay_out=_lay_out,
    live=_live,
    endings={
        "entity": Ending("waiting"),
        "monday": Ending("completed", {"remembered": [], "effects": ["monday:turn"]}),
        "friday": Ending("completed", {"remembered": ["monday"], "effects": ["friday:turn"]}),
    },
)
