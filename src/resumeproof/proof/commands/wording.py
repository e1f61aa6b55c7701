"""A durable system call in a few words, for whoever looks at what a program did."""

from __future__ import annotations

import re
from typing import Final

from resumeproof.crash.syscalls.operations import Call, Print, Rename, SyncAll, Write

OUTSIDE = "(elsewhere)"

_LOSS: Final = re.compile(r"\.(?P<kind>[dlzht])(?P<first>[0-9]+)(?:-(?P<last>[0-9]+))?")
"""Source: the plans of `resumeproof.crash.syscalls.power`."""


def in_words(call: Call) -> str:
    """Its name, what it was done to, and the source line where that is known."""
    line = f", {call.source}" if call.source else ""
    return f"{call.name} {_what(call)}{line}".replace(" ,", ",").rstrip()


def _what(call: Call) -> str:
    match call.operation:
        case Write(path=path, data=data):
            return f"{path}, {_bytes(data)}"
        case Rename(source=source, target=target, exchanges=exchanges):
            between = "and" if exchanges else "to"
            return f"{_path(source)} {between} {_path(target)}"
        case Print(data=data):
            return f"standard output, {_bytes(data)}"
        case SyncAll():
            return ""
        case operation:
            return _path(operation.path)


def _path(path: str | None) -> str:
    return OUTSIDE if path is None else path or "."


def _bytes(data: bytes) -> str:
    return f"{len(data)} byte{'' if len(data) == 1 else 's'}"


def lost_in_words(plan: str) -> str | None:
    """What a disk lost at the power cut of a plan; None where its deaths are kills."""
    for point in plan.split(";"):
        if point.startswith("power."):
            return "the power cut: " + ", ".join(map(_lost, _LOSS.finditer(point)))
    return None


def _lost(loss: re.Match[str]) -> str:
    first, last = loss["first"], loss["last"]
    match loss["kind"]:
        case "d":
            return f"failure domain {first} alone"
        case "l":
            return f"calls {first} to {last} lost" if last else f"call {first} lost"
        case "z":
            return f"call {first} left zeros"
        case "h":
            return f"of call {first} only what lies before byte {last} kept"
        case _:
            return f"of call {first} only what lies from byte {last} on kept"
