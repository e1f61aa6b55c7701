"""Lives of an agent that does nothing, in the process that is to fork those of one that does.

A forked process copies each page that it writes to, and any code writes most when it is first run:
SQLite sets itself up, caches are filled, byte code is specialised (PEP 659). What was done here
no life does again.
"""

from __future__ import annotations

import pickle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from resumeproof.crash.channel import LifeChannel
from resumeproof.crash.framing import framed
from resumeproof.domain.contract import Lookup, ToolContract
from resumeproof.proof.agent import AgentSubject
from resumeproof.proof.context import Context
from resumeproof.proof.living import Order

_LIVES: Final = 10  # byte code is specialised after 8 calls


class _Idle:
    def __init__(self, context: Context) -> None:
        self._context = context
        self._seen = len(context.effects.keys())

    def step(self, item: int) -> None:
        self._context.effect("nothing", item, key=str(item))

    def state(self) -> int:
        return self._seen


def warm_up(base: Path) -> None:
    """Carry out such lives in this process; they leave nothing below `base`."""
    subject = AgentSubject(_Idle, (1,), ToolContract("nobody", lookup=Lookup.CONSISTENT))
    with TemporaryDirectory(dir=base) as scratch:
        subject.lay_out(Path(scratch))
        for number in range(1, _LIVES + 1):
            order = pickle.loads(pickle.dumps(Order(Path(scratch), "run", number)))
            framed(("end", subject.body(order)(LifeChannel(up=-1, down=-1))))
