from __future__ import annotations

import dataclasses
import sys

import pytest

from resumeproof.crash.kill import Kill
from resumeproof.crash.plan import CrashPoint
from resumeproof.crash.process import ChildExit, Life, verify_kill
from resumeproof.crash.witness import Witness

POINT = CrashPoint("tool:after", 2)
WITNESS = Witness("tool:after", 2, pid=4711)
LIFE = Life(
    argv=("child",),
    pid=4711,
    exit=ChildExit.of(86),
    witnesses=(WITNESS,),
    stdout="",
    stderr="",
    left_out_bytes=0,
    timed_out=False,
    orphans=(),
    cleared=True,
    seconds=0.1,
)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="wait statuses of POSIX")


@pytest.mark.parametrize(
    ("returncode", "kind", "code", "text"),
    [
        (0, "exit", 0, "exit 0"),
        (86, "exit", 86, "exit 86"),
        (128, "exit", 128, "exit 128"),
        (130, "exit", 130, "exit 130 (a shell's word for signal 2, SIGINT)"),
        (137, "exit", 137, "exit 137 (a shell's word for signal 9, SIGKILL)"),
        (247, "exit", 247, "exit 247 (-9 in one byte: a parent's word for signal 9, SIGKILL)"),
        (255, "exit", 255, "exit 255"),
        (-9, "signal", 9, "signal 9 (SIGKILL)"),
        (-40, "signal", 40, "signal 40"),
    ],
    ids=str,
)
def test_exit_is_described(returncode: int, kind: str, code: int, text: str) -> None:
    described = ChildExit.of(returncode)
    assert described.to_json() == {"kind": kind, "code": code, "text": text}


@pytest.mark.parametrize(
    ("changes", "kill", "reason"),
    [
        ({}, Kill.EXIT86, None),
        ({"exit": ChildExit.of(-9)}, Kill.SIGKILL, None),
        ({"orphans": (4712,)}, Kill.EXIT86, None),
        ({}, Kill.SIGKILL, "planned signal 9 (SIGKILL) at tool:after#2, but it was exit 86"),
        (
            {"exit": ChildExit.of(137)},
            Kill.SIGKILL,
            (
                "planned signal 9 (SIGKILL) at tool:after#2, "
                "but it was exit 137 (a shell's word for signal 9, SIGKILL)"
            ),
        ),
        (
            {"exit": ChildExit.of(-9), "timed_out": True},
            Kill.SIGKILL,
            "planned signal 9 (SIGKILL) at tool:after#2, but it hung and was killed for that",
        ),
        (
            {"witnesses": ()},
            Kill.EXIT86,
            "planned exit 86 at tool:after#2, but no witness was written; exit 86",
        ),
        (
            {"witnesses": (Witness("tool:before", 2, 4711), WITNESS)},
            Kill.EXIT86,
            (
                "planned one death at tool:after#2, but there are witnesses of "
                "tool:before#2, tool:after#2"
            ),
        ),
        (
            {"witnesses": (Witness("ack:after", 2, 4711),)},
            Kill.EXIT86,
            "planned tool:after#2, but the witness is of ack:after#2",
        ),
        (
            {"witnesses": (Witness("tool:after", 1, 4711),)},
            Kill.EXIT86,
            "planned tool:after#2, but the witness is of tool:after#1",
        ),
        (
            {"witnesses": (Witness("tool:after", 2, 4712),)},
            Kill.EXIT86,
            "process 4711 died, but the witness is of process 4712",
        ),
    ],
    ids=[
        "exit86", "sigkill", "orphans-are-a-finding", "other-kill", "a-shell-said-so", "hung",
        "no-witness", "two-witnesses", "other-boundary", "other-occurrence", "other-process",
    ],
)  # fmt: skip
def test_kill_is_verified(changes: dict[str, object], kill: Kill, reason: str | None) -> None:
    life = dataclasses.replace(LIFE, **changes)  # type: ignore[arg-type]
    assert verify_kill(life, POINT, kill) == reason
