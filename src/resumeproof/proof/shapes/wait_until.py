"""Two sleepers: each wakes when its time has come, although whoever put it to bed is dead."""

from __future__ import annotations

from datetime import UTC, datetime

from resumeproof.domain.command import Finish, Node, Program, Sleep, State, program
from resumeproof.domain.instant import format_instant
from resumeproof.proof.shapes.shape import Ending, Shape, action, keys, post
from resumeproof.proof.shapes.world import World

_TIMES = {
    "reminder": datetime(2026, 1, 2, tzinfo=UTC),
    "deadline": datetime(2026, 1, 3, tzinfo=UTC),
}


def _sleeping(until: datetime) -> Node:
    def sleep(_: State) -> Sleep:
        return Sleep(format_instant(until), then="act")

    return sleep


def _finish(state: State) -> Finish:
    return Finish({"effects": keys(state, "act")})


def _sleeper(name: str) -> Program:
    return program(
        name,
        1,
        "sleep",
        sleep=_sleeping(_TIMES[name]),
        act=post("act", "finish", due=name),
        finish=_finish,
    )


def _lay_out(world: World) -> None:
    for name in _TIMES:
        world.create(name, name, action(due=name))


def _live(world: World) -> None:
    world.drive()
    for instant in _TIMES.values():
        world.pass_until(instant)
        world.drive()


WAIT_UNTIL = Shape(
    name="wait_until",
    about="a sleeper wakes when its time has come, and acts once",
    programs=tuple(map(_sleeper, _TIMES)),
    lay_out=_lay_out,
    live=_live,
    endings={name: Ending("completed", {"effects": [f"{name}:act"]}) for name in _TIMES},
)
